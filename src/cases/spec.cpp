// SPEC, the text form of one argument; see argument.hpp.
#include "cases/argument.hpp"

#include "base/file.hpp"
#include "base/machine.hpp"
#include "base/text.hpp"
#include "inputs/npy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace assay::cases {
namespace {

const std::vector<std::string>& heads() {
  static const std::vector<std::string> words = {
      "in",     "inout", "out", "rand", "zeros", "bytes", "null", "same", "struct", "func", "list",
      "inlist", "u8",    "u16", "u32",  "u64",   "s8",    "s16",  "s32",  "s64",    "b8",   "b16",
      "b32",    "b64",   "f16", "bf16", "f32",   "f64",   "e4m3", "e5m2", "tf32"};
  return words;
}

// Appends `count` copies of a value's bytes.
void append(std::vector<uint8_t>& out, uint64_t bits, uint32_t size, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&bits);
    out.insert(out.end(), bytes, bytes + size);
  }
}

class SpecParser {
public:
  SpecParser(const std::string& text, const std::string& directory, const Span& span)
      : text_(text), directory_(directory), span_(span) {
    argument_.text = text;
    argument_.span = span;
  }

  Result<Argument> run(int depth) {
    size_t colon = text_.find(':');
    std::string head = text_.substr(0, colon);
    rest_ = colon == std::string::npos ? "" : text_.substr(colon + 1);
    if (head == "null" && colon == std::string::npos) {
      argument_.role = Role::null;
      return argument_;
    }
    if (colon == std::string::npos ||
        std::find(heads().begin(), heads().end(), head) == heads().end())
      return wrong(fmt::format("is not an argument{}; write in:FILE, out:BYTES, rand:TYPE[N], "
                               "TYPE:VALUE, null or another form (assay exec --help lists them)",
                               colon == std::string::npos ? "" : did_you_mean(head, heads())));
    Result<void> done = dispatch(head, depth);
    if (!done) return done.error();
    return argument_;
  }

private:
  Error wrong(std::string why) const {
    return usage_error(fmt::format("argument '{}' {}", text_, why), span_);
  }

  Result<void> has_room() const {
    return room_for(argument_.bytes, fmt::format("argument '{}'", text_), span_);
  }

  Result<void> dispatch(const std::string& head, int depth) {
    if (head == "in" || head == "inout") return file(head == "in" ? Role::in : Role::inout);
    if (head == "out") return out();
    if (head == "rand") return typed_shape(true);
    if (head == "zeros") return typed_shape(false);
    if (head == "list") return list(Role::in);
    if (head == "inlist") return list(Role::inout);
    if (head == "bytes") return hex();
    if (head == "same") return same();
    if (head == "struct") return structure(depth);
    if (head == "func") {
      argument_.role = Role::function;
      argument_.function = rest_;
      if (rest_.empty()) return wrong("needs the name of a device function");
      return {};
    }
    return scalar(head);
  }

  Result<void> file(Role role) {
    argument_.role = role;
    if (rest_.empty()) return wrong("needs a file name");
    return load_content(argument_, path_in(directory_, rest_));
  }

  Result<void> out() {
    argument_.role = Role::out;
    size_t colon = rest_.find(':');
    Result<uint64_t> size = parse_unsigned(rest_.substr(0, colon), "the number of bytes", span_);
    if (!size) return wrong("needs a number of bytes, as in out:4096");
    if (*size > kMostBytes) return wrong("is larger than 64 GiB");
    argument_.bytes = *size;
    if (Result<void> room = has_room(); !room || colon == std::string::npos) return room;
    Result<uint64_t> fill = parse_unsigned(rest_.substr(colon + 1), "the fill byte", span_);
    if (!fill || *fill > 255)
      return wrong("has a FILL that is not one byte (0 to 255 or 0x00 to 0xff)");
    argument_.content = Argument::Content::data;
    argument_.data.assign(argument_.bytes, uint8_t(*fill));
    return {};
  }

