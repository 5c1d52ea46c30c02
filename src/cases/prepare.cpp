// From a target on the command line to cases: which options win, which variants there are, which
// files of a folder are cases.
#include "base/file.hpp"
#include "base/text.hpp"
#include "cases/case.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace assay::cases {
namespace {

template <class T> void take(T& slot, const T& given) {
  if (given) slot = given;
}
template <class T> void take(std::vector<T>& slot, const std::vector<T>& given) {
  if (!given.empty()) slot = given;
}

void merge_launch(LaunchGroup& slot, const LaunchGroup& given) {
  take(slot.entry, given.entry);
  take(slot.grid, given.grid);
  take(slot.block, given.block);
  take(slot.cluster, given.cluster);
  take(slot.shared, given.shared);
  slot.cooperative = slot.cooperative || given.cooperative;
  slot.programmatic = slot.programmatic || given.programmatic;
  take(slot.name, given.name);
  take(slot.stream, given.stream);
  take(slot.after, given.after);
  take(slot.arguments, given.arguments);
  take(slot.outs, given.outs);
  take(slot.wants, given.wants);
  take(slot.shows, given.shows);
}

// Launch options beside a file override it: with one group given, it applies to every launch of
// the file unless it brings arguments or outputs of its own; with several, one by one.
Result<void> merge_launches(std::vector<LaunchGroup>& launches,
                            const std::vector<LaunchGroup>& given) {
  if (given.size() == 1) {
    LaunchGroup general = given[0];
    merge_launch(launches[0], general);
    general.arguments.clear();
    general.outs.clear();
    general.wants.clear();
    general.shows.clear();
    general.entry.reset();
    general.name.reset();
    general.stream.reset();
    general.after.clear();
    general.programmatic = false;
    for (size_t i = 1; i < launches.size(); ++i) merge_launch(launches[i], general);
    return {};
  }
  if (given.size() != launches.size())
    return usage_error(
        fmt::format("{} launches are given and the file has {}", given.size(), launches.size()));
  for (size_t i = 0; i < given.size(); ++i) merge_launch(launches[i], given[i]);
  return {};
}

void merge_job(Options& slot, const Options& given) {
  take(slot.schedule, given.schedule);
  take(slot.check, given.check);
  take(slot.fail_on, given.fail_on);
  take(slot.vector_atomicity, given.vector_atomicity);
  take(slot.arch, given.arch);
  take(slot.device, given.device);
  take(slot.seed, given.seed);
  take(slot.budget, given.budget);
  slot.compile_flags.insert(slot.compile_flags.end(), given.compile_flags.begin(),
                            given.compile_flags.end());
  slot.set = given.set;
}

// Relative to the working directory, as a compiler would name it.
std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

Result<void> expectations_of_source(Prepared& prepared) {
  if (prepared.expectation.present) return {};
  std::string source = prepared.kernel.source;
  if (!prepared.file->origin.empty())
    source = path_in(folder_of(prepared.path), prepared.file->origin);
  Result<std::string> text = read_file(source);
  if (!text) return text.error();
  Result<Directives> directives = parse_directives(*text, source);
  if (!directives) return directives.error();
  prepared.expectation = directives->expectation;
  return {};
}

Result<Prepared> prepare_case_file(const std::string& path, const Options& given) {
  Prepared out;
  out.path = path;
  Result<std::string> text = read_file(path);
  if (!text) return text.error();
  Result<CaseFile> file = parse_case_file(*text, path);
  if (!file) return file.error();
  out.file = std::move(*file);
  out.options = given;
  out.expectation = out.file->expectation;
  out.allow = out.file->allow;
  out.has_reference = out.file->has_reference;
  if (given.set.empty()) out.variants += out.file->variants.size();

  KernelRequest request;
  request.directory = folder_of(path);
  request.file = out.file->source;
  if (!given.kernel.empty()) {
    request.directory = folder_of(given.kernel);
    request.file = std::filesystem::path(given.kernel).filename().string();
  }
  if (given.arch)
    request.arch = given.arch;
  else if (!out.file->arch.empty())
    request.arch = out.file->arch;
  request.flags = out.file->flags;
  request.flags.insert(request.flags.end(), given.compile_flags.begin(), given.compile_flags.end());
  if (!out.file->entry.empty()) request.entries.push_back(out.file->entry);
  for (const CaseLaunch& launch : out.file->launches)
    if (!launch.entry.empty()) request.entries.push_back(launch.entry);
  Result<Kernel> kernel = load_kernel(request);
  if (!kernel) {
    if (kernel.error().span.file.empty()) kernel.error().span = out.file->source_span;
    return kernel.error();
  }
  out.kernel = std::move(*kernel);
  if (Result<void> done = expectations_of_source(out); !done) return done.error();
  return out;
}

Result<Prepared> prepare_source(const std::string& path, const Options& given) {
  Prepared out;
  out.path = path;
  Result<std::string> text = read_file(path);
  if (!text) return text.error();
  Result<Directives> directives = parse_directives(*text, path);
  if (!directives) return directives.error();
  out.expectation = directives->expectation;
  out.rows = directives->rows;
  if (directives->has_launch) {
    out.options = std::move(directives->options);
    Result<void> done = merge_launches(out.options.launches, given.launches);
    if (!done) return done.error();
    merge_job(out.options, given);
  } else {
    out.options = given;
  }
  if (!given.set.empty())
    return usage_error("--set changes a shape symbol of a case file, and this is a bare kernel");
  KernelRequest request;
  request.directory = folder_of(path);
  request.file = std::filesystem::path(path).filename().string();
  request.arch = out.options.arch;
  request.flags = out.options.compile_flags;
  for (const LaunchGroup& group : out.options.launches)
    if (group.entry) request.entries.push_back(*group.entry);
  Result<Kernel> kernel = load_kernel(request);
  if (!kernel) return kernel.error();
  out.kernel = std::move(*kernel);
  return out;
}

std::string variant_name(const Symbols& symbols) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : symbols) parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format(" [{}]", join(parts, ", "));
}

