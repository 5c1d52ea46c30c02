// Attention of one query a block: scores go through a scratch row in global memory, one a block.
// expect: pass proved
__global__ void attend(const float* q, const float* k, const float* v, float* scratch, float* out,
                       int keys, int dim) {
  float* scores = scratch + blockIdx.x * keys;
  const float* query = q + blockIdx.x * dim;
  for (int j = threadIdx.x; j < keys; j += blockDim.x) {
    float dot = 0.0f;
    for (int d = 0; d < dim; ++d) dot += query[d] * k[j * dim + d];
    scores[j] = expf(dot);
  }
  __syncthreads();
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float sum = 0.0f, acc = 0.0f;
    for (int j = 0; j < keys; ++j) {
      float p = scores[j];
      sum += p;
      acc += p * v[j * dim + d];
    }
    out[blockIdx.x * dim + d] = acc / sum;
  }
}
