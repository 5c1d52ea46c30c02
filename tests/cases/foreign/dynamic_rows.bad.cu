// dynamic_rows.cu with a fault: no barrier before the next row is fetched.
// launch: --entry rows --grid 2 --block 64 --arg zeros:u32[1] --arg out:2048 --arg rand:u32[512] -DNO_SECOND
// expect: race shared
// expect: unwritten-output
#include "dynamic_rows.cu"
