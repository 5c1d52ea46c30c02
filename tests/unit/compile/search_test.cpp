// The search for compilers, over folders made for the purpose, and the texts that people see.
#include "compile/compile.hpp"
#include "compile/nvrtc.hpp"
#include "compile/search.hpp"

#include "folder.hpp"

#include <algorithm>

namespace assay::compile {
namespace {

TEST(Search, PrefersTheProjectsEnvironmentThenOthersThenToolkits) {
  Folder f;
  const std::string venv =
      f.write("p/.venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "");
  const std::string conda =
      f.write("c/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
  const std::string toolkit = f.write("cuda/lib64/libnvrtc.so.13", "");
  const std::string builtins = f.write("cuda/lib64/libnvrtc-builtins.so.13.0", "");
  EXPECT_EQ(builtins_beside(toolkit), std::vector<std::string>{builtins});
  Surroundings s;
  s.project = f.path + "/p";
  s.environments = {f.path + "/c"};
  s.toolkits = {f.path + "/cuda"};
  const std::vector<std::string> found = nvrtc_candidates(s);
  ASSERT_GE(found.size(), 3u);
  EXPECT_EQ(found[0], venv);
  EXPECT_EQ(found[1], conda);
  EXPECT_EQ(found[2], toolkit);
  EXPECT_EQ(found.back(), "libnvrtc.so");
  EXPECT_TRUE(std::none_of(found.begin(), found.end(), [](const std::string& path) {
    return path.find("builtins") != std::string::npos;
  }));
}

TEST(Search, AChosenLibraryIsTheOnlyCandidate) {
  Folder f;
  Surroundings s;
  s.project = f.path;
  s.assay_nvrtc = f.write("lib/libnvrtc.so.12", "not a library");
  EXPECT_EQ(nvrtc_candidates(s), std::vector<std::string>{s.assay_nvrtc});
  Result<std::unique_ptr<Nvrtc>> loaded = load_nvrtc(s);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::environment);
  EXPECT_NE(loaded.error().text().find(f.path + "/setup/nvrtc"), std::string::npos);
  EXPECT_NE(loaded.error().text().find("ASSAY_NVRTC"), std::string::npos);
  s.assay_nvrtc = f.path + "/lib";
  EXPECT_EQ(nvrtc_candidates(s), std::vector<std::string>{f.path + "/lib/libnvrtc.so.12"});
}

TEST(Search, ALibraryThatIsNotNvrtcIsRefused) {
  Surroundings s;
  s.assay_nvrtc = "libm.so.6";
  Result<std::unique_ptr<Nvrtc>> loaded = load_nvrtc(s);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().text().find("is not NVRTC"), std::string::npos);
}

TEST(Search, HeadersBesideTheLibrary) {
  Folder f;
  f.write("cu13/include/cuda_runtime.h", "");
  f.write("cu13/include/cccl/cub/cub.cuh", "");
  f.write("cuda_runtime/include/cuda_runtime.h", "");
  EXPECT_EQ(header_directories(f.path + "/cu13/lib/libnvrtc.so.13"),
            (std::vector<std::string>{f.path + "/cu13/include", f.path + "/cu13/include/cccl",
                                      f.path + "/cuda_runtime/include"}));
  EXPECT_TRUE(header_directories(f.path + "/x/lib/libnvrtc.so").size() == 1); // the sibling package
}

TEST(Text, FilePathsBecomeRelative) {
  const std::string ptx = "\t.file\t1 \"/a/case/k.cu\"\n\t.file\t2 \"/v/include/cccl/cub/x.cuh\"\n"
                          ".file 3 \"/a/cases/other.cu\"\n// \"/a/case/k.cu\"\n";
  EXPECT_EQ(relative_files(ptx, "/a/case", {"/v/include", "/v/include/cccl"}),
            "\t.file\t1 \"k.cu\"\n\t.file\t2 \"cuda/cub/x.cuh\"\n"
            ".file 3 \"/a/cases/other.cu\"\n// \"/a/case/k.cu\"\n");
}

TEST(Text, TheFirstComplaintBecomesTheError) {
  const Error error =
      log_error({"/a", "k.cu", "sm_90", {}, {}},
                "/a/k.cu(3): warning #1-D: w\n\n/a/k.cu(7): error: identifier \"x\" is undefined\n"
                "/a/k.cu(9): error: another\n");
  EXPECT_EQ(error.span.file, "/a/k.cu");
  EXPECT_EQ(error.span.line, 7u);
  EXPECT_EQ(error.message, "does not compile: identifier \"x\" is undefined");
  ASSERT_EQ(error.notes.size(), 1u);
  EXPECT_NE(error.notes[0].find("another"), std::string::npos);
}

TEST(Text, HostCodeIsExplained) {
  const Error error =
      log_error({"/a", "k.cu", "sm_90", {}, {}},
                "/a/k.cu(1): catastrophic error: cannot open source file \"vector\"\n");
  EXPECT_EQ(error.span.line, 1u);
  ASSERT_EQ(error.notes.size(), 2u);
  EXPECT_NE(error.notes[1].find("only device code"), std::string::npos);
}

} // namespace
} // namespace assay::compile
