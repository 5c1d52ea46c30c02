// votes_on_flag.cu with a fault: the flag never has the value that is waited for.
// launch: --entry vote --grid 2 --block 64 --arg zeros:u32[1] --arg list:u32[1*64] --arg out:256 -DNEVER_RAISED
// expect: hang
#include "votes_on_flag.cu"
