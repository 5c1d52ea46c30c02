// cub::BlockLoad and BlockStore by every algorithm, whole tiles and a partial one.
// expect: pass
#include <cub/cub.cuh>

template <cub::BlockLoadAlgorithm in, cub::BlockStoreAlgorithm out>
__device__ void copy(const int* x, int* y, int* threads, int valid) {
  using Load = cub::BlockLoad<int, 128, 4, in>;
  using Store = cub::BlockStore<int, 128, 4, out>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int items[4];
  Load(storage.load).Load(x, items);
  threads[threadIdx.x] = items[0] ^ items[3];
  __syncthreads();
  Store(storage.store).Store(y, items);
  __syncthreads();
  Load(storage.load).Load(x, items, valid, -1);
  __syncthreads();
  for (int i = 0; i < 4; ++i) items[i] += 1;
  Store(storage.store).Store(y + 512, items, valid);
  __syncthreads();
}

extern "C" __global__ void block_load_store(const int* x, int* y, int* threads, int valid) {
  copy<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>(x, y, threads, valid);
  copy<cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>(x, y + 1024, threads + 128, valid);
  copy<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>(x, y + 2 * 1024, threads + 2 * 128, valid);
  copy<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(x, y + 3 * 1024, threads + 3 * 128, valid);
  copy<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(x, y + 4 * 1024, threads + 4 * 128, valid);
  copy<cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(
      x, y + 5 * 1024, threads + 5 * 128, valid);
}
