// From descriptions to a job: arguments become parameter bytes and buffers. Every mistake in
// number, size or type of arguments is found here and named with the parameter.
#include "base/file.hpp"
#include "base/machine.hpp"
#include "base/text.hpp"
#include "cases/case.hpp"
#include "inputs/npy.hpp"
#include "ir/lower.hpp"
#include "ir/source.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace assay::cases {
namespace {

std::string list_parameters(const ir::Program& program) {
  std::vector<std::string> parts;
  for (const ir::Parameter& parameter : program.parameters) {
    std::string type = parameter.is_array ? fmt::format("{} bytes by value", parameter.bytes)
                                          : std::string(ptx::spelling(parameter.type));
    parts.push_back(
        fmt::format("{}: {}", parts.size(), parameter.is_pointer ? type + " pointer" : type));
  }
  return parts.empty() ? "none" : join(parts, ", ");
}

class LaunchBuilder {
public:
  LaunchBuilder(Case& out, uint32_t index, bool declared)
      : case_(out), index_(index), declared_(declared) {}

  Result<void> run(const LaunchGroup& group) {
    launch_.cooperative = group.cooperative;
    Result<void> done = program(group);
    if (done) done = shape(group);
    if (done) done = arguments(group);
    if (!done) return done;
    case_.job.launches.push_back(std::move(launch_));
    case_.launches.push_back(std::move(info_));
    return outputs(group);
  }

private:
  Result<void> program(const LaunchGroup& group) {
    Result<std::string> entry = find_entry(case_.kernel, group.entry, {});
    if (!entry) return entry.error();
    Result<std::shared_ptr<const ir::Program>> lowered = ir::lower(case_.kernel.module, *entry);
    if (!lowered) return lowered.error();
    launch_.program = *lowered;
    info_.kernel = short_name(*entry);
    return {};
  }

  Result<void> shape(const LaunchGroup& group) {
    const ir::Program& program = *launch_.program;
    Extent3 block = group.block.value_or(Extent3{});
    if (!group.block && program.req_ntid[0])
      std::copy_n(program.req_ntid, 3, block.v);
    else if (!group.block)
      return usage_error("no --block: how many threads has a block?");
    if (!group.grid) return usage_error("no --grid: how many blocks are launched?");
    for (int i = 0; i < 3; ++i) {
      launch_.grid[i] = group.grid->v[i];
      launch_.block[i] = block.v[i];
      launch_.cluster[i] = group.cluster.value_or(Extent3{}).v[i];
    }
    uint64_t shared = group.shared.value_or(0);
    if (shared > UINT32_MAX)
      return usage_error(fmt::format("--shared {} is absurdly large", shared));
    launch_.dynamic_shared = uint32_t(shared);
    return {};
  }

  Result<void> arguments(const LaunchGroup& group) {
    const ir::Program& program = *launch_.program;
    size_t expected = program.parameters.size(), given = group.arguments.size();
    if (given != expected) {
      Span span = given > expected ? group.arguments[expected].span : Span{};
      return usage_error(
          fmt::format("kernel '{}' takes {} argument{} and {} {} given (parameters: {})",
                      info_.kernel, expected, expected == 1 ? "" : "s", given,
                      given == 1 ? "is" : "are", list_parameters(program)),
          span);
    }
    for (uint32_t i = 0; i < expected; ++i) {
      parameter_ = i;
      const Argument& argument = group.arguments[i];
      vgpu::Argument out;
      out.bytes.assign(program.parameters[i].bytes, 0);
      ParameterInfo info{argument.name.empty() ? fmt::format("parameter {}", i) : argument.name,
                         argument.role, std::nullopt};
      Result<void> done = place(argument, program.parameters[i], info, out);
      if (!done) return done;
      info_.parameters.push_back(std::move(info));
      launch_.arguments.push_back(std::move(out));
    }
    return {};
  }

  Error wrong(const Argument& argument, std::string why) const {
    std::string what = argument.name.empty() ? argument.text : argument.name;
    return usage_error(
        fmt::format("parameter {} of kernel '{}' ('{}'): {}", parameter_, info_.kernel, what, why),
        argument.span);
  }

