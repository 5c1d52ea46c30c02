// assay doctor: what this machine can do, what is missing, how to get it.
#include "cli/session.hpp"
#include "compile/search.hpp"
#include "native/parent.hpp"
#include "vgpu/launch.hpp"

#include <CLI/CLI.hpp>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace assay::cli {
namespace {

struct Item {
  std::string what, state, detail, remedy;
  bool ok = true;
};

Item compiler() {
  compile::Surroundings here = compile::Surroundings::of_this_process();
  for (const std::string& candidate : compile::nvrtc_candidates(here)) {
    void* library =
        ::dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL); // stays loaded: NVRTC keeps threads
    if (library) return {"CUDA C++ sources (.cu)", "yes", "NVRTC: " + candidate, "", true};
  }
  std::string nvcc = compile::find_nvcc(here);
  if (!nvcc.empty()) return {"CUDA C++ sources (.cu)", "yes", "nvcc: " + nvcc, "", true};
  return {"CUDA C++ sources (.cu)", "no",
          "neither NVRTC nor nvcc was found; .ptx files and shipped cases need none",
          "setup/nvrtc   (or: python3 -m pip install nvidia-cuda-nvrtc nvidia-cuda-runtime "
          "nvidia-cuda-cccl)",
          false};
}

Item native_backend(bool gpu) {
  const std::string what = "CUDA programs (assay run)";
  if (native::injection_library().empty())
    return {what, "no", "the injection library was not built", "setup/native", true};
  const auto libraries =
      native::sanitizer_candidates(compile::Surroundings::of_this_process().project);
  if (libraries.empty())
    return {what, "no", "libsanitizer-public.so was not found", "setup/native", true};
  if (!gpu) return {what, "no", "no GPU here; " + libraries[0], "", true};
  return {what, "yes", libraries[0], "", true};
}

std::vector<Item> examine() {
  std::vector<Item> items;
  items.push_back({"PTX kernels on the virtual GPU", "yes",
                   fmt::format("vector level {}", vgpu::best_level()), "", true});
  unsigned cores = std::thread::hardware_concurrency();
  items.push_back({"schedules run in parallel", "yes",
                   fmt::format("{} core{}", cores, cores == 1 ? "" : "s"), "", true});
  items.push_back(compiler());
  std::error_code ignored;
  bool gpu = std::filesystem::exists("/dev/nvidiactl", ignored);
  items.push_back({"NVIDIA GPU", gpu ? "present" : "none",
                   gpu ? "for assay run alone" : "none is needed", "", true});
  items.push_back(native_backend(gpu));
  return items;
}

int doctor(const Session& session) {
  std::vector<Item> items = examine();
  if (session.json) {
    nlohmann::ordered_json out;
    out["schema"] = "assay/doctor/1";
    for (const Item& item : items)
      out["items"].push_back({{"what", item.what},
                              {"state", item.state},
                              {"detail", item.detail},
                              {"remedy", item.remedy}});
    print(out.dump(2) + "\n");
    return kPass;
  }
  bool all = true;
  for (const Item& item : items) {
    print(fmt::format("{:<32} {:<8} {}\n", item.what, item.state, item.detail));
    if (!item.remedy.empty()) print(fmt::format("{:<41} to get it: {}\n", "", item.remedy));
    all = all && item.ok;
  }
  print(all ? "Everything that this version uses is here.\n"
            : "Something optional is missing; the lines above say how to get it.\n");
  return kPass;
}

} // namespace

void add_doctor(CLI::App& app, Session& session, int& code) {
  CLI::App* command =
      app.add_subcommand("doctor", "What this machine can do, what is missing, how to get it");
  command->add_flag("--json", session.json, "Print as JSON");
  command->callback([&session, &code] { code = doctor(session); });
}

} // namespace assay::cli
