// Two phases with a barrier over the grid between them: every block counts itself and waits until
// all are counted.
// Defect: block 0 sets the counter back at its start, and may wipe out those who were faster.
// expect: race global @R @C
// expect: race global @R @P
// expect: hang global @P @Q
__device__ unsigned arrived = 0;

__global__ void two_phases(const float* x, float* half, float* y) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) arrived = 0; // @R
  half[i] = 0.5f * x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1u); // @C
    while (*(volatile unsigned*)&arrived < gridDim.x) { // @P
    }
    __threadfence();
  }
  __syncthreads(); // @Q
  y[i] = half[i] + half[(i + blockDim.x) % n];
}