  // The whole of one parameter.
  Result<void> place(const Argument& argument, const ir::Parameter& parameter, ParameterInfo& info,
                     vgpu::Argument& out) {
    if (argument.role == Role::structure) {
      if (argument.bytes != parameter.bytes)
        return wrong(argument, fmt::format("the struct has {} bytes, the parameter {}",
                                           argument.bytes, parameter.bytes));
      for (const Argument::Field& field : argument.fields) {
        uint64_t size = width(field.value);
        if (field.offset > argument.bytes || size > argument.bytes - field.offset)
          return wrong(argument,
                       fmt::format("the field at {} ends beyond the struct", field.offset));
        ParameterInfo inner{fmt::format("{}+{}", info.name, field.offset), field.value.role,
                            std::nullopt};
        if (!field.value.name.empty()) inner.name = field.value.name;
        Result<void> done = write(field.value, uint32_t(field.offset), inner, out);
        if (!done) return done;
      }
      return {};
    }
    uint64_t size = width(argument);
    if (size != parameter.bytes)
      return wrong(argument, fmt::format("it has {} byte{}, the parameter takes {}", size,
                                         size == 1 ? "" : "s", describe(parameter)));
    if (Result<void> done = check_type(argument, parameter); !done) return done;
    return write(argument, 0, info, out);
  }

  static std::string describe(const ir::Parameter& parameter) {
    if (parameter.is_array) return fmt::format("{} bytes by value", parameter.bytes);
    return fmt::format("a {} ({} bytes)", ptx::spelling(parameter.type), parameter.bytes);
  }

  static uint64_t width(const Argument& argument) {
    return argument.role == Role::scalar ? argument.data.size()
                                         : 8; // everything else is an address
  }

  Result<void> check_type(const Argument& argument, const ir::Parameter& parameter) const {
    if (parameter.is_array || argument.role == Role::null) return {};
    bool takes_float = ptx::is_float(parameter.type);
    bool takes_integer = ptx::is_signed(parameter.type) ||
                         (parameter.type >= ptx::Type::u8 && parameter.type <= ptx::Type::u64);
    bool is_scalar = argument.role == Role::scalar;
    if (!is_scalar && takes_float)
      return wrong(argument, fmt::format("the parameter is a {}, not an address",
                                         ptx::spelling(parameter.type)));
    if (!is_scalar || !argument.dtype) return {};
    bool bits = inputs::format(*argument.dtype).kind == 'b';
    bool is_float = inputs::is_float(*argument.dtype);
    if (!bits && (is_float ? takes_integer : takes_float))
      return wrong(argument, fmt::format("a {} is given and the parameter is a {}",
                                         inputs::format(*argument.dtype).name,
                                         ptx::spelling(parameter.type)));
    return {};
  }

  // One value at `offset` of the parameter.
  Result<void> write(const Argument& argument, uint32_t offset, ParameterInfo& info,
                     vgpu::Argument& out) {
    switch (argument.role) {
    case Role::scalar:
      std::copy(argument.data.begin(), argument.data.end(), out.bytes.begin() + offset);
      return {};
    case Role::null: return {};
    case Role::structure:
      return wrong(argument, "a struct inside a struct is written as its fields");
    case Role::function: return function(argument, offset, out);
    case Role::same: return same(argument, offset, info, out);
    default: break;
    }
    info.buffer = uint32_t(case_.job.buffers.size());
    out.pointers.push_back({offset, *info.buffer, 0});
    return buffer(argument, info.name);
  }

  Result<void> function(const Argument& argument, uint32_t offset, vgpu::Argument& out) {
    std::vector<std::string> names;
    const auto& functions = launch_.program->functions;
    for (size_t i = 1; i < functions.size(); ++i) {
      const std::string& name = functions[i].name;
      names.push_back(short_name(name));
      if (name != argument.function && ir::demangle(name) != argument.function &&
          names.back() != argument.function)
        continue;
      uint64_t address = ir::window_base(ir::kFunctionWindow) + 16 * uint64_t(i);
      std::memcpy(out.bytes.data() + offset, &address, 8);
      return {};
    }
    return wrong(argument, fmt::format("no device function is called '{}'{} (functions: {})",
                                       argument.function, did_you_mean(argument.function, names),
                                       names.empty() ? "none" : join(names, ", ")));
  }

  Result<void> same(const Argument& argument, uint32_t offset, ParameterInfo& info,
                    vgpu::Argument& out) {
    if (!argument.same_buffer.empty()) {
      for (size_t i = 0; i < case_.buffers.size(); ++i)
        if (case_.buffers[i].name == argument.same_buffer) info.buffer = uint32_t(i);
      if (!info.buffer) return wrong(argument, "it refers to a buffer that is not there yet");
      out.pointers.push_back({offset, *info.buffer, argument.offset});
      return {};
    }
    // A bare number means this launch's earlier parameter in the first launch, and the first
    // launch's parameter in later ones.
    uint32_t launch = argument.same_launch.value_or(0);
    const std::vector<ParameterInfo>* parameters = launch == index_ ? &info_.parameters
                                                   : launch < case_.launches.size()
                                                       ? &case_.launches[launch].parameters
                                                       : nullptr;
    if (!parameters || argument.same_parameter >= parameters->size())
      return wrong(argument, "it refers to a parameter that no earlier argument fills");
    const ParameterInfo& other = (*parameters)[argument.same_parameter];
    if (!other.buffer) return wrong(argument, fmt::format("'{}' is no buffer", other.name));
    info.buffer = other.buffer;
    out.pointers.push_back({offset, *other.buffer, argument.offset});
    return {};
  }

