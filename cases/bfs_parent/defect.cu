// One level of a breadth-first search: each node of the frontier claims its three successors.
// Defect: which parent a node gets is whoever stores last.
// expect: race global @A @A
__global__ void expand(const unsigned* next, unsigned* parent, unsigned nodes) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    unsigned to = next[3 * i + k] % nodes;
    parent[to] = i; // @A
  }
}
