// Reading DW_TAG_inlined_subroutine entries out of a PTX module; see inlined_places.hpp.
#include "ir/inlined_places.hpp"

#include <charconv>
#include <map>
#include <unordered_map>

namespace assay::ir {
namespace {

// The bytes of `.section NAME { .b8 …, .b32 label }`, and which label stands at which offset.
struct Section {
  std::vector<uint8_t> bytes;
  std::unordered_map<size_t, std::string> labels;
};

bool is_word(char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '$' || c == '-'; }

Section read_section(std::string_view text) {
  Section out;
  size_t width = 0; // of the values that follow; 0: not in a .bN directive
  for (size_t at = text.find('{'); at < text.size();) {
    if (text.compare(at, 2, "//") == 0) {
      at = text.find('\n', at);
      continue;
    }
    if (text[at] == '\n') width = 0;
    const bool directive = text[at] == '.';
    if (!directive && !is_word(text[at])) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    at = end;
    const size_t wider = word == ".b8"    ? 1
                         : word == ".b16" ? 2
                         : word == ".b32" ? 4
                         : word == ".b64" ? 8
                                          : 0;
    if (wider) {
      width = wider;
      continue;
    }
    if (!width) continue; // the name of a section may be a value too
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size())
      out.labels[out.bytes.size()] = word, value = 0;
    for (size_t i = 0; i < width; ++i) out.bytes.push_back(uint8_t(value >> (8 * i)));
  }
  return out;
}

// `.section .debug_info …` among what the parser keeps as it is.
Section section_of(const ptx::Module& module, std::string_view name) {
  for (const std::string& raw : module.raw) {
    std::string_view text = raw;
    if (!text.starts_with(".section")) continue;
    text.remove_prefix(8);
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.starts_with(name) && (text.size() == name.size() || !is_word(text[name.size()])))
      return read_section(text);
  }
  return {};
}

class Reader {
public:
  explicit Reader(const Section& section) : section_(section) {}
  bool ended() const { return failed_ || at_ >= section_.bytes.size(); }
  bool failed() const { return failed_; }
  void fail() { failed_ = true; }
  size_t at() const { return at_; }

  uint64_t number(size_t width) {
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i) value |= uint64_t(byte()) << (8 * i);
    return value;
  }
  uint64_t leb() { // signed ones have the same length, and nobody asks for their value
    uint64_t value = 0;
    for (unsigned shift = 0; !failed_; shift += 7) {
      const uint8_t next = byte();
      if (shift < 64) value |= uint64_t(next & 0x7f) << shift;
      if (next < 0x80) break;
    }
    return value;
  }
  void skip(uint64_t count) {
    if (count > section_.bytes.size() - at_)
      failed_ = true;
    else
      at_ += count;
  }
  void string() {
    while (!ended() && byte()) {
    }
  }
  std::string label() { // of an address
    const auto found = section_.labels.find(at_);
    skip(8);
    return found == section_.labels.end() ? "" : found->second;
  }

private:
  uint8_t byte() {
    if (ended()) {
      failed_ = true;
      return 0;
    }
    return section_.bytes[at_++];
  }

  const Section& section_;
  size_t at_ = 0;
  bool failed_ = false;
};

// DWARF 2 encodings: sections 7.5.4 and 7.5.5.
constexpr uint64_t kInlinedSubroutine = 0x1d, kLowPc = 0x11, kHighPc = 0x12;
constexpr uint64_t kCallColumn = 0x57, kCallFile = 0x58, kCallLine = 0x59;

struct Attribute {
  uint64_t name, form;
};
struct Abbreviation {
  uint64_t tag = 0;
  bool children = false;
  std::vector<Attribute> attributes;
};

