// seqlock.cu with a fault: the reader has no fences.
// launch: --entry seqlock --grid 2 --block 32 --arg zeros:u32[1] --arg list:u32[1,1] --arg zeros:u32[1] -DNO_READER_FENCE
// expect: nondeterministic global
#include "seqlock.cu"
