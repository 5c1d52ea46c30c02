// Reverses each block's segment; the block's last three threads have no element.
// Defect: they store to a cell that nobody reads, to save a branch. No byte of the result depends
// on who stored last, but it is a race.
// expect: race-without-consequence shared @A @A
__global__ void reverse_segments(const float* x, float* y) {
  __shared__ float tile[1025];
  int tid = threadIdx.x, used = blockDim.x - 3;
  int i = blockIdx.x * blockDim.x + tid;
  tile[tid < used ? tid : blockDim.x] = x[i]; // @A
  __syncthreads();
  y[i] = tid < used ? tile[used - 1 - tid] : 0.0f;
}
