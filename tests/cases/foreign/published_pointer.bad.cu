// published_pointer.cu with a fault: no fence behind the load of the pointer: a dependency orders nothing.
// launch: --entry publish --grid 2 --block 32 --arg zeros:u32[4] --arg zeros:u64[1] --arg out:4 -DDEPENDENT
// expect: race global
#include "published_pointer.cu"
