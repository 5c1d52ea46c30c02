// Programmatic dependent launch: the second kernel may start, and prepare what it needs, while the
// first one is still under way.
// Defect: the second reads what the first one writes before it has waited for that launch to end. That
// the first lets its dependents go after its store orders nothing.
// expect: race global @A @B
__global__ void scale(const float* x, float* scaled) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scaled[i] = 3.0f * x[i]; // @A
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); // cudaTriggerProgrammaticLaunchCompletion
}

__global__ void shift(const float* scaled, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float right = i + 1 < n ? scaled[i + 1] : 0.0f; // @B
  asm volatile("griddepcontrol.wait;" ::: "memory"); // cudaGridDependencySynchronize
  y[i] = right;
}
