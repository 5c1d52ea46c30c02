// splitk_semaphore.cu with a fault: one thread hands the tile on before the others have stored.
// launch: --entry accumulate --grid 1,1,3 --block 64 --arg zeros:s32[1] --arg list:u32[0*64] --arg rand:u32[3,64] -DNO_BARRIER
// expect: race global
#include "splitk_semaphore.cu"
