// The sum of a round is read by all and used by one, in the warp of the thread that stores the next
// round's: a lane in the middle, which no split in halves sets apart.
// launch: --entry rounds --grid 1 --block 128 --arg out:8
// expect: nondeterministic shared @A @B
extern "C" __global__ void rounds(float* out) {
  __shared__ volatile float cell[128];
  cell[threadIdx.x] = threadIdx.x + 1.0f;
  __syncthreads();
  float first = cell[0]; // @A
  cell[threadIdx.x] = 50.0f + threadIdx.x; // @B
  __syncthreads();
  if (threadIdx.x == 3) out[0] = first;
  if (threadIdx.x == 4) out[1] = cell[0];
}
