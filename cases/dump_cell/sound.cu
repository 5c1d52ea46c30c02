// Reverses each block's segment; the block's last three threads have no element and store nothing.
// expect: pass proved
__global__ void reverse_segments(const float* x, float* y) {
  __shared__ float tile[1024];
  int tid = threadIdx.x, used = blockDim.x - 3;
  int i = blockIdx.x * blockDim.x + tid;
  if (tid < used) tile[tid] = x[i];
  __syncthreads();
  y[i] = tid < used ? tile[used - 1 - tid] : 0.0f;
}
