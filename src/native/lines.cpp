// DWARF line programs of cubins (DWARF standard, versions 2 to 4, section 6.2). Each kernel is one
// sequence; its DW_LNE_set_address is a relocation that names the kernel. NVIDIA's compilers add an
// extended operation 0x90 (number of a row, offset of a function's name): the rows behind it were
// inlined at that row, counted from 1 within the sequence; 0 ends it. That was read off nvcc 13.0's
// output against `nvdisasm -gi`.
#include "native/cubin.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace assay::native {
namespace {

class Reader {
public:
  Reader(std::string_view bytes, uint64_t at) : bytes_(bytes), at_(at) {}
  bool ok() const { return ok_; }
  uint64_t at() const { return at_; }
  template <class T> T take() {
    T value{};
    if (!ok_ || at_ > bytes_.size() || bytes_.size() - at_ < sizeof(T)) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint64_t unsigned_leb() {
    uint64_t value = 0;
    for (uint32_t shift = 0; ok_ && shift < 64; shift += 7) {
      const uint8_t byte = take<uint8_t>();
      value |= uint64_t(byte & 127) << shift;
      if (!(byte & 128)) break;
    }
    return value;
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    for (uint32_t shift = 0; ok_ && shift < 64;) {
      const uint8_t byte = take<uint8_t>();
      value |= uint64_t(byte & 127) << shift;
      shift += 7;
      if (byte & 128) continue;
      if ((byte & 64) && shift < 64) value |= ~uint64_t(0) << shift;
      break;
    }
    return int64_t(value);
  }
  std::string text() {
    std::string out;
    while (ok_) {
      const char c = take<char>();
      if (!c) break;
      out += c;
    }
    return out;
  }
  void go(uint64_t at) { at_ = at; }

private:
  std::string_view bytes_;
  uint64_t at_;
  bool ok_ = true;
};

struct Header {
  uint64_t end = 0, program = 0;
  uint8_t minimum = 1, opcode_base = 10, line_range = 1;
  int8_t line_base = 0;
  std::vector<uint8_t> lengths;
  std::vector<std::string> directories, files;
};

bool read_header(Reader& r, Header& h) {
  const uint32_t length = r.take<uint32_t>();
  h.end = r.at() + length;
  const uint16_t version = r.take<uint16_t>();
  const uint32_t header_length = r.take<uint32_t>();
  h.program = r.at() + header_length;
  h.minimum = r.take<uint8_t>();
  if (version >= 4) r.take<uint8_t>(); // operations per instruction
  r.take<uint8_t>();                   // default is_stmt
  h.line_base = r.take<int8_t>();
  h.line_range = r.take<uint8_t>();
  h.opcode_base = r.take<uint8_t>();
  for (int i = 1; i < h.opcode_base; ++i) h.lengths.push_back(r.take<uint8_t>());
  h.directories = {""};
  h.files = {""};
  for (std::string name = r.text(); r.ok() && !name.empty(); name = r.text())
    h.directories.push_back(name);
  for (std::string name = r.text(); r.ok() && !name.empty(); name = r.text()) {
    const uint64_t directory = r.unsigned_leb();
    r.unsigned_leb(); // time
    r.unsigned_leb(); // size
    if (name[0] != '/' && directory > 0 && directory < h.directories.size())
      name = std::string(h.directories[directory]).append("/").append(name);
    h.files.push_back(name);
  }
  return r.ok() && version >= 2 && version <= 4 && h.line_range != 0;
}

struct State {
  uint64_t address = 0, file = 1, inlined_at = 0;
  int64_t line = 1;
  bool wanted = false; // inside the kernel's sequence
};

struct Row {
  uint64_t file = 0, inlined_at = 0;
  uint32_t line = 0;
};

class LineProgram {
public:
  LineProgram(std::string_view bytes, const std::map<uint64_t, std::string>& kernels,
              const std::string& symbol, uint64_t offset)
      : bytes_(bytes), kernels_(kernels), symbol_(symbol), offset_(offset) {}

