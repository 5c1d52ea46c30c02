// Compilation by the NVRTC of this machine; skipped where there is none.
#include "compile/compile.hpp"
#include "compile/nvcc.hpp"
#include "compile/nvrtc.hpp"

#include "folder.hpp"

namespace assay::compile {
namespace {

// The .venv of the project, as ./assay sees it, wherever the test program stands.
Surroundings here() {
  Surroundings s = Surroundings::of_this_process();
  if (s.project.empty()) s.project = ASSAY_SOURCE_DIR;
  return s;
}

struct CompileTest : testing::Test {
  Folder folder;
  CompileRequest request{folder.path, "k.cu", "sm_90", {}, {}};
  void SetUp() override {
    if (!load_nvrtc(here())) GTEST_SKIP() << "no NVRTC on this machine";
  }
  // The PTX, or the error's text.
  std::string compile(const std::string& source) {
    folder.write("k.cu", source);
    Result<CompiledPtx> compiled = compile_cuda(request);
    return compiled ? compiled->ptx : "ERROR " + compiled.error().text();
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(CompileTest, AKernelWithLinesAndRelativePaths) {
  const std::string ptx =
      compile("extern \"C\" __global__ void k(float* p) {\n  p[threadIdx.x] *= 2;\n}\n");
  EXPECT_TRUE(has(ptx, ".visible .entry k(")) << ptx;
  EXPECT_TRUE(has(ptx, ".target sm_90"));
  EXPECT_TRUE(has(ptx, ".file\t1 \"k.cu\"")) << ptx;
  EXPECT_TRUE(has(ptx, ".loc\t1 2 "));
  EXPECT_FALSE(has(ptx, folder.path));
}

TEST_F(CompileTest, TemplatesAreInstantiatedByName) {
  folder.write("k.cu", "template <class T, int N> __global__ void k(T* p) { *p = N; }\n");
  request.entries = {"k<float, 4>", "k<int,2>"};
  Result<CompiledPtx> compiled = compile_cuda(request);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(compiled->names.at("k<float, 4>"), "_Z1kIfLi4EEvPT_");
  EXPECT_TRUE(has(compiled->ptx, ".entry _Z1kIfLi4EEvPT_("));
  EXPECT_TRUE(has(compiled->ptx, ".entry _Z1kIiLi2EEvPT_("));
}

TEST_F(CompileTest, FlagsAndLocalHeaders) {
  folder.write("inc/h.cuh", "#define WIDTH 77\n");
  folder.write("beside.cuh", "#define HEIGHT 55\n");
  request.flags = {"-I", "inc", "-DDEPTH=33"};
  const std::string ptx = compile(
      "#include \"h.cuh\"\n#include \"beside.cuh\"\n"
      "extern \"C\" __global__ void k(int* p) { p[0] = WIDTH; p[1] = HEIGHT; p[2] = DEPTH; }\n");
  EXPECT_TRUE(has(ptx, "77") && has(ptx, "55") && has(ptx, "33")) << ptx;
}

TEST_F(CompileTest, DebugBuildsKeepLines) {
  request.flags = {"-G"};
  const std::string ptx = compile("extern \"C\" __global__ void k(int* p) {\n *p = 1; }\n");
  EXPECT_TRUE(has(ptx, ".target sm_90, debug")) << ptx;
  EXPECT_TRUE(has(ptx, ".loc"));
  EXPECT_FALSE(has(ptx, folder.path)) << ptx;
}

TEST_F(CompileTest, CudaHeadersAndTheHostHeadersThatDeviceCodeNames) {
  const std::string ptx = compile(
      "#include <cassert>\n#include <cmath>\n#include <cstdint>\n#include <cstdio>\n#include "
      "<climits>\n#include <cfloat>\n"
      "#include <cooperative_groups.h>\n#include <cub/block/block_reduce.cuh>\n#include "
      "<cuda_bf16.h>\n#include <cuda_fp16.h>\n"
      "#include <cuda_runtime.h>\n#include <mma.h>\n#include <stdint.h>\n#include <cuda/atomic>\n"
      "extern \"C\" __global__ void k(uint32_t* p, std::int64_t n) {\n"
      "  using Reduce = cub::BlockReduce<float, 128>;\n  __shared__ typename Reduce::TempStorage "
      "storage;\n"
      "  float sum = Reduce(storage).Sum(sqrtf(float(p[threadIdx.x])));\n"
      "  cooperative_groups::this_thread_block().sync();\n  assert(n > 0);\n  printf(\"%d\", "
      "INT_MAX);\n"
      "  cuda::atomic_ref<uint32_t, cuda::thread_scope_device>(*p).fetch_add(uint32_t(sum + "
      "FLT_MIN));\n}\n");
  EXPECT_TRUE(has(ptx, ".entry k(")) << ptx;
  EXPECT_TRUE(has(ptx, "\"cuda/")) << "headers' .file lines name no machine path";
}

TEST_F(CompileTest, HeadersOfTheHostThatNothingIsUsedOf) {
  const std::string ptx = compile(
      "#include <algorithm>\n#include <chrono>\n#include <cstring>\n#include <cuda.h>\n"
      "#include <cuda_runtime_api.h>\n#include <iostream>\n#include <limits>\n#include <string>\n"
      "#include <type_traits>\n#include <utility>\n#include <vector>\n"
      "template <class T> __device__ std::enable_if_t<std::is_integral<T>::value, T> top() {\n"
      "  return std::numeric_limits<T>::max();\n}\n"
      "extern \"C\" __global__ void k(int* p, const __grid_constant__ CUtensorMap map) {\n"
      "  int a = 1, b = CUDA_VERSION / 13000;\n  std::swap(a, b);\n"
      "  p[threadIdx.x] = top<int>() - b;\n}\n");
  EXPECT_TRUE(has(ptx, ".entry k(")) << ptx;
  EXPECT_TRUE(has(ptx, ".align 128 .b8 k_param_1[128]")) << ptx;
}

TEST_F(CompileTest, WhatNvccDeclaresUnasked) {
  const std::string ptx =
      compile("extern \"C\" __global__ void k(float* p, uint n) {\n"
              "  constexpr float least = -INFINITY;\n"
              "  p[n] = std::sqrt(std::abs(p[n])) + float(M_PI);\n  p[0] = least;\n  p[1] = NAN;\n"
              "  p[2] = std::isnan(p[3]) ? INT_MAX : 0;\n}\n");
  EXPECT_TRUE(has(ptx, "-8388608") && has(ptx, "2143289344")) << ptx; // as nvcc 13.0 has them
  const std::string own = compile("#define INFINITY 1e30f\ntypedef unsigned int uint;\n"
                                  "extern \"C\" __global__ void k(float* p) { *p = INFINITY; }\n");
  EXPECT_TRUE(has(own, ".entry k(")) << own;
}

TEST_F(CompileTest, ErrorsNameTheLine) {
  folder.write("k.cu", "__global__ void k(int* p) {\n  *p = y;\n}\n");
  Result<CompiledPtx> compiled = compile_cuda(request);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code, ErrorCode::usage);
  EXPECT_EQ(compiled.error().span.line, 2u);
  EXPECT_TRUE(has(compiled.error().text(), "\"y\" is undefined")) << compiled.error().text();
}

TEST_F(CompileTest, UnreadableSourcesAndUnknownFlagsAreErrors) {
  request.file = "absent.cu";
  EXPECT_TRUE(has(compile_cuda(request).error().text(), "cannot read"));
  request.file = ".";
  EXPECT_TRUE(has(compile_cuda(request).error().text(), "cannot read"));
  request.file = "k.cu";
  request.flags = {"--no-such-flag"};
  EXPECT_TRUE(has(compile("__global__ void k() {}\n"), "ERROR"));
  request.flags = {};
  request.arch = "sm_1";
  EXPECT_TRUE(has(compile("__global__ void k() {}\n"), "ERROR"));
}

TEST(Nvcc, CompilesLikeNvrtc) {
  const std::string nvcc = find_nvcc(Surroundings::of_this_process());
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc on this machine";
  Folder folder;
  folder.write("k.cu", "extern \"C\" __global__ void k(float* p) {\n  p[threadIdx.x] *= 2;\n}\n");
  CompileRequest request{folder.path, "k.cu", "sm_90", {}, {}};
  Result<CompiledPtx> compiled = compile_with_nvcc(nvcc, request);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_NE(compiled->ptx.find(".file\t1 \"k.cu\""), std::string::npos) << compiled->ptx;
  folder.write("k.cu", "__global__ void k() {\n  y;\n}\n");
  compiled = compile_with_nvcc(nvcc, request);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().span.line, 2u) << compiled.error().text();
}

// Other people's files are programs: kernels, host functions that launch them, host headers.
std::string whole_program(const std::string& value) {
  return "#include <iostream>\n#include <vector>\n"
         "template <int N> __global__ void k(int* p) { p[threadIdx.x] = " +
         value +
         "; }\nint main() {\n  std::vector<int> v(4);\n  int* p;\n  cudaMalloc(&p, 16);\n"
         "  k<3><<<1, 4>>>(p);\n  std::cout << cudaGetErrorString(cudaDeviceSynchronize());\n}\n";
}

TEST(Nvcc, CompilesWholePrograms) {
  if (find_nvcc(Surroundings::of_this_process()).empty()) GTEST_SKIP() << "no nvcc here";
  Folder folder;
  const CompileRequest request{folder.path, "k.cu", "sm_90", {}, {}};
  folder.write("k.cu", whole_program("N + 1"));
  Result<CompiledPtx> compiled = compile_cuda(request);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(compiled->compiler, "nvcc");
  EXPECT_NE(compiled->ptx.find("_Z1kILi3EEvPi"), std::string::npos) << compiled->ptx;
  folder.write("k.cu", whole_program("y"));
  compiled = compile_cuda(request);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().span.line, 3u) << compiled.error().text();
  EXPECT_NE(compiled.error().text().find("\"y\" is undefined"), std::string::npos);
}

} // namespace
} // namespace assay::compile
