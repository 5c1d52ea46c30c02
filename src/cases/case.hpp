// A case ready to run: the job that vgpu executes and what the reports need to know about it.
#pragma once

#include "cases/case_file.hpp"
#include "cases/directives.hpp"
#include "cases/kernel.hpp"
#include "vgpu/launch.hpp"

namespace assay::cases {

struct BufferInfo { // parallel to JobSpec::buffers
  std::string name; // "x", or "parameter 0"
  Role role = Role::in;
  Written written = Written::unsaid;
  bool declared = false; // a case file says so; a bare kernel's roles are only how it was filled
  std::optional<inputs::DType> dtype;
  std::vector<uint64_t> shape;
};

struct ParameterInfo {
  std::string name;
  Role role = Role::scalar;
  std::optional<uint32_t> buffer; // index into JobSpec::buffers
};

struct LaunchInfo {   // parallel to JobSpec::launches
  std::string kernel; // demangled, without parameters
  std::vector<ParameterInfo> parameters;
};

struct Want { // bytes that a buffer must hold at the end, from its start
  uint32_t buffer = 0;
  std::vector<uint8_t> data;
  std::optional<inputs::DType> type; // to print differences
  uint64_t ulp = 0;                  // accepted distance in representable values; 0: same bits
  double within = 0;                 // accepted distance in value
  std::string source;                // "y.npy", "want line 7"
};
struct Out {
  uint32_t buffer = 0;
  std::string file;
};
struct ShowBuffer {
  uint32_t buffer = 0;
  inputs::DType type = inputs::DType::f32;
};

struct Case {
  std::string name; // of the target, with the variant: "softmax.toml [cols=1]"
  Kernel kernel;
  vgpu::JobSpec job;
  uint64_t seed = 1;
  std::vector<BufferInfo> buffers;
  std::vector<LaunchInfo> launches;
  std::vector<Want> wants;
  std::vector<Out> outs;
  std::vector<ShowBuffer> shows;
};

// A target on the command line (case file, .ptx or .cu), read but not yet built.
struct Prepared {
  std::string path;
  Options options; // of the file's directives with the command line on top
  std::optional<CaseFile> file;
  Kernel kernel;
  Expectation expectation;
  std::map<std::string, std::string> allow;
  bool has_reference = false;
  std::vector<std::string> rows;
  size_t variants = 1; // how many jobs the target stands for
};

// `given` are the launch options of the command line; `compiler_flags` go before the file's own.
Result<Prepared> prepare(const std::string& path, const Options& given);
Result<Case> build(const Prepared& prepared, size_t variant);

// The cases below a folder, sorted: case files, then one-file tests (sources with a `// launch:`
// line). A source that a case file names is no case of its own.
Result<std::vector<std::string>> find_cases(const std::string& path);

// Every argument of one launch as vgpu takes it. Errors name the parameter.
Result<void> add_launch(Case& out, const LaunchGroup& group, uint32_t index, bool declared);
// Streams, events and programmatic launches, once all launches are there.
Result<void> order_launches(Case& out, const std::vector<LaunchGroup>& groups);

} // namespace assay::cases
