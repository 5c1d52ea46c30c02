// mbarrier_pipeline.cu without the wait for a full stage.
// expect: race shared
// expect: deadlock
#define NO_FULL_WAIT
#include "mbarrier_pipeline.cu"
