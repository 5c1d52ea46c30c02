// Block 0 prepares a table and raises a flag; block 1 waits for it.
// Defect: __ldcg goes past the first cache, but is a weak load all the same, and races with the store.
// (What keeps the table whole is that __threadfence() is fence.sc, and only that.)
// expect: race global @F @P
__device__ int ready = 0;

__global__ void use_table(const float* x, float* table, float* y) {
  if (blockIdx.x == 0) {
    table[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      *(volatile int*)&ready = 1; // @F
    }
  } else if (blockIdx.x == 1) {
    if (threadIdx.x == 0) {
      while (__ldcg(&ready) == 0) { // @P
      }
      __threadfence();
    }
    __syncthreads();
    y[threadIdx.x] = table[threadIdx.x];
  }
}
