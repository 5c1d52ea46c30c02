// CUTLASS 3.x and 4.x collective GEMM: warpgroup matrices (sm_90a) and tensor memory (sm_100a). -DALGO=0..4
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

using namespace cute;
#if ALGO >= 3
using Arch = cutlass::arch::Sm100;
#else
using Arch = cutlass::arch::Sm90;
#endif
#if ALGO == 1 || ALGO == 4
using Element = cutlass::float_e4m3_t;
#else
using Element = cutlass::half_t;
#endif
#if ALGO == 2
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using Cluster = Shape<_2, _1, _1>;
using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecialized;
#else
using Schedule = cutlass::gemm::collective::KernelScheduleAuto;
using Cluster = Shape<_1, _1, _1>;
using EpilogueSchedule = cutlass::epilogue::collective::EpilogueScheduleAuto;
#endif
using TileShape = Shape<_128, _128, _64>;
using Row = cutlass::layout::RowMajor;
using Col = cutlass::layout::ColumnMajor;
constexpr int kAlign = 16 / sizeof(Element);

using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    Arch, cutlass::arch::OpClassTensorOp, TileShape, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float,
    float, Row, 4, float, Row, 4, EpilogueSchedule>::CollectiveOp;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    Arch, cutlass::arch::OpClassTensorOp, Element, Row, kAlign, Element, Col, kAlign, float, TileShape, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
    Schedule>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;

template __global__ void cutlass::device_kernel<Kernel>(CUTLASS_GRID_CONSTANT Kernel::Params const);
