// Block 0 prepares a table and raises a flag; block 1 waits for it.
// expect: pass
__device__ int ready = 0;

__global__ void use_table(const float* x, float* table, float* y) {
  if (blockIdx.x == 0) {
    table[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      *(volatile int*)&ready = 1;
    }
  } else if (blockIdx.x == 1) {
    if (threadIdx.x == 0) {
      while (*(volatile int*)&ready == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    y[threadIdx.x] = table[threadIdx.x];
  }
}
