// Sparse matrix (CSR) times vector, one row a thread: gathers and uneven loops.
extern "C" __global__ void spmv(int rows, const int* start, const int* column, const float* value,
                                const float* x, float* y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = start[r]; k < start[r + 1]; ++k) sum += value[k] * x[column[k]];
  y[r] = sum;
}
