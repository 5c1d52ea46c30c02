// bitonic_sort.cu with a fault: no barrier between the last merges.
// launch: --entry bitonic --grid 2 --block 64 --arg rand:u32[256] --arg rand:u32[256] -DNO_SYNC
// expect: race shared
#include "bitonic_sort.cu"
