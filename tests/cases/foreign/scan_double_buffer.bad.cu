// scan_double_buffer.cu with a fault: one buffer only.
// launch: --entry scan --grid 2 --block 64 --arg rand:s32[256] --arg out:1024 -DONE_BUFFER
// expect: race shared
#include "scan_double_buffer.cu"
