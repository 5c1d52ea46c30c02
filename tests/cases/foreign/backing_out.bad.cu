// backing_out.cu with a fault: the writer gives the lock back without releasing what it wrote.
// launch: --entry visit --grid 4 --block 32 --arg zeros:u32[1] --arg zeros:u32[2] --arg zeros:u32[1] -DRELAXED_RELEASE
// expect: race global
#include "backing_out.cu"
