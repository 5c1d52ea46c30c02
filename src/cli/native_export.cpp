// assay native-export: cases as data, for a program that runs them on a GPU
// (tests/gpu/run_agreement.py): PTX, memory, arguments, launch configuration, and the outcomes that
// the virtual GPU's schedules leave. A hidden command; tests/gpu/README.md describes the files.
#include "base/file.hpp"
#include "cli/judge.hpp"
#include "cli/numbers.hpp"
#include "explore/pool.hpp"
#include "ir/address_space.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

// Bytes beside the JSON, which names their places.
class Blob {
public:
  Json add(const void* data, size_t size) {
    Json place = {bytes_.size(), size};
    bytes_.append(static_cast<const char*>(data), size);
    return place;
  }
  Json add(const std::vector<uint8_t>& data) { return add(data.data(), data.size()); }
  const std::string& bytes() const { return bytes_; }

private:
  std::string bytes_;
};

// What the schedules that were run leave: digests, and which bytes each counts. Outcomes that
// initialise the same bytes share a mask.
class Outcomes {
public:
  explicit Outcomes(Blob& blob) : blob_(blob) {}

  void add(const vgpu::Outcome& out, const std::string& policy) {
    ++runs_;
    if (!out.completed) {
      for (const vgpu::Event& event : out.events) ends_.insert(vgpu::kind_name(event.kind));
      return;
    }
    if (!known_.insert(out.digest.hex()).second) return;
    list_.push_back({{"digest", out.digest.hex()}, {"mask", mask(out)}, {"policy", policy}});
  }

  void write(Json& to) const {
    to["runs"] = runs_;
    to["outcomes"] = list_;
    to["masks"] = masks_;
    to["ends"] = ends_;
  }

private:
  size_t mask(const vgpu::Outcome& out) {
    Hasher hasher;
    for (const std::vector<uint8_t>& bits : out.initialised) hasher.add(bits.data(), bits.size());
    const auto [at, fresh] = mask_index_.emplace(hasher.digest().hex(), masks_.size());
    if (!fresh) return at->second;
    Json regions = Json::array();
    for (const std::vector<uint8_t>& bits : out.initialised)
      regions.push_back(bits.empty() ? Json(nullptr) : blob_.add(bits));
    masks_.push_back(regions);
    return at->second;
  }

  Blob& blob_;
  size_t runs_ = 0;
  std::set<std::string> known_, ends_;
  std::map<std::string, size_t> mask_index_;
  Json list_ = Json::array(), masks_ = Json::array();
};

struct Settings {
  std::string folder;
  uint32_t runs = 8; // of every policy, of cases whose outcome may differ
};

// One variant of a target.
class Export {
public:
  Export(const Judgement& judgement, const Settings& settings)
      : judgement_(judgement), job_(judgement.subject.job), settings_(settings), outcomes_(blob_) {}

  Result<void> run(const std::string& name) {
    const explore::Options options = explore_options(judgement_.prepared, judgement_.session);
    const explore::Report explored = explore::explore(job_, options);
    const report::Verdict verdict = judge(judgement_, explored);
    out_["name"] = judgement_.subject.name;
    out_["verdict"] = verdict.verdict;
    out_["reason"] = verdict.reason;
    out_["deterministic"] = verdict.deterministic ? Json(*verdict.deterministic) : Json(nullptr);
    out_["race_free"] = verdict.race_free ? Json(*verdict.race_free) : Json(nullptr);
    out_["proved"] = verdict.coverage.proved;
    out_["not_proved"] = verdict.coverage.not_proved;
    out_["findings"] = Json::array();
    for (const report::Finding& found : verdict.findings) out_["findings"].push_back(found.kind);
    out_["notes"] = Json::array();
    for (const report::Note& note : verdict.notes) out_["notes"].push_back(note.kind);
    outcomes_.add(explored.first, "canonical");
    // Where all schedules leave one outcome there is no need to look for others.
    if (!verdict.deterministic.value_or(false)) other_outcomes(explored, options);
    out_["schedules"] = explored.schedules;
    outcomes_.write(out_);
    memory(explored.first);
    launches();
    out_["ptx"] = name + ".ptx";
    out_["data"] = name + ".bin";
    const std::string path = settings_.folder + "/" + name;
    if (auto done = write_file(path + ".ptx", judgement_.subject.kernel.ptx); !done) return done;
    if (auto done = write_file(path + ".bin", blob_.bytes()); !done) return done;
    return write_file(path + ".json", out_.dump() + "\n");
  }

private:
  void other_outcomes(const explore::Report& explored, const explore::Options& options) {
    for (const auto* list : {&explored.findings, &explored.notes})
      for (const explore::Finding& found : *list)
        for (const schedule::Trace& trace : found.traces)
          if (Result<vgpu::Outcome> out = explore::replay(job_, trace, options); out)
            outcomes_.add(*out, "found");
    if (!explored.first.completed) return; // such runs are long, and few end
    vgpu::RunOptions run;
    run.step_budget = 10 * explored.first.thread_instructions + 1000000;
    run.detect = explored.first.strong; // weak memory follows from detection
    run.record_trace = false;
    for (const std::string& policy : schedule::policy_names())
      for (uint32_t seed = 1; seed <= settings_.runs; ++seed) {
        auto chosen = schedule::make_policy(policy, seed);
        outcomes_.add(vgpu::run(job_, *chosen, run), policy);
      }
  }

