// A case file with its shape symbols chosen: expressions become numbers.
#include "base/machine.hpp"
#include "base/text.hpp"
#include "cases/case_file.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <set>

namespace assay::cases {
namespace {

class Instantiator {
public:
  Instantiator(const CaseFile& file, const Symbols& symbols) : file_(file), symbols_(symbols) {}

  Result<LaunchGroup> launch(const CaseLaunch& launch, uint32_t index) {
    LaunchGroup group;
    if (!launch.entry.empty() || !file_.entry.empty())
      group.entry = launch.entry.empty() ? file_.entry : launch.entry;
    group.cooperative = launch.cooperative;
    group.programmatic = launch.programmatic;
    if (!launch.name.empty()) group.name = launch.name;
    if (!launch.stream.empty()) group.stream = launch.stream;
    group.after = launch.after;
    Result<void> done = extent("grid", launch.grid, group.grid);
    if (done) done = extent("block", launch.block, group.block);
    if (done && !launch.cluster.empty()) done = extent("cluster", launch.cluster, group.cluster);
    if (!done) return done.error();
    if (launch.shared) {
      Result<uint64_t> bytes = natural("shared", *launch.shared, UINT32_MAX);
      if (!bytes) return bytes.error();
      group.shared = *bytes;
    }
    for (const CaseArgument& argument : file_.arguments) {
      const auto& wanted = launch.arguments;
      if (wanted.empty()) wanted_.push_back(argument.fixed.name);
    }
    std::vector<std::string> names = launch.arguments;
    if (names.empty()) names = std::move(wanted_);
    wanted_.clear();
    for (const std::string& name : names) {
      Result<Argument> argument = named(name, index, uint32_t(group.arguments.size()));
      if (!argument) return argument.error();
      if (argument->is_buffer()) want(name, uint32_t(group.arguments.size()), group);
      group.arguments.push_back(std::move(*argument));
    }
    return group;
  }

private:
  struct Place {
    uint32_t launch, parameter;
  };

  Result<uint64_t> natural(const char* what, const Quantity& quantity, uint64_t most) {
    Result<int64_t> value = evaluate(quantity.text, symbols_, quantity.span);
    if (!value) return value.error();
    if (*value < 0 || uint64_t(*value) > most)
      return usage_error(
          fmt::format("{} is {} here (\"{}\"), outside 0 … {}", what, *value, quantity.text, most),
          quantity.span);
    return uint64_t(*value);
  }

  Result<void> extent(const char* what, const std::vector<Quantity>& list,
                      std::optional<Extent3>& out) {
    if (list.size() > 3)
      return usage_error(fmt::format("{} has more than three extents", what), list[3].span);
    out.emplace();
    for (size_t i = 0; i < list.size(); ++i) {
      Result<uint64_t> value = natural(what, list[i], 0x7fffffff);
      if (!value) return value.error();
      if (*value == 0)
        return usage_error(fmt::format("{} is 0 here (\"{}\")", what, list[i].text), list[i].span);
      out->v[i] = uint32_t(*value);
    }
    return {};
  }

  void want(const std::string& name, uint32_t parameter, LaunchGroup& group) const {
    for (const CaseArgument& a : file_.arguments)
      if (a.fixed.name == name && a.want) {
        group.values.push_back(*a.want);
        group.values.back().parameter = parameter;
      }
  }

  // The argument, or a reference to its first appearance in an earlier launch.
  Result<Argument> named(const std::string& name, uint32_t launch, uint32_t parameter) {
    auto found = std::find_if(file_.arguments.begin(), file_.arguments.end(),
                              [&](const CaseArgument& a) { return a.fixed.name == name; });
    auto earlier = places_.find(name);
    bool buffer = found->fixed.is_buffer();
    if (buffer && inside_.count(name)) return by_name(*found, 0);
    if (buffer && earlier != places_.end()) return reference(*found, earlier->second, 0);
    if (buffer) places_[name] = {launch, parameter};
    return argument(*found);
  }

  Argument reference(const CaseArgument& from, Place place, uint64_t offset) {
    Argument out = from.fixed;
    out.role = Role::same;
    out.same_launch = place.launch;
    out.same_parameter = place.parameter;
    out.offset = offset;
    return out;
  }

  Argument by_name(const CaseArgument& from, uint64_t offset) const {
    Argument out = from.fixed;
    out.role = Role::same;
    out.same_buffer = from.same.empty() ? from.fixed.name : from.same;
    out.offset = offset;
    return out;
  }

  Result<Argument> argument(const CaseArgument& from) {
    if (from.fixed.role == Role::same) return alias(from);
    Argument out = from.fixed;
    Result<void> done = out.is_buffer()               ? buffer(from, out)
                        : out.role == Role::scalar    ? scalar(from, out)
                        : out.role == Role::structure ? structure(from, out)
                                                      : Result<void>();
    if (!done) return done.error();
    return out;
  }

  Result<Argument> alias(const CaseArgument& from) {
    auto place = places_.find(from.same);
    if (place == places_.end() && !inside_.count(from.same)) {
      // The first appearance of a buffer may be inside a struct.
      for (const CaseArgument& a : file_.arguments) {
        if (!in_structure_ || a.fixed.name != from.same || !a.fixed.is_buffer()) continue;
        inside_.insert(from.same);
        return argument(a);
      }
      return usage_error(
          fmt::format("'{}' is the same as '{}', which is no buffer of this launch or an "
                      "earlier one",
                      from.fixed.name, from.same),
          from.fixed.span);
    }
    uint64_t offset = 0;
    if (from.offset) {
      Result<uint64_t> value = natural("offset", *from.offset, kMostBytes);
      if (!value) return value.error();
      offset = *value;
    }
    if (place == places_.end()) return by_name(from, offset);
    return reference(from, place->second, offset);
  }

