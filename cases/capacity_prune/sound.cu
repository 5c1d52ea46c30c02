// Each block sends its tokens to one of four experts, which take half of what there is on average.
// A token is kept if fewer tokens before it want the same expert than the expert takes.
// expect: pass proved
__global__ void route(const unsigned* wish, int* expert) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  int e = wish[i] % 4, capacity = blockDim.x / 8;
  __shared__ unsigned char wishes[1024];
  wishes[t] = e;
  __syncthreads();
  int before = 0;
  for (int j = 0; j < t; ++j) before += wishes[j] == e;
  bool kept = before < capacity;
  expert[i] = kept ? e : -1;
}
