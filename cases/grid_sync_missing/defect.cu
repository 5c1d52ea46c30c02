// Two phases of a cooperative launch.
// Defect: __syncthreads() between the phases waits for the own block only.
// expect: race global @A @B
#include <cooperative_groups.h>

__global__ void two_phases(const float* x, float* half, float* y) {
  auto grid = cooperative_groups::this_grid();
  unsigned i = grid.thread_rank(), n = grid.size();
  half[i] = 0.5f * x[i]; // @A
  __syncthreads();
  y[i] = half[i] + half[(i + blockDim.x) % n]; // @B
}