  Result<void> buffer(const Argument& argument, const std::string& name) {
    uint64_t bytes = argument.bytes;
    for (const vgpu::BufferSpec& other : case_.job.buffers) bytes += other.bytes;
    if (Result<void> room = room_for(bytes, "all buffers", argument.span); !room) return room;
    vgpu::BufferSpec spec;
    spec.name = unique(name);
    spec.bytes = argument.bytes;
    spec.align = argument.align;
    spec.expect_unwritten = argument.role == Role::in;
    spec.scratch = argument.role == Role::scratch;
    if (argument.content == Argument::Content::data) spec.data = argument.data;
    if (argument.content == Argument::Content::family) {
      inputs::Source source;
      source.family = argument.family;
      source.type = *argument.dtype;
      source.domain = argument.domain;
      source.seed = case_.seed;
      source.stream = case_.job.buffers.size();
      source.count = argument.bytes / inputs::bytes(*argument.dtype);
      spec.data = inputs::fill(source);
    }
    BufferInfo info{spec.name, argument.role,  argument.written,
                    declared_, argument.dtype, argument.shape};
    case_.job.buffers.push_back(std::move(spec));
    case_.buffers.push_back(std::move(info));
    return {};
  }

  // Buffers of several launches may share a parameter's number.
  std::string unique(const std::string& name) const {
    auto taken = [&](const std::string& word) {
      return std::any_of(case_.buffers.begin(), case_.buffers.end(),
                         [&](const BufferInfo& info) { return info.name == word; });
    };
    return taken(name) ? fmt::format("{} of launch {}", name, index_) : name;
  }

  Result<uint32_t> buffer_of(uint32_t parameter, const char* option, const Span& span) const {
    const auto& parameters = case_.launches.back().parameters;
    if (parameter >= parameters.size())
      return usage_error(fmt::format("{} {}: the kernel has {} parameters, counted from 0", option,
                                     parameter, parameters.size()),
                         span);
    if (!parameters[parameter].buffer)
      return usage_error(fmt::format("{} {}: this parameter is no buffer", option, parameter),
                         span);
    return *parameters[parameter].buffer;
  }

  Result<void> outputs(const LaunchGroup& group) {
    for (const FileOfParameter& out : group.outs) {
      Result<uint32_t> buffer = buffer_of(out.parameter, "--out", out.span);
      if (!buffer) return buffer.error();
      case_.outs.push_back({*buffer, out.file});
    }
    for (const Show& show : group.shows) {
      Result<uint32_t> buffer = buffer_of(show.parameter, "--show", show.span);
      if (!buffer) return buffer.error();
      case_.shows.push_back({*buffer, show.type});
    }
    for (const FileOfParameter& want : group.wants) {
      Result<void> done = want_file(want);
      if (!done) return done;
    }
    for (const Values& values : group.values) {
      Result<uint32_t> buffer = buffer_of(values.parameter, "// want", values.span);
      if (!buffer) return buffer.error();
      uint64_t bytes = case_.job.buffers[*buffer].bytes;
      if (values.data.size() > bytes)
        return usage_error(fmt::format("// want {}: {} bytes are wanted of a buffer of {}",
                                       values.parameter, values.data.size(), bytes),
                           values.span);
      case_.wants.push_back({*buffer, values.data, values.type, values.ulp, values.within,
                             fmt::format("line {}", values.span.line)});
    }
    return {};
  }

  Result<void> want_file(const FileOfParameter& want) {
    Result<uint32_t> buffer = buffer_of(want.parameter, "--want", want.span);
    if (!buffer) return buffer.error();
    Argument content;
    content.span = want.span;
    if (Result<void> done = load_content(content, want.file); !done) return done;
    uint64_t bytes = case_.job.buffers[*buffer].bytes;
    if (content.data.size() != bytes)
      return usage_error(fmt::format("--want {}: '{}' holds {} bytes and the buffer {}",
                                     want.parameter, want.file, content.data.size(), bytes),
                         want.span);
    std::optional<inputs::DType> type =
        content.dtype ? content.dtype : case_.buffers[*buffer].dtype;
    case_.wants.push_back({*buffer, std::move(content.data), type, 0, 0, want.file});
    return {};
  }

  Case& case_;
  uint32_t index_, parameter_ = 0;
  bool declared_;
  vgpu::LaunchSpec launch_;
  LaunchInfo info_;
};

} // namespace

Result<void> add_launch(Case& out, const LaunchGroup& group, uint32_t index, bool declared) {
  return LaunchBuilder(out, index, declared).run(group);
}

} // namespace assay::cases