  Result<void> buffer(const CaseArgument& from, Argument& out) {
    uint64_t item = out.dtype ? inputs::bytes(*out.dtype) : 1, count = 1, last = 0;
    std::vector<uint64_t> shape;
    if (from.strides.size() != from.shape.size() && !from.strides.empty())
      return usage_error(fmt::format("'{}' has {} extents and {} strides", out.name,
                                     from.shape.size(), from.strides.size()),
                         from.strides[0].span);
    for (size_t i = 0; i < from.shape.size(); ++i) {
      Result<uint64_t> extent = natural("an extent", from.shape[i], kMostBytes);
      if (!extent) return extent.error();
      shape.push_back(*extent);
      if (__builtin_mul_overflow(count, *extent, &count) || count > kMostBytes / item)
        return usage_error(fmt::format("'{}' is larger than 64 GiB", out.name), from.shape[i].span);
      if (from.strides.empty()) continue;
      Result<uint64_t> stride = natural("a stride", from.strides[i], kMostBytes);
      if (!stride) return stride.error();
      uint64_t reach = 0;
      if (*extent == 0) continue;
      if (__builtin_mul_overflow(*stride, *extent - 1, &reach) || reach > kMostBytes ||
          (last += reach) > kMostBytes / item)
        return usage_error(fmt::format("'{}' is larger than 64 GiB", out.name),
                           from.strides[i].span);
    }
    if (!from.strides.empty())
      count = count ? last + 1 : 0; // elements between are part of the buffer
    bool empty_file = out.content == Argument::Content::data && out.data.empty();
    if (!from.shape.empty() && !out.bytes && !empty_file) out.bytes = count * item;
    if (!from.shape.empty() && out.bytes != count * item)
      return usage_error(fmt::format("'{}' holds {} bytes by its shape and {} in its file",
                                     out.name, count * item, out.bytes),
                         out.span);
    if (from.shape.empty() && out.content != Argument::Content::data)
      return usage_error(fmt::format("'{}' needs a shape", out.name), out.span);
    if (!shape.empty()) out.shape = shape;
    bool filled = out.content == Argument::Content::data && out.data.size() == 1 && out.bytes != 1;
    if (!filled) return {};
    filled_ += out.bytes;
    if (Result<void> room = room_for(filled_, "filled buffers", out.span); !room) return room;
    out.data.assign(out.bytes, out.data[0]);
    return {};
  }

  Result<void> scalar(const CaseArgument& from, Argument& out) {
    inputs::DType type = *out.dtype;
    uint64_t bits = 0;
    // A literal (a bit pattern, nan, -inf, a decimal) is read by the type itself.
    Result<uint64_t> literal = inputs::parse_value(type, from.value->text, from.value->span);
    if (literal) {
      bits = *literal;
    } else if (inputs::is_float(type)) {
      Result<double> value = evaluate_real(from.value->text, symbols_, from.value->span);
      if (!value) return value.error();
      bits = inputs::encode(type, *value);
    } else {
      Result<int64_t> value = evaluate(from.value->text, symbols_, from.value->span);
      if (!value) return value.error();
      literal = inputs::parse_value(type, fmt::format("{}", *value), from.value->span);
      if (!literal) return literal.error();
      bits = *literal;
    }
    out.data.resize(inputs::bytes(type));
    std::memcpy(out.data.data(), &bits, out.data.size());
    return {};
  }

  Result<void> structure(const CaseArgument& from, Argument& out) {
    Result<uint64_t> size = natural("size", *from.size, 32764);
    if (!size) return size.error();
    out.bytes = *size;
    for (const CaseArgument::Field& field : from.fields) {
      Result<uint64_t> offset = natural("offset", field.offset, 32764);
      if (!offset) return offset.error();
      in_structure_ = true;
      Result<Argument> value = argument(field.value);
      in_structure_ = false;
      if (!value) return value.error();
      out.fields.push_back({*offset, std::move(*value)});
    }
    return {};
  }

  const CaseFile& file_;
  const Symbols& symbols_;
  std::map<std::string, Place> places_; // buffers by name: where they appeared first
  std::set<std::string> inside_;        // buffers that appeared first inside a struct
  bool in_structure_ = false;
  std::vector<std::string> wanted_;
  uint64_t filled_ = 0; // bytes of buffers with a fill
};

} // namespace

Result<std::vector<LaunchGroup>> instantiate(const CaseFile& file, const Symbols& symbols) {
  Instantiator instantiator(file, symbols);
  std::vector<LaunchGroup> groups;
  for (const CaseLaunch& launch : file.launches) {
    Result<LaunchGroup> group = instantiator.launch(launch, uint32_t(groups.size()));
    if (!group) return group.error();
    groups.push_back(std::move(*group));
  }
  return groups;
}

Result<Symbols> symbols_of(const CaseFile& file, const Symbols* variant,
                           const std::map<std::string, int64_t>& set) {
  Symbols symbols = file.shape;
  if (variant)
    for (const auto& [name, value] : *variant) symbols[name] = value;
  for (const auto& [name, value] : set) {
    if (!symbols.count(name)) {
      std::vector<std::string> names;
      for (const auto& [known, unused] : symbols) names.push_back(known);
      return usage_error(
          fmt::format("--set: the case file has no shape symbol '{}'{} (symbols: {})", name,
                      did_you_mean(name, names), join(names, ", ")),
          {file.path, 0, 0});
    }
    symbols[name] = value;
  }
  return symbols;
}

} // namespace assay::cases
