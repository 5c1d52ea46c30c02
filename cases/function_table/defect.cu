// Applies one of three functions to each element, through a table of pointers.
// Defect: the table has a third place but no third function.
// expect: illegal-operation @A
typedef float (*Function)(float);

__device__ float twice(float v) { return 2.0f * v; }
__device__ float negated(float v) { return -v; }

__device__ Function table[3] = {twice, negated};

__global__ void apply(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = table[i % 3](x[i]); // @A
}
