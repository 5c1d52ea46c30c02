// Kernels for the native backend, each with what it does to memory in plain sight: sound ones, defective
// ones beside them, and launches that must not be replayed. The program runs them one after the other
// and prints a digest of each result, so that a run under `assay run` can be compared with one alone.
//
//   kernels             every kernel
//   kernels NAME...     these
//   kernels -n N NAME   N times
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "writers.cuh"

namespace cg = cooperative_groups;

#define CK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) {                                                                   \
      std::printf("%s: %s\n", #call, cudaGetErrorString(status));                                  \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

constexpr int kBlocks = 512, kThreads = 256, kCount = kBlocks * kThreads;

// --- sound kernels

__global__ void copy(const float* x, float* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = 2 * x[i];
}

// In place: a repeat that did not restore its input would be seen at once.
__global__ void accumulate(const float* x, float* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] += x[i];
}

__global__ void exchange(const float* x, float* o) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = x[i];
  __syncthreads();
  o[i] = s[(t + 128) % kThreads];
}

__global__ void block_sum(const float* x, float* o) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (t < width) s[t] += s[t + width];
    __syncthreads();
  }
  if (t == 0) o[blockIdx.x] = s[0];
}

__global__ void histogram(const float* x, unsigned* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&o[unsigned(x[i] * 16) & 15], 1u);
}

template <int kAllowed> __device__ void pipeline(const float4* x, float4* o, int rounds) {
  extern __shared__ float4 stage[];
  const int t = threadIdx.x;
  const float4* mine = x + size_t(blockIdx.x) * rounds * blockDim.x;
  auto issue = [&](int i) {
    if (i < rounds) __pipeline_memcpy_async(&stage[i % 3 * blockDim.x + t], &mine[i * blockDim.x + t], 16);
    __pipeline_commit();
  };
  issue(0);
  issue(1);
  float4 sum = {0, 0, 0, 0};
  for (int i = 0; i < rounds; ++i) {
    issue(i + 2);
    __pipeline_wait_prior(kAllowed);
    const float4 v = stage[i % 3 * blockDim.x + t];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  o[blockIdx.x * blockDim.x + t] = sum;
}
__global__ void staged(const float4* x, float4* o, int rounds) { pipeline<2>(x, o, rounds); }

// Reaches its output through a table of pointers in memory.
__global__ void through_table(const float* x, float* const* rows) {
  rows[blockIdx.x][threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] + 1;
}

__device__ unsigned launches_seen;
__global__ void counts_launches(unsigned* o) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *o = ++launches_seen;
}

__global__ void grid_sum(const float* x, float* partial, float* o) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x) sum += x[i];
  partial[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  cg::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float all = 0;
    for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) all += partial[i];
    *o = all;
  }
}

// A barrier of its own, which needs all blocks resident together.
__global__ void persistent(const float* x, float* o, unsigned* arrived) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned*)arrived < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  const int other = (i + blockDim.x) % (gridDim.x * blockDim.x);
  o[gridDim.x * blockDim.x + i] = __ldcg(&o[other]);
}

template <bool kWait> __device__ void neighbour(const float* x, float* o) {
  __shared__ float s[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (kWait) cluster.sync();
  float* other = cluster.map_shared_rank(s, (cluster.block_rank() + 1) % cluster.num_blocks());
  o[blockIdx.x * blockDim.x + threadIdx.x] = other[threadIdx.x];
  cluster.sync();
}
// Its cluster is an attribute of the launch.
__global__ void cluster_of_two(const float* x, float* o) { neighbour<true>(x, o); }
// Its memory is mapped in pieces, as PyTorch's expandable segments are.
__global__ void in_pieces(const float* x, float* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, far = i * 16;
  o[far] += x[i];
}
__global__ void __cluster_dims__(4) in_cluster(const float* x, float* o) { neighbour<true>(x, o); }

__global__ void nothing() {}

// --- defects

__global__ void missing_barrier(const float* x, float* o) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = x[i];
  o[i] = s[(t + 128) % kThreads];
}

// Half of the cells that it reads were never written.
__global__ void reads_stale(const float* x, float* o) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  if (t % 2 == 0) s[t] = x[t];
  __syncthreads();
  o[blockIdx.x * blockDim.x + t] = s[t];
}

__global__ void early_read(const float* x, float* o, int rounds) {
  // The barrier that keeps the next round's stores behind this round's reads is missing.
  __shared__ float s[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    s[t] = x[i] * (r + 1);
    __syncthreads();
    sum += s[(t + 64) % kThreads];
  }
  o[i] = sum;
}