  // Buffers, then the module's variables, as the digest takes them.
  void memory(const vgpu::Outcome& first) {
    Json& buffers = out_["buffers"] = Json::array();
    for (const vgpu::BufferSpec& buffer : job_.buffers)
      buffers.push_back({{"name", buffer.name},
                         {"bytes", buffer.bytes},
                         {"align", buffer.align},
                         {"data", blob_.add(buffer.data)}});
    Json& globals = out_["globals"] = Json::array();
    for (const ir::GlobalVariable& global : job_.launches[0].program->globals)
      globals.push_back(
          {{"name", global.name}, {"bytes", global.bytes}, {"addresses", addresses(global)}});
    if (!first.completed) return;
    Json& last = out_["memory"] = Json::array();
    for (const std::vector<uint8_t>& bytes : first.memory) last.push_back(blob_.add(bytes));
  }

  void launches() {
    Json& launches = out_["launches"] = Json::array();
    for (const vgpu::LaunchSpec& launch : job_.launches) {
      Json arguments = Json::array();
      for (const vgpu::Argument& argument : launch.arguments) {
        Json one = {{"bytes", blob_.add(argument.bytes)}};
        for (const vgpu::Argument::Pointer& pointer : argument.pointers)
          one["pointers"].push_back({pointer.offset, pointer.buffer, pointer.addend});
        functions(launch, argument, one);
        arguments.push_back(one);
      }
      launches.push_back({{"symbol", launch.program->kernel},
                          {"grid", launch.grid},
                          {"block", launch.block},
                          {"cluster", launch.cluster},
                          {"shared", launch.dynamic_shared},
                          {"cooperative", launch.cooperative},
                          {"arguments", arguments}});
    }
  }

  // Where a variable is initialised with addresses, which are the virtual GPU's own.
  Json addresses(const ir::GlobalVariable& global) const {
    Json found = Json::array();
    const uint64_t end = ir::kFirstModuleWindow + job_.launches[0].program->globals.size();
    for (size_t at = 0; at + 8 <= global.init.size(); at += 8) {
      uint64_t value = 0;
      std::memcpy(&value, &global.init[at], 8);
      const uint64_t window = ir::window_of(value);
      if (window == ir::kFunctionWindow || (window >= ir::kFirstModuleWindow && window < end))
        found.push_back({at, value});
    }
    return found;
  }

  // The addresses of device functions are the virtual GPU's own; elsewhere they go by their names.
  static void functions(const vgpu::LaunchSpec& launch, const vgpu::Argument& argument, Json& to) {
    for (size_t at = 0; at + 8 <= argument.bytes.size(); at += 8) {
      uint64_t value = 0;
      std::memcpy(&value, &argument.bytes[at], 8);
      const uint64_t first = ir::window_base(ir::kFunctionWindow);
      const auto& functions = launch.program->functions;
      if (value >= first + 16 && value < first + 16 * functions.size() && value % 16 == 0)
        to["functions"].push_back({at, functions[(value - first) / 16].name});
    }
  }

  const Judgement& judgement_;
  const vgpu::JobSpec& job_;
  const Settings& settings_;
  Blob blob_;
  Outcomes outcomes_;
  Json out_;
};

std::string file_name(const std::string& target, size_t variant) {
  std::string name = std::filesystem::path(target).lexically_normal().string();
  for (char& c : name)
    if (c == '/' || c == ' ') c = '-';
  return variant ? fmt::format("{}-variant{}", name, variant) : name;
}

Result<void> export_target(const std::string& target, const Session& session,
                           const Settings& settings) {
  Result<cases::Prepared> prepared = cases::prepare(target, session.options);
  if (!prepared) return prepared.error();
  for (size_t variant = 0; variant < prepared->variants; ++variant) {
    Result<cases::Case> subject = cases::build(*prepared, variant);
    if (!subject) return subject.error();
    Judgement judgement{*prepared, *subject, variant, Command::check, session};
    if (auto done = Export(judgement, settings).run(file_name(target, variant)); !done) return done;
  }
  return {};
}

int export_all(Session session, const Settings& settings) {
  std::vector<std::string> targets;
  for (const std::string& target : session.targets) {
    Result<std::vector<std::string>> found = cases::find_cases(target);
    if (!found) return fail(found.error(), session);
    targets.insert(targets.end(), found->begin(), found->end());
  }
  size_t width = session.threads ? session.threads : explore::default_threads();
  session.threads = 1;
  session.trace_directory.clear();
  std::mutex mutex;
  size_t refused = 0, done = 0;
  explore::parallel(targets.size(), width, [&](size_t i) {
    Result<void> written = export_target(targets[i], session, settings);
    std::lock_guard lock(mutex);
    progress(fmt::format("{} of {} cases", ++done, targets.size()));
    if (written) return;
    ++refused;
    complain(targets[i] + ": " + written.error().text());
  });
  progress("");
  print(fmt::format("{} cases written, {} refused\n", targets.size() - refused, refused));
  return refused ? kUnknown : kPass;
}

} // namespace

void add_native_export(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand("native-export", "Cases as data, to run them on a GPU");
  command->group(""); // not in the help: tests/gpu/run_agreement.py reads what it writes
  auto settings = std::make_shared<Settings>();
  add_common_flags(*command, session);
  command->add_option("targets", session.targets, "Cases, or folders of cases")->required();
  command->add_option("--to", settings->folder, "The folder to write to")->required();
  command->add_option("--runs", settings->runs, "Runs of every policy where outcomes may differ")
      ->check(whole_number(1, 1000000));
  command->callback([&session, &code, settings] { code = export_all(session, *settings); });
}

} // namespace assay::cli
