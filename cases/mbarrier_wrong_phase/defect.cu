// Column sums by a warp-specialised block: half of the threads fill two slots of shared memory in turn,
// the other half adds them up; an mbarrier says which slot is full, another one which is empty.
// Defect: the consumers wait for the other parity, which a fresh mbarrier counts as past: they read a slot
// before it is full.
// expect: race shared @A @B
// expect: deadlock
namespace {

__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(unsigned long long* b, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address(b)), "r"(count));
}
__device__ void arrive(unsigned long long* b) {
  asm volatile("{\n.reg .b64 s;\nmbarrier.arrive.shared.b64 s, [%0];\n}" ::"r"(address(b)) : "memory");
}
__device__ void wait(unsigned long long* b, unsigned parity) {
  asm volatile("{\n.reg .pred p;\nWAIT:\nmbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra WAIT;\n}" ::"r"(
                   address(b)),
               "r"(parity)
               : "memory");
}

} // namespace

__global__ void column_sums(const float* x, float* y, int steps) {
  __shared__ float slot[2][512];
  __shared__ unsigned long long full[2], empty[2];
  int half = blockDim.x / 2;
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) {
      init(&full[s], half);
      init(&empty[s], half);
    }
  __syncthreads();
  x += (size_t)blockIdx.x * steps * half;
  if (threadIdx.x < half) {
    for (int k = 0; k < steps; ++k) {
      int s = k % 2, round = k / 2;
      wait(&empty[s], (round + 1) % 2);
      slot[s][threadIdx.x] = x[k * half + threadIdx.x]; // @A
      arrive(&full[s]);
    }
    return;
  }
  int c = threadIdx.x - half;
  float sum = 0;
  for (int k = 0; k < steps; ++k) {
    int s = k % 2, round = k / 2;
    wait(&full[s], (round + 1) % 2);
    sum += slot[s][(c + 33) % half]; // @B
    arrive(&empty[s]);
  }
  y[blockIdx.x * half + c] = sum;
}
