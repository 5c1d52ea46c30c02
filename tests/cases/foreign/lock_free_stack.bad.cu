// lock_free_stack.cu with a fault: the last block has no fence behind the counter.
// launch: --entry stack --grid 3 --block 32 --arg out:384 --arg list:u32[4294967295] --arg zeros:u32[1] --arg out:384 -DNO_ACQUIRE
// expect: race global
#include "lock_free_stack.cu"
