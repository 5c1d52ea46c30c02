// Conjugate gradient in one cooperative launch.
// launch: --entry gradient --cooperative --grid 3 --block 64 --arg rand:f64[192]:uniform --arg zeros:f64[192] --arg out:1536 --arg out:1536 --arg out:1536 --arg out:48
// expect: pass
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__device__ double dot(const double* a, const double* b, double* parts, cg::grid_group grid, cg::thread_block block, double* s) {
  auto tile = cg::tiled_partition<32>(block);
  double v = a[grid.thread_rank()] * b[grid.thread_rank()];
  v = cg::reduce(tile, v, cg::plus<double>());
  if (tile.thread_rank() == 0) s[tile.meta_group_rank()] = v;
  block.sync();
  if (block.thread_rank() == 0) parts[blockIdx.x] = s[0] + s[1];
  grid.sync();
  double sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
  return sum;
}
extern "C" __global__ void gradient(const double* b, double* x, double* r, double* p, double* q, double* parts) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  __shared__ double s[2];
  int i = grid.thread_rank(), n = grid.size();
  r[i] = p[i] = b[i];
  double rr = dot(r, r, parts, grid, block, s);
  for (int k = 0; k < 2; ++k) {
#ifndef NO_SYNC_P
    grid.sync();
#endif
    q[i] = 3 * p[i] - (i > 0 ? p[i - 1] : 0) - (i < n - 1 ? p[i + 1] : 0);
    double alpha = rr / dot(p, q, parts + 3 * (k & 1) , grid, block, s);
    grid.sync();
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    double next = dot(r, r, parts + 3 * ((k + 1) & 1), grid, block, s);
    p[i] = r[i] + next / rr * p[i];
    rr = next;
  }
}