  // TYPE[N,…] at the start of rest_; leaves what follows.
  Result<std::string> type_and_shape() {
    size_t open = rest_.find('['), close = rest_.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open)
      return wrong("needs a type and a shape, as in f32[64,128]");
    Result<inputs::DType> type = inputs::dtype_from(rest_.substr(0, open), span_);
    if (!type) return type.error();
    argument_.dtype = *type;
    uint64_t count = 1;
    std::string extents = rest_.substr(open + 1, close - open - 1);
    while (true) {
      size_t comma = extents.find(',');
      Result<uint64_t> extent =
          parse_unsigned(std::string(trim(extents.substr(0, comma))), "an extent", span_);
      if (!extent) return extent.error();
      argument_.shape.push_back(*extent);
      if (__builtin_mul_overflow(count, *extent, &count)) return wrong("is larger than 64 GiB");
      if (comma == std::string::npos) break;
      extents.erase(0, comma + 1);
    }
    if (count > kMostBytes / inputs::bytes(*type)) return wrong("is larger than 64 GiB");
    argument_.bytes = count * inputs::bytes(*type);
    if (Result<void> room = has_room(); !room) return room.error();
    return rest_.substr(close + 1);
  }

  Result<void> typed_shape(bool random) {
    argument_.role = random ? Role::in : Role::inout;
    Result<std::string> tail = type_and_shape();
    if (!tail) return tail.error();
    if (!random) {
      if (!tail->empty()) return wrong(fmt::format("goes on with '{}'", *tail));
      argument_.content = Argument::Content::data;
      argument_.data.assign(argument_.bytes, 0);
      return {};
    }
    argument_.content = Argument::Content::family;
    if (tail->empty()) return {};
    if ((*tail)[0] != ':') return wrong(fmt::format("goes on with '{}'", *tail));
    Result<inputs::Family> family = inputs::family_from(tail->substr(1), span_);
    if (!family) return family.error();
    argument_.family = *family;
    return {};
  }

  Result<void> list(Role role) {
    argument_.role = role;
    size_t open = rest_.find('[');
    if (open == std::string::npos || rest_.back() != ']')
      return wrong("needs a type and values, as in list:f32[1.0,2.0*8]");
    Result<inputs::DType> type = inputs::dtype_from(rest_.substr(0, open), span_);
    if (!type) return type.error();
    argument_.dtype = *type;
    Result<std::vector<uint8_t>> data =
        parse_values(*type, rest_.substr(open + 1, rest_.size() - open - 2), ',', span_);
    if (!data) return data.error();
    argument_.content = Argument::Content::data;
    argument_.data = std::move(*data);
    argument_.bytes = argument_.data.size();
    argument_.shape = {argument_.bytes / inputs::bytes(*type)};
    return {};
  }

  Result<void> hex() {
    argument_.role = Role::scalar;
    if (rest_.empty() || rest_.size() % 2 ||
        rest_.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      return wrong("needs an even number of hexadecimal digits");
    for (size_t i = 0; i < rest_.size(); i += 2)
      argument_.data.push_back(uint8_t(std::strtoul(rest_.substr(i, 2).c_str(), nullptr, 16)));
    return {};
  }

  Result<void> same() {
    argument_.role = Role::same;
    std::string place = rest_;
    size_t plus = place.find('+');
    if (plus != std::string::npos) {
      Result<uint64_t> offset = parse_unsigned(place.substr(plus + 1), "the offset", span_);
      if (!offset) return offset.error();
      argument_.offset = *offset;
      place.resize(plus);
    }
    size_t dot = place.find('.');
    if (dot != std::string::npos) {
      Result<uint64_t> launch = parse_unsigned(place.substr(0, dot), "the launch", span_);
      if (!launch) return launch.error();
      if (*launch > 0xffff) return wrong("refers to a launch that is not there");
      argument_.same_launch = uint32_t(*launch);
      place.erase(0, dot + 1);
    }
    Result<uint64_t> parameter = parse_unsigned(place, "the parameter", span_);
    if (!parameter || *parameter > 0xffff)
      return wrong("needs the number of a parameter (counted from 0), as in same:0+16");
    argument_.same_parameter = uint32_t(*parameter);
    return {};
  }

  Result<void> structure(int depth) {
    argument_.role = Role::structure;
    if (depth > 8) return wrong("is nested too deeply");
    size_t open = rest_.find('{');
    if (open == std::string::npos || rest_.back() != '}')
      return wrong("needs a size and fields, as in struct:16{0:in:x.bin,8:s32:7}");
    Result<uint64_t> size = parse_unsigned(rest_.substr(0, open), "the size", span_);
    if (!size) return size.error();
    if (*size == 0 || *size > 32764) return wrong("has a size that no kernel parameter can have");
    argument_.bytes = *size;
    std::string inner = rest_.substr(open + 1, rest_.size() - open - 2);
    for (const std::string& part : split_fields(inner)) {
      size_t colon = part.find(':');
      Result<uint64_t> offset =
          parse_unsigned(std::string(trim(part.substr(0, colon))), "a field's offset", span_);
      if (!offset || *offset > *size || colon == std::string::npos)
        return wrong(fmt::format("has a field '{}' without an offset inside it", part));
      Result<Argument> value =
          SpecParser(std::string(trim(part.substr(colon + 1))), directory_, span_).run(depth + 1);
      if (!value) return value.error();
      argument_.fields.push_back({*offset, std::move(*value)});
    }
    return {};
  }

  static std::vector<std::string> split_fields(const std::string& text) {
    std::vector<std::string> parts(1);
    int nested = 0;
    for (char c : text) {
      nested += c == '{' || c == '[';
      nested -= c == '}' || c == ']';
      if (c == ',' && nested == 0)
        parts.emplace_back();
      else
        parts.back() += c;
    }
    if (parts.size() == 1 && trim(parts[0]).empty()) parts.clear();
    return parts;
  }

  Result<void> scalar(const std::string& head) {
    argument_.role = Role::scalar;
    Result<inputs::DType> type = inputs::dtype_from(head, span_);
    if (!type) return type.error();
    argument_.dtype = *type;
    Result<uint64_t> bits = inputs::parse_value(*type, rest_, span_);
    if (!bits) return bits.error();
    append(argument_.data, *bits, inputs::bytes(*type), 1);
    return {};
  }

  std::string text_, directory_;
  Span span_;
  std::string rest_;
  Argument argument_;
};

} // namespace

