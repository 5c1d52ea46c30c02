// Gradient of an embedding: each thread adds its element to the row that its token chose.
// Defect: two tokens of one row lose one of their additions.
// expect: race global @A @A
__global__ void embedding_gradient(const unsigned* token, const float* g, float* rows, int tokens) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  rows[token[i] % 16] += g[i]; // @A
}
