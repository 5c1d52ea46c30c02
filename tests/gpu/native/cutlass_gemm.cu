// A product of matrices by CUTLASS: tensor loads (TMA), a warp group that loads and one that multiplies,
// two of the stages in flight. `cutlass_build` makes it as it is, and twice with one wait of
// the pipeline taken out of CUTLASS's header. Prints the sum of the result.
#include <cuda_fp16.h>
#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

#include <cstdio>
#include <vector>

using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Tile = cute::Shape<cute::_128, cute::_128, cute::_64>;
using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
using Arch = cutlass::arch::Sm90;
using Tensor = cutlass::arch::OpClassTensorOp;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    Arch, Tensor, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float, Half, Row, 8, Half,
    Row, 8, cutlass::epilogue::NoSmemWarpSpecialized>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    Arch, Tensor, Half, Row, 8, Half, Column, 8, float, Tile, Cluster, cutlass::gemm::collective::StageCount<3>,
    cutlass::gemm::KernelTmaWarpSpecialized>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

#define CK(call)                                                                                   \
  if (auto status = (call); int(status) != 0) {                                                    \
    std::printf("%s: %d\n", #call, int(status));                                                   \
    return 1;                                                                                      \
  }

int main() {
  const int m = 1024, n = 1024, k = 1024;
  std::vector<__half> x(size_t(m) * k), y(size_t(k) * n), z(size_t(m) * n);
  for (size_t i = 0; i < x.size(); ++i) x[i] = __float2half(float(i * 2654435761u % 1000) / 1000 - 0.5f);
  for (size_t i = 0; i < y.size(); ++i) y[i] = __float2half(float(i * 2246822519u % 1000) / 1000 - 0.5f);
  Half *a, *b, *d;
  CK(cudaMalloc(&a, x.size() * 2));
  CK(cudaMalloc(&b, y.size() * 2));
  CK(cudaMalloc(&d, z.size() * 2));
  CK(cudaMemcpy(a, x.data(), x.size() * 2, cudaMemcpyHostToDevice));
  CK(cudaMemcpy(b, y.data(), y.size() * 2, cudaMemcpyHostToDevice));
  CK(cudaMemset(d, 0, z.size() * 2));
  using namespace cutlass;
  auto sa = make_cute_packed_stride(Gemm::GemmKernel::StrideA{}, {m, k, 1});
  auto sb = make_cute_packed_stride(Gemm::GemmKernel::StrideB{}, {n, k, 1});
  auto sd = make_cute_packed_stride(Gemm::GemmKernel::StrideD{}, {m, n, 1});
  Gemm::Arguments arguments{gemm::GemmUniversalMode::kGemm, {m, n, k, 1}, {a, sa, b, sb}, {{1.0f, 0.0f}, d, sd, d, sd}};
  Gemm gemm;
  CK(gemm.can_implement(arguments));
  CK(gemm.initialize(arguments, nullptr));
  CK(gemm.run());
  CK(cudaDeviceSynchronize());
  CK(cudaMemcpy(z.data(), d, z.size() * 2, cudaMemcpyDeviceToHost));
  double sum = 0;
  for (__half value : z) sum += __half2float(value);
  std::printf("cutlass %.6f\n", sum);
  return 0;
}
