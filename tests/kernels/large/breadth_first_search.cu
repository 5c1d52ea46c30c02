// Breadth-first search over a graph in compressed rows, level by level, in one launch of a level each. A block takes
// a piece of the frontier; its warps expand vertices of many neighbours together, the rest are expanded by single lanes.
// New vertices are claimed by an atomic compare-and-swap on their distance and collected in a shared queue, which the
// block appends to the next frontier. Distances do not depend on who claims a vertex; the frontier's order does.
// expect: pass
constexpr int kThreads = 128, kWarps = kThreads / 32, kQueue = 512, kMany = 16, kFar = 0x7fffffff;

struct Graph {
  const int* rows;    // where the neighbours of a vertex begin
  const int* columns; // neighbours
};

struct Queue {
  int size;
  int first; // where the block's part of the next frontier begins
  int items[kQueue];
};

// Claims a vertex for the next level. True for exactly one thread of the launch.
__device__ bool claim(int* distance, int vertex, int level) {
  if (*(volatile int*)&distance[vertex] != kFar) return false; // most often somebody was there before
  return atomicCAS(&distance[vertex], kFar, level) == kFar;
}

// Into the block's queue, or straight into the frontier when that is full.
__device__ void push(Queue& queue, int vertex, int* next, int* next_size) {
  const int slot = atomicAdd(&queue.size, 1);
  if (slot < kQueue) queue.items[slot] = vertex;
  else next[atomicAdd(next_size, 1)] = vertex;
}

__global__ void start(int* distance, int* frontier, int* sizes, int vertices, int levels, int source) {
  for (int v = blockIdx.x * kThreads + threadIdx.x; v < vertices; v += gridDim.x * kThreads)
    distance[v] = v == source ? 0 : kFar;
  if (blockIdx.x == 0 && threadIdx.x <= levels) sizes[threadIdx.x] = threadIdx.x == 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) frontier[0] = source;
}

__global__ void expand(const int* rows, const int* columns, int* distance, const int* frontier, int* next, int* sizes, int level) {
  __shared__ Queue queue;
  __shared__ int large[kThreads], large_count;
  const Graph graph{rows, columns};
  const int size = sizes[level], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int base = blockIdx.x * kThreads; base < size; base += gridDim.x * kThreads) {
    if (threadIdx.x == 0) queue.size = large_count = 0;
    __syncthreads();

    // Vertices with few neighbours by their own lane; the others are noted.
    if (base + (int)threadIdx.x < size) {
      const int vertex = frontier[base + threadIdx.x];
      const int begin = graph.rows[vertex], end = graph.rows[vertex + 1];
      if (end - begin > kMany)
        large[atomicAdd(&large_count, 1)] = vertex;
      else
        for (int e = begin; e < end; ++e)
          if (claim(distance, graph.columns[e], level + 1)) push(queue, graph.columns[e], next, &sizes[level + 1]);
    }
    __syncthreads();
    for (int k = warp; k < large_count; k += kWarps) {
      const int vertex = large[k];
      for (int e = graph.rows[vertex] + lane; e < graph.rows[vertex + 1]; e += 32)
        if (claim(distance, graph.columns[e], level + 1)) push(queue, graph.columns[e], next, &sizes[level + 1]);
    }
    __syncthreads();

    const int found = min(queue.size, kQueue);
    if (threadIdx.x == 0 && found) queue.first = atomicAdd(&sizes[level + 1], found);
    __syncthreads();
    for (int i = threadIdx.x; i < found; i += kThreads) next[queue.first + i] = queue.items[i];
    __syncthreads();
  }
}

// Empty frontiers for the next search: in which order they held the vertices was chance.
__global__ void empty_frontiers(int* frontier, int* next, int vertices) {
  for (int v = blockIdx.x * kThreads + threadIdx.x; v < vertices; v += gridDim.x * kThreads) frontier[v] = next[v] = -1;
}

// How many vertices lie at each distance, and the sum of all distances: neither depends on the order.
__global__ void summarise(const int* distance, int* at_level, unsigned long long* total, int vertices, int levels) {
  __shared__ int counts[kThreads];
  counts[threadIdx.x] = 0;
  __syncthreads();
  unsigned long long own = 0;
  for (int v = blockIdx.x * kThreads + threadIdx.x; v < vertices; v += gridDim.x * kThreads) {
    if (distance[v] == kFar) continue;
    own += distance[v];
    atomicAdd(&counts[distance[v]], 1);
  }
  for (int step = 16; step; step /= 2) own += __shfl_down_sync(0xffffffff, own, step);
  if (threadIdx.x % 32 == 0) atomicAdd(total, own);
  __syncthreads();
  if (threadIdx.x <= levels && counts[threadIdx.x]) atomicAdd(&at_level[threadIdx.x], counts[threadIdx.x]);
}
