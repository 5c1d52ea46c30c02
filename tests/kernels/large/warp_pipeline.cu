// A warp-specialised pipeline: two producer warps fetch tiles of a matrix and of a vector by cp.async into a ring of three
// stages, two consumer groups of two warps multiply them, and a storing warp writes what they hand over. Producers and
// consumers meet at named barriers, one pair for each stage: `full` is awaited by the consumers, `empty` by the producers;
// who only signals arrives and does not wait. y = A x, a block for 32 rows.
// expect: pass
constexpr int kProducers = 64, kConsumers = 128, kStorers = 32, kThreads = kProducers + kConsumers + kStorers;
constexpr int kStages = 3, kRows = 32, kCols = 64, kPitch = kCols + 4;
constexpr int kFull = 1, kEmpty = kFull + kStages, kReady = kEmpty + kStages, kTaken = kReady + 1, kAmong = kTaken + 1;

struct Stage {
  alignas(16) float a[kRows][kPitch];
  alignas(16) float x[kCols];
};
struct Shared {
  Stage stages[kStages];
  float partial[kConsumers / kRows][kRows];
  float rows[kRows];
};

__device__ void wait(int barrier, int threads) { asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
__device__ void arrive(int barrier, int threads) { asm volatile("barrier.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }

__device__ void copy16(void* to, const void* from, bool live) {
  const unsigned address = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(live ? 16 : 0) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> __device__ void wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory"); }

// Starts the copies of one tile; columns beyond the last are zero.
__device__ void fetch(Stage& stage, const float* a, const float* x, int tile, int cols) {
  const int first = tile * kCols;
  for (int i = threadIdx.x; i < kRows * kCols / 4; i += kProducers) {
    const int row = i / (kCols / 4), col = i % (kCols / 4) * 4;
    const bool live = first + col < cols;
    copy16(&stage.a[row][col], a + (size_t)row * cols + (live ? first + col : 0), live);
  }
  for (int col = threadIdx.x * 4; col < kCols; col += kProducers * 4) {
    const bool live = first + col < cols;
    copy16(&stage.x[col], x + (live ? first + col : 0), live);
  }
  commit();
}

__device__ void produce(Shared& s, const float* a, const float* x, int tiles, int cols, int blocks_of_rows) {
  int total = 0;
  for (int block = blockIdx.x; block < blocks_of_rows; block += gridDim.x) total += tiles;
  // Tile k is announced when its copies have arrived, which is one round after they were started.
  int block = blockIdx.x, tile = 0;
  for (int k = 0; k <= total; ++k) {
    if (k < total) {
      if (k >= kStages) wait(kEmpty + k % kStages, kProducers + kConsumers);
      fetch(s.stages[k % kStages], a + (size_t)block * kRows * cols, x, tile, cols);
      if (++tile == tiles) tile = 0, block += gridDim.x;
      wait_group<1>();
    } else {
      wait_group<0>();
    }
    if (k > 0) arrive(kFull + (k - 1) % kStages, kProducers + kConsumers);
  }
  // The consumers' last signals find somebody who waits.
  for (int k = total < kStages ? 0 : total - kStages; k < total; ++k) wait(kEmpty + k % kStages, kProducers + kConsumers);
}

// A thread has one row and a quarter of the columns; the quarters are added in order.
__device__ void consume(Shared& s, int tiles, int blocks_of_rows) {
  const int t = threadIdx.x - kProducers, row = t % kRows, quarter = t / kRows;
  int k = 0;
  for (int block = blockIdx.x; block < blocks_of_rows; block += gridDim.x) {
    float sum = 0.0f;
    for (int tile = 0; tile < tiles; ++tile, ++k) {
      const Stage& stage = s.stages[k % kStages];
      wait(kFull + k % kStages, kProducers + kConsumers);
      for (int c = quarter * (kCols / 4); c < (quarter + 1) * (kCols / 4); ++c) sum += stage.a[row][c] * stage.x[c];
      arrive(kEmpty + k % kStages, kProducers + kConsumers);
    }
    s.partial[quarter][row] = sum;
    wait(kAmong, kConsumers);
    if (block != blockIdx.x) wait(kTaken, kConsumers + kStorers); // the storer has read the rows before
    if (quarter == 0) {
      for (int q = 1; q < kConsumers / kRows; ++q) sum += s.partial[q][row];
      s.rows[row] = sum;
    }
    arrive(kReady, kConsumers + kStorers);
    wait(kAmong, kConsumers); // partial sums are free again
  }
  if (blockIdx.x < blocks_of_rows) wait(kTaken, kConsumers + kStorers);
}

__device__ void store(Shared& s, float* y, int blocks_of_rows) {
  const int lane = threadIdx.x % 32;
  for (int block = blockIdx.x; block < blocks_of_rows; block += gridDim.x) {
    wait(kReady, kConsumers + kStorers);
    const float value = s.rows[lane];
    arrive(kTaken, kConsumers + kStorers);
    y[block * kRows + lane] = value;
  }
}

__global__ void __launch_bounds__(kThreads) warp_pipeline(const float* a, const float* x, float* y, int rows, int cols) {
  __shared__ Shared shared;
  const int tiles = (cols + kCols - 1) / kCols, blocks_of_rows = rows / kRows;
  if (threadIdx.x < kProducers) produce(shared, a, x, tiles, cols, blocks_of_rows);
  else if (threadIdx.x < kProducers + kConsumers) consume(shared, tiles, blocks_of_rows);
  else store(shared, y, blocks_of_rows);
}