__global__ void staged_too_early(const float4* x, float4* o, int rounds) { pipeline<3>(x, o, rounds); }
__global__ void __cluster_dims__(4) no_cluster_wait(const float* x, float* o) { neighbour<false>(x, o); }

// --- what must not be replayed

__global__ void prints(const float* x) {
  if (blockIdx.x == 0 && threadIdx.x == 0) printf("from the device: %g\n", x[1]);
}
__global__ void heap(int** o) {
  int* p = (int*)malloc(4);
  if (p) *p = 1;
  if (threadIdx.x == 0 && blockIdx.x == 0) *o = p;
  if (p && !(threadIdx.x == 0 && blockIdx.x == 0)) free(p);
}
__global__ void reads_clock(long long* o) { o[threadIdx.x] = clock64(); }
__global__ void to_host(const float* x, float* o) { o[threadIdx.x] = x[threadIdx.x]; }
__global__ void to_managed(const float* x, float* o) { o[threadIdx.x] = x[threadIdx.x]; }
__global__ void dependent(const float* x, float* o) {
  asm volatile("griddepcontrol.wait;");
  o[threadIdx.x] = x[threadIdx.x];
}
__global__ void waits_for_host(volatile int* flag, float* o) {
  while (*flag == 0) {
  }
  o[threadIdx.x] = 1;
}
__global__ void beside_busy(const float* x, float* o) { o[threadIdx.x] = x[threadIdx.x]; }

// --- the program

float *input, *output;
uint64_t digest(const void* memory, size_t size) {
  std::vector<uint8_t> bytes(size);
  CK(cudaMemcpy(bytes.data(), memory, size, cudaMemcpyDefault));
  uint64_t h = 1469598103934665603ull;
  for (uint8_t b : bytes) h = (h ^ b) * 1099511628211ull;
  return h;
}

struct Row {
  const char* name;
  std::function<void()> run;
  bool stable = true; // the same digest in each run of the program
};

template <class... P, class... A> void ordinary(void (*kernel)(P...), A... arguments) {
  kernel<<<kBlocks, kThreads>>>(arguments...);
}

void launch_grid_sum() {
  float *x = input, *partial = output + 1024, *o = output;
  void* arguments[] = {&x, &partial, &o};
  CK(cudaLaunchCooperativeKernel((void*)grid_sum, 64, kThreads, arguments));
}

void launch_persistent() {
  int blocks = 0;
  cudaDeviceProp card;
  CK(cudaGetDeviceProperties(&card, 0));
  CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, persistent, 1024, 0));
  float* o;
  unsigned* arrived;
  CK(cudaMalloc(&o, size_t(2) * 1024 * blocks * card.multiProcessorCount * 4));
  CK(cudaMalloc(&arrived, 4));
  CK(cudaMemset(arrived, 0, 4));
  float* x;
  CK(cudaMalloc(&x, size_t(1024) * blocks * card.multiProcessorCount * 4));
  CK(cudaMemset(x, 1, size_t(1024) * blocks * card.multiProcessorCount * 4));
  persistent<<<blocks * card.multiProcessorCount, 1024>>>(x, o, arrived);
  CK(cudaMemcpy(output, o, 4096, cudaMemcpyDeviceToDevice));
  CK(cudaFree(o));
  CK(cudaFree(arrived));
  CK(cudaFree(x));
}

void launch_through_table() {
  std::vector<float*> rows(kBlocks);
  for (float*& row : rows) CK(cudaMalloc(&row, kThreads * 4));
  float** table;
  CK(cudaMalloc(&table, rows.size() * 8));
  CK(cudaMemcpy(table, rows.data(), rows.size() * 8, cudaMemcpyHostToDevice));
  through_table<<<kBlocks, kThreads>>>(input, table);
  for (int i = 0; i < kBlocks; ++i)
    CK(cudaMemcpy(output + i * kThreads, rows[i], kThreads * 4, cudaMemcpyDeviceToDevice));
  for (float* row : rows) CK(cudaFree(row));
  CK(cudaFree(table));
}

void launch_dependent() {
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = kThreads;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CK(cudaLaunchKernelEx(&config, dependent, (const float*)input, output));
}

