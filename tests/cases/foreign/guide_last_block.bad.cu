// The same, but the counter is set back by the first block, which has observed nobody's atomic.
// launch: --entry sum --grid 3 --block 32 --arg rand:f32[96] --arg zeros:f32[3] --arg out:4
// expect: race global @A @B
// expect: race global @B @B
// expect: race global @C @C
__device__ unsigned int count = 0;
__device__ float blockSum(const float* array) {
  float v = array[blockIdx.x * 32 + threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
  return v;
}
extern "C" __global__ void sum(const float* array, volatile float* result, float* out) {
  __shared__ bool isFirstBlockDone;
  float partialSum = blockSum(array);
  if (threadIdx.x == 0) {
    result[blockIdx.x] = partialSum;
    __threadfence();
    unsigned int value = atomicInc(&count, gridDim.x); // @A
    isFirstBlockDone = value == 0;
  }
  __syncthreads();
  if (isFirstBlockDone && threadIdx.x == 0) {
    *out = partialSum; // @C
    count = 0; // @B
  }
}
