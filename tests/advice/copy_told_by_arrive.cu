// A copy is announced by the ordinary arrival at an mbarrier, which does not wait for it. It is
// executed once: nothing "fills the place again".
// launch: --arch sm_90 --grid 1 --block 64 --arg rand:u32[32] --arg out:128
// help: wait_all|cp.async.mbarrier.arrive.noinc
// help: before the arrival at
// not: again
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void hand_over(const unsigned* in, unsigned* out) {
  __shared__ unsigned long long full;
  __shared__ alignas(16) unsigned tile[32];
  unsigned lane = threadIdx.x & 31;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&full)) : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&tile[lane])), "l"(in + lane) : "memory"); // @A
#ifdef SOUND
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(&full)) : "memory");
#else
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&full)) : "memory");
#endif
    asm volatile("cp.async.wait_all;" ::: "memory");
    return;
  }
  unsigned ok;
  do {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(ok)
        : "r"(at(&full))
        : "memory");
  } while (!ok);
  out[lane] = tile[31 - lane]; // @B
}
