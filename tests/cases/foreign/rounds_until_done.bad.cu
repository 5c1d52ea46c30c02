// rounds_until_done.cu with a fault: the next round's item is written while others still look at this one.
// launch: --entry rounds --grid 2 --block 64 --arg inlist:s32[8] --arg zeros:u32[1] --arg zeros:u32[1] -DNO_BARRIER
// expect: race shared
#include "rounds_until_done.cu"
