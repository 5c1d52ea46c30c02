// mbarrier_pipeline.cu without the wait for an empty stage.
// expect: race shared
// expect: deadlock
#define NO_EMPTY_WAIT
#include "mbarrier_pipeline.cu"
