// Layer normalisation, forward and backward, in fp32. Forward: a block for each row, mean and variance by Welford's
// method, merged over lanes and warps. Backward: dx by a block for each row; the gradients of weight and bias in two
// launches, first sums over groups of rows, then over the groups; nothing is added by atomics.
// expect: pass proved
constexpr int kThreads = 128, kWarps = kThreads / 32, kTileRows = 8;

struct Moments {
  float count, mean, squares;
};

__device__ Moments merge(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0.0f) return a;
  const float delta = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
}

__device__ Moments warp_merge(Moments x) {
  for (int step = 16; step; step /= 2)
    x = merge(x, {__shfl_xor_sync(0xffffffff, x.count, step), __shfl_xor_sync(0xffffffff, x.mean, step),
                  __shfl_xor_sync(0xffffffff, x.squares, step)});
  return x;
}

// Sum over the block, for every thread. `scratch` may be used again after the return.
__device__ float2 block_sum(float2 x, float2* scratch) {
  for (int step = 16; step; step /= 2) {
    x.x += __shfl_xor_sync(0xffffffff, x.x, step);
    x.y += __shfl_xor_sync(0xffffffff, x.y, step);
  }
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  float2 sum{0.0f, 0.0f};
  for (int w = 0; w < kWarps; ++w) sum.x += scratch[w].x, sum.y += scratch[w].y;
  __syncthreads();
  return sum;
}

__global__ void forward(const float* x, const float* weight, const float* bias, float* y, float* mean, float* rstd, int cols,
                        float eps) {
  __shared__ Moments warps[kWarps];
  x += (size_t)blockIdx.x * cols;
  y += (size_t)blockIdx.x * cols;
  Moments own{0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x; c < cols; c += kThreads) own = merge(own, {1.0f, x[c], 0.0f});
  own = warp_merge(own);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
  __syncthreads();
  own = warps[0];
  for (int w = 1; w < kWarps; ++w) own = merge(own, warps[w]);
  const float scale = rsqrtf(own.squares / cols + eps);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = own.mean;
    rstd[blockIdx.x] = scale;
  }
  for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = (x[c] - own.mean) * scale * weight[c] + bias[c];
}

__global__ void backward_input(const float* dy, const float* x, const float* weight, const float* mean, const float* rstd,
                               float* dx, int cols) {
  __shared__ float2 scratch[kWarps];
  dy += (size_t)blockIdx.x * cols;
  x += (size_t)blockIdx.x * cols;
  dx += (size_t)blockIdx.x * cols;
  const float m = mean[blockIdx.x], r = rstd[blockIdx.x];
  float2 sums{0.0f, 0.0f};
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float g = dy[c] * weight[c];
    sums.x += g;
    sums.y += g * (x[c] - m) * r;
  }
  sums = block_sum(sums, scratch);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float g = dy[c] * weight[c], xhat = (x[c] - m) * r;
    dx[c] = (g - (sums.x + xhat * sums.y) / cols) * r;
  }
}

// One block: 32 columns of `rows_each` rows; a warp adds every eighth row, then the rows of threads are added.
__global__ void backward_partial(const float* dy, const float* x, const float* mean, const float* rstd, float* dw, float* db,
                                 int rows, int cols, int rows_each) {
  __shared__ float2 tile[kTileRows][33];
  const int col = blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * rows_each;
  float2 own{0.0f, 0.0f};
  if (col < cols)
    for (int r = first + threadIdx.y; r < min(first + rows_each, rows); r += kTileRows) {
      const float g = dy[(size_t)r * cols + col];
      own.x += g * (x[(size_t)r * cols + col] - mean[r]) * rstd[r];
      own.y += g;
    }
  tile[threadIdx.y][threadIdx.x] = own;
  for (int step = kTileRows / 2; step; step /= 2) {
    __syncthreads();
    if (threadIdx.y < step) {
      tile[threadIdx.y][threadIdx.x].x += tile[threadIdx.y + step][threadIdx.x].x;
      tile[threadIdx.y][threadIdx.x].y += tile[threadIdx.y + step][threadIdx.x].y;
    }
  }
  if (threadIdx.y == 0 && col < cols) {
    dw[(size_t)blockIdx.y * cols + col] = tile[0][threadIdx.x].x;
    db[(size_t)blockIdx.y * cols + col] = tile[0][threadIdx.x].y;
  }
}

__global__ void backward_weights(const float* dw_partial, const float* db_partial, float* dw, float* db, int groups, int cols) {
  const int col = blockIdx.x * kThreads + threadIdx.x;
  if (col >= cols) return;
  float w = 0.0f, b = 0.0f;
  for (int g = 0; g < groups; ++g) {
    w += dw_partial[(size_t)g * cols + col];
    b += db_partial[(size_t)g * cols + col];
  }
  dw[col] = w;
  db[col] = b;
}
