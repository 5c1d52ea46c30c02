// wmma_tile.cu with a fault: no barrier behind the stores of the fragments.
// launch: --entry k --arch sm_80 --grid 1 --block 64 --arg rand:f16[512] --arg rand:f16[512] --arg out:1024 -DNO_SYNC
// expect: race shared
#include "wmma_tile.cu"