  // True when the kernel's sequence was found.
  bool run(const Header& header, SourceLine& out) {
    walk(header);
    // From the instruction outwards to the kernel; of these the innermost that stands in the
    // kernel's own file: neither a header of the toolkit nor the line of a wrapper says much.
    std::vector<Row> chain = {found_};
    while (chain.back().inlined_at && chain.back().inlined_at <= rows_.size() && chain.size() < 100)
      chain.push_back(rows_[chain.back().inlined_at - 1]);
    const Row& best = *std::find_if(chain.begin(), chain.end(),
                                    [&](const Row& row) { return row.file == chain.back().file; });
    out.file = best.file < header.files.size() ? header.files[best.file] : "";
    out.line = best.line;
    return done_;
  }

private:
  void walk(const Header& header) {
    Reader r(bytes_, header.program);
    State s;
    while (r.ok() && r.at() < header.end && !done_) {
      const uint8_t opcode = r.take<uint8_t>();
      if (opcode >= header.opcode_base) {
        const uint8_t adjusted = uint8_t(opcode - header.opcode_base);
        s.address += uint64_t(adjusted / header.line_range) * header.minimum;
        s.line += header.line_base + adjusted % header.line_range;
        row(s);
      } else if (opcode == 0) {
        extended(r, s);
      } else {
        standard(opcode, r, s, header);
      }
    }
  }
  // Rows come in order of address: the last one at or below the offset holds it.
  void row(const State& s) {
    if (!s.wanted) return;
    rows_.push_back({s.file, s.inlined_at, s.line > 0 ? uint32_t(s.line) : 0});
    if (s.address <= offset_) found_ = rows_.back();
  }
  void extended(Reader& r, State& s) {
    const uint64_t length = r.unsigned_leb(), begin = r.at();
    const uint8_t code = r.take<uint8_t>();
    if (code == 1) { // end_sequence
      done_ = s.wanted;
      s = State();
    } else if (code == 2) { // set_address
      auto kernel = kernels_.find(r.at());
      s.address = r.take<uint64_t>();
      s.wanted = kernel != kernels_.end() && kernel->second == symbol_;
    } else if (code == 0x90) {
      s.inlined_at = r.unsigned_leb();
    }
    r.go(begin + length);
  }
  void standard(uint8_t opcode, Reader& r, State& s, const Header& header) {
    switch (opcode) {
    case 1: row(s); break;
    case 2: s.address += r.unsigned_leb() * header.minimum; break;
    case 3: s.line += r.signed_leb(); break;
    case 4: s.file = r.unsigned_leb(); break;
    case 8:
      s.address += uint64_t((255 - header.opcode_base) / header.line_range) * header.minimum;
      break;
    case 9: s.address += r.take<uint16_t>(); break;
    default: // column, flags: skip the operands
      for (int i = 0; i < header.lengths[opcode - 1]; ++i) r.unsigned_leb();
    }
  }

  std::string_view bytes_;
  const std::map<uint64_t, std::string>& kernels_;
  const std::string& symbol_;
  uint64_t offset_;
  std::vector<Row> rows_;
  Row found_;
  bool done_ = false;
};

} // namespace

SourceLine source_line(const Cubin& cubin, const std::string& symbol, uint64_t offset) {
  SourceLine out;
  const std::string_view bytes = cubin.section(".debug_line");
  std::map<uint64_t, std::string> kernels;
  for (const Cubin::Relocation& relocation : cubin.relocations(".debug_line"))
    kernels[relocation.offset] = relocation.symbol;
  for (uint64_t at = 0; at < bytes.size();) { // one unit after the other
    Reader r(bytes, at);
    Header header;
    if (!read_header(r, header) || header.end <= at) break;
    if (LineProgram(bytes, kernels, symbol, offset).run(header, out)) break;
    at = header.end;
  }
  return out;
}

} // namespace assay::native
