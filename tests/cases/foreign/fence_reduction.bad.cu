// fence_reduction.cu with a fault: plain partial sums, and no fence behind the counter.
// launch: --entry tfr --grid 4 --block 64 --arg rand:s32[1024] --arg out:16 --arg u32:1024 --arg out:4 -DPLAIN
// expect: race global
#include "fence_reduction.cu"
