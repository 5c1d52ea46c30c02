// bounded_queue.cu with a fault: a cell is given back by a relaxed store.
// launch: --entry queue --grid 2 --block 32 --arg list:u32[0,1,2,3] --arg out:16 --arg zeros:u32[2] --arg zeros:u32[1] -DNO_SLOT_RELEASE
// expect: race global
#include "bounded_queue.cu"
