// A tile is transposed through shared memory without a barrier.
// launch: --arch sm_80 --grid 1 --block 16,16 --arg rand:f32[256] --arg out:1024
// help: __syncthreads() between line
__global__ void transpose(const float* x, float* y) {
  __shared__ float tile[16][17];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 16 + threadIdx.x]; // @A
#ifdef SOUND
  __syncthreads();
#endif
  y[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; // @B
}
