// Gradient of an embedding: each thread adds its element to the row that its token chose.
// Sixteen rows, a row a thread of the first block, in the order of the tokens.
// expect: pass proved
__global__ void embedding_gradient(const unsigned* token, const float* g, float* rows, int tokens) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 16) return;
  for (int t = 0; t < tokens; ++t)
    if (token[t] % 16 == i) rows[i] += g[t];
}