Result<Argument> parse_spec(const std::string& text, const std::string& directory,
                            const Span& span) {
  return SpecParser(text, directory, span).run(0);
}

bool looks_like_spec(const std::string& word) {
  size_t colon = word.find(':');
  if (colon == std::string::npos) return word == "null";
  return std::find(heads().begin(), heads().end(), word.substr(0, colon)) != heads().end();
}

Result<uint64_t> parse_unsigned(const std::string& text, const std::string& what,
                                const Span& span) {
  errno = 0;
  char* end = nullptr;
  bool hex = text.starts_with("0x") || text.starts_with("0X");
  uint64_t value = std::strtoull(text.c_str(), &end, hex ? 16 : 10);
  if (text.empty() || !std::isdigit(uint8_t(text[0])) || *end)
    return usage_error(fmt::format("{} '{}' is not a whole number", what, text), span);
  if (errno == ERANGE)
    return usage_error(fmt::format("{} {} does not fit in 64 bits", what, text), span);
  return value;
}

Result<std::vector<uint8_t>> parse_values(inputs::DType type, const std::string& text,
                                          char separator, const Span& span) {
  std::vector<uint8_t> out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find(separator, at);
    if (end == std::string::npos) end = text.size();
    std::string word(trim(std::string_view(text).substr(at, end - at)));
    at = end + 1;
    if (word.empty() && separator == ' ') continue;
    uint64_t count = 1;
    size_t star = word.find('*');
    if (star != std::string::npos) {
      Result<uint64_t> times = parse_unsigned(word.substr(star + 1), "the count", span);
      if (!times) return times.error();
      count = *times;
      word.resize(star);
    }
    if (count > kMostBytes / inputs::bytes(type))
      return usage_error("a list is larger than 64 GiB", span);
    if (Result<void> room = room_for(out.size() + count * inputs::bytes(type), "a list", span);
        !room)
      return room.error();
    Result<uint64_t> bits = inputs::parse_value(type, word, span);
    if (!bits) return bits.error();
    append(out, *bits, inputs::bytes(type), count);
  }
  return out;
}

std::string path_in(const std::string& directory, const std::string& path) {
  if (directory.empty() || std::filesystem::path(path).is_absolute()) return path;
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

Result<void> load_content(Argument& argument, const std::string& path) {
  std::error_code ignored;
  uint64_t size = std::filesystem::is_regular_file(path, ignored)
                      ? std::filesystem::file_size(path, ignored)
                      : 0; // what is no file has the limit of read_file
  if (Result<void> room = room_for(size, fmt::format("'{}'", path), argument.span); !room)
    return room;
  Result<std::string> content = size ? read_file(path, size) : read_file(path);
  if (!content) {
    content.error().span = argument.span;
    return content.error();
  }
  std::string_view data = *content;
  Result<inputs::Array> array = inputs::Array{};
  if (inputs::is_npy_name(path)) {
    array = inputs::parse_npy(*content, path);
    if (!array) {
      array.error().span = argument.span;
      return array.error();
    }
    if (!argument.dtype) argument.dtype = array->type;
    argument.shape = array->shape;
    data = array->data;
  }
  argument.content = Argument::Content::data;
  argument.data.assign(data.begin(), data.end());
  argument.bytes = data.size();
  return {};
}

} // namespace assay::cases
