// One level of a breadth-first search: each node of the frontier claims its three successors.
// The parent with the lowest number is kept.
// expect: pass
__global__ void expand(const unsigned* next, unsigned* parent, unsigned nodes) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    unsigned to = next[3 * i + k] % nodes;
    atomicMin(&parent[to], i);
  }
}
