// Reverses bytes within a block of 4 x 4 x 5 threads through shared memory.
// launch: --entry flip<uchar1> --grid 2,2 --block 4,4,5 --arg rand:u8[320] --arg out:320
// expect: race shared @A @B
template <class T> __device__ T* tile() {
  __shared__ T cells[80];
  return cells;
}
template <class T> __global__ void flip(const T* x, T* y) {
  int thread = (threadIdx.z * 4 + threadIdx.y) * 4 + threadIdx.x,
      block = blockIdx.y * gridDim.x + blockIdx.x;
  T* cells = tile<T>();
  cells[thread] = x[block * 80 + thread];      // @A
  y[block * 80 + thread] = cells[79 - thread]; // @B
}
