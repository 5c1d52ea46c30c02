// Slices of a product take turns at a tile, as with CUTLASS's semaphore: the whole block polls, and meets at a barrier in each turn.
// launch: --entry accumulate --grid 1,1,3 --block 64 --arg zeros:s32[1] --arg list:u32[0*64] --arg rand:u32[3,64]
// expect: pass
struct Semaphore {
  int* lock;
  bool waits;
  int state = -1;
  __device__ Semaphore(int* lock, int thread) : lock(lock), waits(thread == 0) {}
  __device__ void fetch() {
    if (waits) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(lock) : "memory");
  }
  __device__ void wait(int status) {
    while (__syncthreads_and(state != status)) fetch();
    __syncthreads();
  }
  __device__ void release(int status) {
#ifndef NO_BARRIER
    __syncthreads();
#endif
    if (waits) asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(lock), "r"(status) : "memory");
  }
};

extern "C" __global__ void accumulate(int* lock, unsigned* tile, const unsigned* part) {
  Semaphore semaphore(lock, threadIdx.x);
  const unsigned own = part[blockIdx.z * blockDim.x + threadIdx.x];
  semaphore.fetch();
  semaphore.wait(blockIdx.z);
  tile[threadIdx.x] = tile[threadIdx.x] * 3 + own;
  semaphore.release(blockIdx.z + 1 < gridDim.z ? blockIdx.z + 1 : 0);
}