// A graph: copies, fills and three kernels, in place, one after the other; with a defect in the last of
// them; or with a host function.
enum class GraphKind { sound, racy, host };
void launch_graph(GraphKind kind) {
  cudaStream_t stream;
  CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CK(cudaMemsetAsync(output, 0, 4096, stream));
  accumulate<<<kBlocks, kThreads, 0, stream>>>(input, output);
  exchange<<<kBlocks, kThreads, 0, stream>>>(output, output);
  if (kind == GraphKind::racy)
    missing_barrier<<<kBlocks, kThreads, 0, stream>>>(output, output);
  else
    block_sum<<<kBlocks, kThreads, 0, stream>>>(input, output + kCount);
  CK(cudaMemcpyAsync(output + 64, output + 1024, 4096, cudaMemcpyDeviceToDevice, stream));
  if (kind == GraphKind::host) CK(cudaLaunchHostFunc(stream, [](void*) {}, nullptr));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CK(cudaStreamEndCapture(stream, &graph));
  CK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) CK(cudaGraphLaunch(exec, stream));
  CK(cudaStreamSynchronize(stream));
  CK(cudaGraphExecDestroy(exec));
  CK(cudaGraphDestroy(graph));
  CK(cudaStreamDestroy(stream));
}

// A launch beside a stream whose kernel ends only when this thread goes on: must be skipped, not hung. Both
// kernels have run before, since the driver, when watched, loads a kernel at its first launch only after
// the running ones have ended.
void launch_beside_busy() {
  cudaStream_t stream;
  CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  volatile int* flag;
  CK(cudaHostAlloc((void**)&flag, 4, cudaHostAllocMapped));
  *flag = 1;
  waits_for_host<<<2, 32, 0, stream>>>((volatile int*)flag, output + 1024);
  beside_busy<<<2, kThreads, 0, stream>>>(input, output);
  CK(cudaStreamSynchronize(stream));
  *flag = 0;
  waits_for_host<<<1, 32, 0, stream>>>((volatile int*)flag, output + 1024);
  cudaStream_t other;
  CK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  beside_busy<<<1, kThreads, 0, other>>>(input, output); // a distinct launch: one block
  *flag = 1;
  CK(cudaStreamSynchronize(stream));
  CK(cudaStreamSynchronize(other));
  CK(cudaFreeHost((void*)flag));
  CK(cudaStreamDestroy(stream));
  CK(cudaStreamDestroy(other));
}

// Memory in pieces of the smallest size, through the driver: eight of them, mapped side by side.
template <class F> F driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
  return (F)function;
}
#define DRIVER(name) driver<decltype(&name)>(#name)

