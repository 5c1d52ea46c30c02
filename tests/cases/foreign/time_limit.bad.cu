// time_limit.cu with a fault: it goes on with what it has when the time has passed.
// launch: --entry wait --grid 2 --block 32 --arg zeros:u32[1] --arg out:4 -DGO_ON
// expect: nondeterministic
#include "time_limit.cu"
