// Two phases of a cooperative launch.
// expect: pass
#include <cooperative_groups.h>

__global__ void two_phases(const float* x, float* half, float* y) {
  auto grid = cooperative_groups::this_grid();
  unsigned i = grid.thread_rank(), n = grid.size();
  half[i] = 0.5f * x[i];
  grid.sync();
  y[i] = half[i] + half[(i + blockDim.x) % n];
}