void launch_in_pieces() {
  CUmemAllocationProp kind = {};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t piece = 0;
  DRIVER(cuMemGetAllocationGranularity)(&piece, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  const size_t count = (size_t(kCount) * 64 + piece - 1) / piece;
  CUdeviceptr place = 0;
  DRIVER(cuMemAddressReserve)(&place, count * piece, 0, 0, 0);
  std::vector<CUmemGenericAllocationHandle> handles(count);
  CUmemAccessDesc access = {kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  for (size_t i = 0; i < count; ++i) {
    DRIVER(cuMemCreate)(&handles[i], piece, &kind, 0);
    DRIVER(cuMemMap)(place + i * piece, piece, 0, handles[i], 0);
    DRIVER(cuMemSetAccess)(place + i * piece, piece, &access, 1);
  }
  CK(cudaMemset((void*)place, 0, count * piece));
  in_pieces<<<kBlocks, kThreads>>>(input, (float*)place);
  CK(cudaMemcpy2D(output, 4, (void*)place, 64, 4, kCount, cudaMemcpyDeviceToDevice));
  CK(cudaDeviceSynchronize());
  DRIVER(cuMemUnmap)(place, count * piece);
  for (CUmemGenericAllocationHandle handle : handles) DRIVER(cuMemRelease)(handle);
  DRIVER(cuMemAddressFree)(place, count * piece);
}

void launch_cluster_of_two() {
  cudaLaunchConfig_t config = {};
  config.gridDim = 64;
  config.blockDim = kThreads;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CK(cudaLaunchKernelEx(&config, cluster_of_two, (const float*)input, output));
}

void launch_to_memory(bool managed) {
  float* o;
  if (managed)
    CK(cudaMallocManaged(&o, 4096));
  else
    CK(cudaHostAlloc(&o, 4096, cudaHostAllocMapped));
  if (managed)
    to_managed<<<1, kThreads>>>(input, o);
  else
    to_host<<<1, kThreads>>>(input, o);
  CK(cudaDeviceSynchronize());
  CK(cudaMemcpy(output, o, 1024, cudaMemcpyDefault));
  CK(managed ? cudaFree(o) : cudaFreeHost(o));
}

void launch_async_pool() {
  cudaStream_t stream;
  CK(cudaStreamCreate(&stream));
  float* o;
  CK(cudaMallocAsync(&o, kCount * 4, stream));
  exchange<<<kBlocks, kThreads, 16, stream>>>(input, o); // a launch of its own: other shared bytes
  CK(cudaMemcpyAsync(output, o, kCount * 4, cudaMemcpyDeviceToDevice, stream));
  CK(cudaFreeAsync(o, stream));
  CK(cudaStreamSynchronize(stream));
  CK(cudaStreamDestroy(stream));
}

std::vector<Row> rows() {
  auto f4 = [](float* p) { return (float4*)p; };
  auto u = [](float* p) { return (unsigned*)p; };
  const int stage = 3 * 128 * 16;
  return {
      {"copy", [] { ordinary(copy, input, output); }},
      {"accumulate", [] { ordinary(accumulate, input, output); }},
      {"exchange", [] { ordinary(exchange, input, output); }},
      {"exchange", launch_async_pool},
      {"block_sum", [] { ordinary(block_sum, input, output); }},
      {"histogram", [u] { ordinary(histogram, input, u(output)); }},
      {"staged", [=] { staged<<<64, 128, stage>>>(f4(input), f4(output), 4); }},
      {"through_table", launch_through_table},
      {"counts_launches", [u] { counts_launches<<<2, 32>>>(u(output)); }},
      {"counts_launches", [u] { counts_launches<<<3, 32>>>(u(output)); }},
      {"grid_sum", launch_grid_sum},
      {"persistent", launch_persistent},
      {"cluster_of_two", launch_cluster_of_two},
      {"in_pieces", launch_in_pieces},
      {"in_cluster", [] { in_cluster<<<64, kThreads>>>(input, output); }},
      {"nothing", [] { nothing<<<1, 32>>>(); }},
      {"missing_barrier", [] { ordinary(missing_barrier, input, output); }, false},
      {"residue", [] { missing_barrier<<<64, kThreads>>>(input, output); }, false},
      {"reads_stale", [] { ordinary(reads_stale, input, output); }, false},
      {"lanes_clash", [] { ordinary(lanes_clash, input, output); }, false},
      {"lanes_agree", [] { ordinary(lanes_agree, input, output); }},
      {"last_block_wins", [] { ordinary(last_block_wins, input, output); }, false},
      {"plain_histogram", [u] { ordinary(plain_histogram, input, u(output)); }, false},
      {"float_sum", [] { ordinary(float_sum, input, output); }, false},
      {"append", [u] { ordinary(append, input, output, u(output + kCount)); }, false},
      {"early_read", [] { early_read<<<kBlocks, kThreads>>>(input, output, 8); }, false},
      {"staged_too_early", [=] { staged_too_early<<<64, 128, stage>>>(f4(input), f4(output), 4); }, false},
      {"no_cluster_wait", [] { no_cluster_wait<<<64, kThreads>>>(input, output); }, false},
      {"prints", [] { prints<<<1, 32>>>(input); }},
      {"heap", [] { heap<<<1, 32>>>((int**)output); }, false},
      {"reads_clock", [] { reads_clock<<<1, 32>>>((long long*)output); }, false},
      {"to_host", [] { launch_to_memory(false); }},
      {"to_managed", [] { launch_to_memory(true); }},
      {"dependent", launch_dependent},
      {"in_graph", [] { launch_graph(GraphKind::sound); }},
      {"race_in_graph", [] { launch_graph(GraphKind::racy); }, false},
      {"host_in_graph", [] { launch_graph(GraphKind::host); }},
      {"beside_busy", launch_beside_busy},
  };
}

// Rows that the words behind argv[0] name, or all.
void run(int argc, char** argv) {
  for (const Row& row : rows()) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strcmp(argv[i], row.name) == 0;
    if (!wanted) continue;
    CK(cudaMemset(output, 0, (kCount + 1024) * 4));
    row.run();
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    if (row.stable)
      std::printf("%-18s %016llx\n", row.name, (unsigned long long)digest(output, kCount * 4));
    else
      std::printf("%-18s ran\n", row.name);
    std::fflush(stdout);
  }
}

int main(int argc, char** argv) {
  CK(cudaMalloc(&input, kCount * 4));
  CK(cudaMalloc(&output, (kCount + 1024) * 4));
  std::vector<float> x(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = float(i * 2654435761u % 1000) / 1000 + 0.001f;
  CK(cudaMemcpy(input, x.data(), kCount * 4, cudaMemcpyHostToDevice));
  const bool repeated = argc > 3 && std::strcmp(argv[1], "-n") == 0;
  for (int round = 0; round < (repeated ? std::atoi(argv[2]) : 1); ++round)
    run(argc - (repeated ? 2 : 0), argv + (repeated ? 2 : 0));
  return 0;
}