std::map<uint64_t, Abbreviation> read_abbreviations(const Section& section) {
  std::map<uint64_t, Abbreviation> out;
  Reader reader(section);
  while (!reader.ended()) {
    const uint64_t code = reader.leb();
    if (code == 0) break;
    Abbreviation& one = out[code];
    one.tag = reader.leb();
    one.children = reader.number(1) != 0;
    while (!reader.ended()) {
      const uint64_t name = reader.leb(), form = reader.leb();
      if (!name && !form) break;
      one.attributes.push_back({name, form});
    }
  }
  return out;
}

struct Call { // an inlined call: the labels between which its code stands
  std::string begin, end;
  uint32_t file = 0, line = 0, column = 0;
};

// The value of a form other than an address.
uint64_t value_of(Reader& reader, uint64_t form) {
  switch (form) {
  case 0x0b:
  case 0x0c:
  case 0x11: return reader.number(1); // data1, flag, ref1
  case 0x05:
  case 0x12: return reader.number(2); // data2, ref2
  case 0x06:
  case 0x0e:
  case 0x10:
  case 0x13: return reader.number(4); // data4, strp, ref_addr, ref4
  case 0x07:
  case 0x14: return reader.number(8); // data8, ref8
  case 0x0d:
  case 0x0f:
  case 0x15: return reader.leb(); // sdata, udata, ref_udata
  case 0x08: reader.string(); return 0;
  case 0x03: reader.skip(reader.number(2)); return 0; // block2
  case 0x04: reader.skip(reader.number(4)); return 0; // block4
  case 0x09: reader.skip(reader.leb()); return 0;     // block
  case 0x0a: reader.skip(reader.number(1)); return 0; // block1
  default: reader.fail(); return 0;
  }
}

// Every inlined call of the first unit; an outer one stands before those inside it.
std::vector<Call> read_calls(const ptx::Module& module) {
  std::vector<Call> out;
  const Section info = section_of(module, ".debug_info");
  if (info.bytes.empty()) return out;
  const auto abbreviations = read_abbreviations(section_of(module, ".debug_abbrev"));
  Reader reader(info);
  reader.skip(11); // length, version, offset of the abbreviations, size of an address
  while (!reader.ended()) {
    const uint64_t code = reader.leb();
    if (code == 0) continue; // the end of a list of children
    const auto found = abbreviations.find(code);
    if (found == abbreviations.end()) return {};
    Call call;
    for (const Attribute& attribute : found->second.attributes) {
      if (attribute.form == 0x01) { // addr
        const std::string label = reader.label();
        if (attribute.name == kLowPc) call.begin = label;
        if (attribute.name == kHighPc) call.end = label;
        continue;
      }
      const uint64_t value = value_of(reader, attribute.form);
      if (attribute.name == kCallFile) call.file = uint32_t(value);
      if (attribute.name == kCallLine) call.line = uint32_t(value);
      if (attribute.name == kCallColumn) call.column = uint32_t(value);
    }
    if (reader.failed()) return {};
    if (found->second.tag == kInlinedSubroutine && !call.begin.empty()) out.push_back(call);
  }
  return out;
}

} // namespace

std::vector<SourceFrame> inlined_calls(const ptx::Module& module,
                                       const ptx::Instruction& instruction) {
  const std::vector<Call> calls = read_calls(module);
  std::vector<SourceFrame> out;
  if (calls.empty()) return out;
  std::vector<bool> open(calls.size());
  for (const ptx::Function& function : module.functions)
    for (const ptx::Statement& statement : function.body) {
      if (statement.kind == ptx::Statement::Kind::label)
        for (size_t i = 0; i < calls.size(); ++i) {
          if (calls[i].begin == statement.name) open[i] = true;
          if (calls[i].end == statement.name) open[i] = false;
        }
      if (&statement.instruction != &instruction) continue;
      for (size_t i = calls.size(); i-- > 0;) {
        if (!open[i]) continue;
        SourceFrame frame;
        if (calls[i].file < module.files.size()) frame.file = module.files[calls[i].file];
        frame.line = calls[i].line;
        frame.column = calls[i].column;
        out.push_back(std::move(frame));
      }
      return out;
    }
  return out;
}

} // namespace assay::ir
