// Transposes tiles of 32 columns through shared memory.
// expect: pass proved
__global__ void transpose(const float* x, float* y) {
  __shared__ float tile[32][33];
  int rows = blockDim.x / 32;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x / 32][threadIdx.x % 32] = x[i];
  __syncthreads();
  y[i] = tile[threadIdx.x % rows][threadIdx.x / rows];
}
