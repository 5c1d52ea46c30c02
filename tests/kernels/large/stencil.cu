// Heat flow in three dimensions: the seven-point stencil over tiles with a halo. A block walks through the planes of its
// column; the plane it works on lies in shared memory with a halo of one cell, the planes above and below in
// registers. Two arrays change roles from step to step; a last launch measures how much the field still changes.
// expect: pass proved
constexpr int kX = 16, kY = 8, kThreads = kX * kY;

struct Field {
  int nx, ny, nz;
  __device__ size_t at(int x, int y, int z) const { return ((size_t)z * ny + y) * nx + x; }
  __device__ bool inside(int x, int y) const { return x >= 0 && x < nx && y >= 0 && y < ny; }
};

// Fills the plane and its halo. Cells beyond the border repeat the border: nothing flows out.
__device__ void load_plane(float (*plane)[kX + 2], const float* u, Field f, int z, int x0, int y0, float own) {
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  plane[threadIdx.y + 1][threadIdx.x + 1] = own;
  auto value = [&](int xx, int yy) {
    xx = min(max(xx, 0), f.nx - 1);
    yy = min(max(yy, 0), f.ny - 1);
    return u[f.at(xx, yy, z)];
  };
  if (threadIdx.x == 0) plane[threadIdx.y + 1][0] = value(x - 1, y);
  if (threadIdx.x == kX - 1) plane[threadIdx.y + 1][kX + 1] = value(x + 1, y);
  if (threadIdx.y == 0) plane[0][threadIdx.x + 1] = value(x, y - 1);
  if (threadIdx.y == kY - 1) plane[kY + 1][threadIdx.x + 1] = value(x, y + 1);
  // A tile at the border is narrower than the block: its last cell's neighbour is the cell itself.
  if (x == f.nx - 1 && threadIdx.x < kX - 1) plane[threadIdx.y + 1][threadIdx.x + 2] = own;
  if (y == f.ny - 1 && threadIdx.y < kY - 1) plane[threadIdx.y + 2][threadIdx.x + 1] = own;
}

__global__ void step(const float* u, float* next, int nx, int ny, int nz, float rate) {
  __shared__ float plane[kY + 2][kX + 2];
  const Field f{nx, ny, nz};
  const int x0 = blockIdx.x * kX, y0 = blockIdx.y * kY;
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  const bool live = f.inside(x, y);
  float below = 0.0f, own = 0.0f, above = 0.0f;
  if (live) {
    own = u[f.at(x, y, 0)];
    below = own;
  }
  for (int z = 0; z < nz; ++z) {
    if (live) {
      above = z + 1 < nz ? u[f.at(x, y, z + 1)] : own;
      load_plane(plane, u, f, z, x0, y0, own);
    }
    __syncthreads();
    if (live) {
      const int i = threadIdx.x + 1, j = threadIdx.y + 1;
      const float sides = plane[j][i - 1] + plane[j][i + 1] + plane[j - 1][i] + plane[j + 1][i];
      next[f.at(x, y, z)] = own + rate * (sides + below + above - 6.0f * own);
      below = own;
      own = above;
    }
    __syncthreads();
  }
}

// The largest change between two fields, for each block of planes; bits of non-negative floats are ordered like integers.
__global__ void largest_change(const float* a, const float* b, int* change, int cells) {
  __shared__ float warps[kThreads / 32];
  const int t = threadIdx.y * kX + threadIdx.x;
  float most = 0.0f;
  for (int i = blockIdx.x * kThreads + t; i < cells; i += gridDim.x * kThreads) most = fmaxf(most, fabsf(a[i] - b[i]));
  for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  if (t % 32 == 0) warps[t / 32] = most;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < kThreads / 32; ++w) most = fmaxf(most, warps[w]);
    atomicMax(change, __float_as_int(most));
  }
}

// A checksum that does not depend on the order: the bits of all cells, added up as integers.
__global__ void checksum(const unsigned* bits, unsigned long long* sum, int cells) {
  unsigned long long own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) own += bits[i];
  for (int step = 16; step; step /= 2) own += __shfl_xor_sync(0xffffffff, own, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}
