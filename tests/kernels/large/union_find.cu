// Connected components of an image by union-find: cells of equal colour that touch belong together. Tiles are first
// labelled by themselves in shared memory; then tiles are joined along their borders by lock-free unions in global
// memory; then every cell takes the name of its root, and each component's size is counted. Roots are the smallest
// cell of a component, so that names do not depend on the order of the unions.
// expect: pass
constexpr int kX = 32, kY = 4, kThreads = kX * kY;

// The root of a cell. Others may shorten paths or join roots meanwhile: parents only ever become smaller.
__device__ int find_root(volatile int* parent, int cell) {
  int up = parent[cell];
  while (up != cell) {
    cell = up;
    up = parent[cell];
  }
  return cell;
}

// Joins two components: the larger root is hung below the smaller one, unless somebody else was quicker.
__device__ void unite(int* parent, int a, int b) {
  while (true) {
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a == b) return;
    const int low = min(a, b), high = max(a, b);
    const int old = atomicMin(&parent[high], low);
    if (old == high) return; // it was a root, and is none any more
    a = old, b = low;        // its former parent has lost its way to it
  }
}

struct Image {
  const unsigned char* colour;
  int width, height;
  __device__ bool same(int x, int y, int xx, int yy) const {
    return xx >= 0 && yy >= 0 && colour[y * width + x] == colour[yy * width + xx];
  }
};

// Components within each tile, in shared memory.
__global__ void label_tiles(const unsigned char* colour, int* parent, int width, int height) {
  __shared__ int local[kThreads];
  const Image image{colour, width, height};
  const int t = threadIdx.y * kX + threadIdx.x;
  const int x = blockIdx.x * kX + threadIdx.x, y = blockIdx.y * kY + threadIdx.y;
  const bool live = x < width && y < height;
  local[t] = t;
  __syncthreads();
  if (live) {
    if (threadIdx.x > 0 && image.same(x, y, x - 1, y)) unite(local, t, t - 1);
    if (threadIdx.y > 0 && image.same(x, y, x, y - 1)) unite(local, t, t - kX);
  }
  __syncthreads();
  if (live) {
    const int root = find_root(local, t);
    parent[y * width + x] = (blockIdx.y * kY + root / kX) * width + blockIdx.x * kX + root % kX;
  }
}

// One thread for each cell at the left or upper border of a tile.
__global__ void join_tiles(const unsigned char* colour, int* parent, int width, int height) {
  const Image image{colour, width, height};
  const int x = blockIdx.x * kX + threadIdx.x, y = blockIdx.y * kY + threadIdx.y;
  if (x >= width || y >= height) return;
  if (threadIdx.x == 0 && image.same(x, y, x - 1, y)) unite(parent, y * width + x, y * width + x - 1);
  if (threadIdx.y == 0 && image.same(x, y, x, y - 1)) unite(parent, y * width + x, (y - 1) * width + x);
}

// Every cell takes the name of its root. Others may be on their way through this cell: they find the root sooner.
__global__ void flatten(volatile int* parent, int cells) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x)
    parent[i] = find_root(parent, i);
}

// Sizes of the components, and their number. Lanes of a warp that have the same name are counted once.
__global__ void count_sizes(const int* label, int* size, int* components, int cells) {
  const int lane = threadIdx.x % 32;
  for (int base = blockIdx.x * blockDim.x; base < cells; base += gridDim.x * blockDim.x) {
    const int i = base + threadIdx.x;
    const int name = i < cells ? label[i] : -1;
    const unsigned peers = __match_any_sync(0xffffffff, name);
    const bool leads = __ffs(peers) - 1 == lane;
    if (leads && name >= 0) atomicAdd(&size[name], __popc(peers));
    const unsigned roots = __ballot_sync(0xffffffff, i < cells && name == i);
    if (lane == 0 && roots) atomicAdd(components, __popc(roots));
  }
}

// The largest component: by size, and of equal ones the one with the smallest name. One block.
__global__ void largest(const int* size, unsigned long long* best, int cells) {
  __shared__ unsigned long long warps[kThreads / 32];
  unsigned long long own = 0;
  for (int i = threadIdx.x; i < cells; i += kThreads) {
    const unsigned long long key = (unsigned long long)size[i] << 32 | (0xffffffffu - i);
    if (size[i] && key > own) own = key;
  }
  for (int step = 16; step; step /= 2) {
    const unsigned long long other = __shfl_down_sync(0xffffffff, own, step);
    if (other > own) own = other;
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < kThreads / 32; ++w)
      if (warps[w] > own) own = warps[w];
    *best = own;
  }
}
