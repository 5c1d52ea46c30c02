// Stream compaction: each thread with a positive element takes the next slot of the output.
// Defect: who gets which slot is whoever comes first.
// expect: nondeterministic global @A @A
__device__ unsigned kept_count = 0;

__global__ void keep_positive(const float* x, float* kept) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (v > 0.0f) {
    unsigned slot = atomicAdd(&kept_count, 1u); // @A
    kept[slot] = v;
  }
}
