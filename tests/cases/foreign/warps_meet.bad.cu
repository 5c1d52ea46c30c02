// warps_meet.cu with a fault: no fence before the counter.
// launch: --entry k --grid 2 --block 96 --arg rand:u32[192] --arg out:768 -DNO_FENCE
// expect: race shared
#include "warps_meet.cu"
