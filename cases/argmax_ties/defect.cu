// Place of each block's largest element, where elements are one of four values and so tie often.
// Defect: every thread whose element is the largest stores its own index.
// expect: race global @A @A
__global__ void argmax(const unsigned* x, unsigned* best) {
  __shared__ unsigned largest, where;
  if (threadIdx.x == 0) largest = 0, where = 0xffffffffu;
  __syncthreads();
  unsigned v = x[blockIdx.x * blockDim.x + threadIdx.x] % 4;
  atomicMax(&largest, v);
  __syncthreads();
  if (v == largest) best[blockIdx.x] = threadIdx.x; // @A
}
