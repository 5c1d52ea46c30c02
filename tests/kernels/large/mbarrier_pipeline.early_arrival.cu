// mbarrier_pipeline.cu without copies that arrive: the producer's lanes arrive themselves, before their copies are there.
// expect: race shared
#define ARRIVE_BEFORE_COPIES
#include "mbarrier_pipeline.cu"
