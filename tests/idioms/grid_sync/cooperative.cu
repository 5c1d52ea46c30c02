// Three steps of a ring's averages with a cooperative launch's barrier over the grid between them.
// launch: --arch sm_80 --grid 4 --block 64 --cooperative --arg rand:f32[256] --arg out:1024
// expect: pass
// twin sync: race global @A @B
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void diffuse(float* a, float* b) {
  cg::grid_group grid = cg::this_grid();
  unsigned n = grid.size(), i = grid.thread_rank();
  for (int step = 1; step <= 3; ++step) {
    float v = 0.5f * (a[(i + 1) % n] + a[(i + n - 1) % n]); // @A
    b[i] = v; // @B
    grid.sync(); // ~sync
    float* t = a;
    a = b, b = t;
  }
}
