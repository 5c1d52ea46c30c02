// handed_on.cu with a fault: no fence behind the flag.
// launch: --entry k --grid 6 --block 32 --arg zeros:u32[8] --arg zeros:u32[8] --arg zeros:u32[8] --arg zeros:u32[2] -DNOF2
// expect: race global
#include "handed_on.cu"
