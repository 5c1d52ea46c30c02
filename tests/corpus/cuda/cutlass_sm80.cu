// CUTLASS 2.x device-level GEMM for tensor cores of sm_80. -DALGO=0..5
#include <cutlass/gemm/device/gemm.h>
#include <cutlass/gemm/device/gemm_sparse.h>

using namespace cutlass;
using R = layout::RowMajor;
using C = layout::ColumnMajor;
template <int M, int N, int K> using Shape = gemm::GemmShape<M, N, K>;

#if ALGO == 0
using Gemm = gemm::device::Gemm<half_t, R, half_t, C, float, R, float, arch::OpClassTensorOp, arch::Sm80,
                                Shape<128, 128, 32>, Shape<64, 64, 32>, Shape<16, 8, 16>>;
#elif ALGO == 1
using Gemm = gemm::device::Gemm<bfloat16_t, C, bfloat16_t, R, bfloat16_t, R, float, arch::OpClassTensorOp, arch::Sm80,
                                Shape<64, 128, 32>, Shape<32, 64, 32>, Shape<16, 8, 16>>;
#elif ALGO == 2
using Gemm = gemm::device::Gemm<tfloat32_t, R, tfloat32_t, C, float, R, float, arch::OpClassTensorOp, arch::Sm80,
                                Shape<128, 64, 16>, Shape<64, 32, 16>, Shape<16, 8, 8>>;
#elif ALGO == 3
using Gemm = gemm::device::Gemm<int8_t, R, int8_t, C, int32_t, R, int32_t, arch::OpClassTensorOp, arch::Sm80,
                                Shape<128, 128, 64>, Shape<64, 64, 64>, Shape<16, 8, 32>>;
#elif ALGO == 4
using Gemm = gemm::device::Gemm<double, R, double, C, double, R, double, arch::OpClassTensorOp, arch::Sm80,
                                Shape<64, 64, 16>, Shape<32, 32, 16>, Shape<8, 8, 4>>;
#elif ALGO == 5
using Gemm = gemm::device::Gemm<float, R, float, C, float, R, float, arch::OpClassSimt, arch::Sm80,
                                Shape<128, 128, 8>, Shape<32, 64, 8>, Shape<1, 1, 1>>;
#elif ALGO == 6
using Gemm = gemm::device::SparseGemm<half_t, R, half_t, C, float, R, float, arch::OpClassTensorOp, arch::Sm80,
                                      Shape<128, 128, 64>, Shape<64, 64, 64>, Shape<16, 8, 32>>;
#endif

template __global__ void cutlass::Kernel<Gemm::GemmKernel>(Gemm::GemmKernel::Params);
