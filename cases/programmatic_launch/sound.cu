// Programmatic dependent launch: the second kernel may start, and prepare what it needs, while the
// first one is still under way.
// The second waits for the first launch to end before it reads what that one writes.
// expect: pass proved
__global__ void scale(const float* x, float* scaled) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); // cudaTriggerProgrammaticLaunchCompletion
  scaled[i] = 3.0f * x[i];
}

__global__ void shift(const float* scaled, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory"); // cudaGridDependencySynchronize
  y[i] = i + 1 < n ? scaled[i + 1] : 0.0f;
}
