// Inclusive scan of each CTA's 1,024 elements: Hillis and Steele in shared memory, two buffers.
extern "C" __global__ void scan(const int* in, int* out) {
  __shared__ int cells[2][1024];
  int t = threadIdx.x, from = 0;
  cells[0][t] = in[blockIdx.x * 1024 + t];
  __syncthreads();
  for (int d = 1; d < 1024; d *= 2) {
    cells[1 - from][t] = cells[from][t] + (t >= d ? cells[from][t - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 1024 + t] = cells[from][t];
}
