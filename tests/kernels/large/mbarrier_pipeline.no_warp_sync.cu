// mbarrier_pipeline.cu without the warp's own barrier before one of its lanes arrives for all.
// expect: race shared
#define NO_WARP_SYNC
#include "mbarrier_pipeline.cu"