Result<void> known_schedule(const Options& options) {
  std::vector<std::string> names = schedule::policy_names();
  names.emplace_back("torn-vectors"); // not one of `all`
  names.emplace_back("all");
  if (!options.schedule || std::find(names.begin(), names.end(), *options.schedule) != names.end())
    return {};
  return usage_error(fmt::format("there is no schedule '{}'{} (schedules: {})", *options.schedule,
                                 did_you_mean(*options.schedule, names), join(names, ", ")));
}

// An error without a place belongs to the case file's launch, unless the command line changed it or
// there are several.
Error at_launch(Error error, const Prepared& prepared, uint32_t index) {
  const std::vector<LaunchGroup>& given = prepared.options.launches;
  bool changed = given.size() > 1 || given[0].grid || given[0].block || given[0].cluster ||
                 given[0].shared || given[0].entry || !given[0].arguments.empty();
  if (error.span.file.empty() && prepared.file && !changed && prepared.file->launches.size() == 1)
    error.span = prepared.file->launches[index].span;
  return error;
}

} // namespace

Result<Prepared> prepare(const std::string& path, const Options& given) {
  bool case_file = path.ends_with(".toml");
  if (case_file || path.ends_with(".ptx") || path.ends_with(".cu")) {
    Result<Prepared> out = case_file ? prepare_case_file(path, given) : prepare_source(path, given);
    if (!out) return out;
    if (Result<void> known = known_schedule(out->options); !known) return known.error();
    return out;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return usage_error(fmt::format("cannot read '{}': there is no such file", path));
  return usage_error(
      fmt::format("'{}' is neither a case file (.toml) nor a kernel (.ptx, .cu)", path));
}

Result<Case> build(const Prepared& prepared, size_t variant) {
  Case out;
  out.name = prepared.path;
  out.kernel = prepared.kernel;
  out.seed = prepared.options.seed.value_or(1);
  Result<vgpu::DeviceModel> device = vgpu::device_model(prepared.options.device.value_or("h200"));
  if (!device) return device.error();
  out.job.device = *device;

  std::vector<LaunchGroup> launches = prepared.options.launches;
  if (prepared.file) {
    const Symbols* chosen = variant ? &prepared.file->variants[variant - 1] : nullptr;
    if (chosen) out.name += variant_name(*chosen);
    Result<Symbols> symbols = symbols_of(*prepared.file, chosen, prepared.options.set);
    if (!symbols) return symbols.error();
    Result<std::vector<LaunchGroup>> groups = instantiate(*prepared.file, *symbols);
    if (!groups) return groups.error();
    // `want` is about the inputs and shapes of the file itself.
    if (chosen || !prepared.options.set.empty() || prepared.options.seed.value_or(1) != 1)
      for (LaunchGroup& group : *groups) group.values.clear();
    Result<void> done = merge_launches(*groups, launches);
    if (!done) return done.error();
    launches = std::move(*groups);
  }
  for (uint32_t i = 0; i < launches.size(); ++i) {
    Result<void> done = add_launch(out, launches[i], i, prepared.file.has_value());
    if (!done) return at_launch(done.error(), prepared, i);
  }
  if (Result<void> done = order_launches(out, launches); !done)
    return at_launch(done.error(), prepared, 0);
  Result<void> valid = vgpu::validate(out.job);
  if (!valid) return at_launch(valid.error(), prepared, 0);
  return out;
}

Result<std::vector<std::string>> find_cases(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files, cases;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error))
    if (it->is_regular_file(error)) files.push_back(it->path().lexically_normal().string());
  if (error) return usage_error(fmt::format("cannot read '{}': {}", path, error.message()));
  std::sort(files.begin(), files.end());
  std::set<std::string> named; // sources of case files, and the PTX beside them
  for (const std::string& file : files) {
    if (!file.ends_with(".toml")) continue;
    cases.push_back(file);
    Result<std::string> text = read_file(file);
    if (!text) continue; // reported when the case is read
    Result<CaseFile> parsed = parse_case_file(*text, file);
    if (!parsed) continue;
    fs::path source = fs::path(path_in(folder_of(file), parsed->source)).lexically_normal();
    named.insert(source.string());
    named.insert(source.replace_extension(".ptx").string());
  }
  for (const std::string& file : files) {
    if (named.count(file) || (!file.ends_with(".ptx") && !file.ends_with(".cu"))) continue;
    Result<std::string> text = read_file(file);
    if (text && !has_launch_line(*text)) continue;
    cases.push_back(file);
    if (file.ends_with(".cu")) named.insert(fs::path(file).replace_extension(".ptx").string());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

} // namespace assay::cases
