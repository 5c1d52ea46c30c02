// ELF of cubins; see cubin.hpp. Layout: the ELF-64 specification; .nv.info records as ptxas 13.0
// writes them (format byte, attribute byte, two bytes of size or value).
#include "native/cubin.hpp"

#include <cstring>
#include <elf.h>

namespace assay::native {
namespace {

template <class T> bool read(std::string_view from, uint64_t offset, T& out) {
  if (offset > from.size() || from.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, from.data() + offset, sizeof(T));
  return true;
}

std::string_view part(std::string_view from, uint64_t offset, uint64_t size) {
  if (offset > from.size() || from.size() - offset < size) return {};
  return from.substr(offset, size);
}

std::string_view text_at(std::string_view strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  std::string_view rest = strings.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

constexpr uint8_t kFormatSized = 0x04; // the two bytes are a size, that many bytes follow
constexpr uint8_t kExterns = 0x0f;     // EIATTR_EXTERNS: indices of symbols

} // namespace

Cubin::Cubin(std::string_view image) {
  Elf64_Ehdr header;
  if (!read(image, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) return;
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  for (size_t i = 0; i < headers.size(); ++i)
    if (!read(image, header.e_shoff + i * sizeof(Elf64_Shdr), headers[i])) return;
  if (header.e_shstrndx >= headers.size()) return;
  const Elf64_Shdr& names = headers[header.e_shstrndx];
  const std::string_view name_strings = part(image, names.sh_offset, names.sh_size);
  for (const Elf64_Shdr& h : headers) {
    Section section;
    section.name = text_at(name_strings, h.sh_name);
    if (h.sh_type != SHT_NOBITS) section.content = part(image, h.sh_offset, h.sh_size);
    section.type = h.sh_type;
    section.link = h.sh_link;
    section.info = h.sh_info;
    sections_.push_back(section);
  }
  for (const Section& s : sections_) {
    if (s.type != SHT_SYMTAB || s.link >= sections_.size()) continue;
    symbols_ = s.content;
    strings_ = sections_[s.link].content;
  }
  ok_ = true;
}

std::string_view Cubin::section(std::string_view name) const {
  for (const Section& s : sections_)
    if (s.name == name) return s.content;
  return {};
}

std::string_view Cubin::code(const std::string& symbol) const { return section(".text." + symbol); }

std::string Cubin::symbol_name(uint32_t index) const {
  Elf64_Sym symbol;
  if (!read(symbols_, uint64_t(index) * sizeof symbol, symbol)) return "";
  return std::string(text_at(strings_, symbol.st_name));
}

std::vector<std::string> Cubin::externals(const std::string& symbol) const {
  std::vector<std::string> out;
  std::string_view info = section(".nv.info." + symbol);
  for (size_t at = 0; at + 4 <= info.size();) {
    const uint8_t format = uint8_t(info[at]), attribute = uint8_t(info[at + 1]);
    uint16_t value = 0;
    read(info, at + 2, value);
    at += 4;
    if (format != kFormatSized) continue;
    for (size_t i = 0; attribute == kExterns && i + 4 <= value; i += 4) {
      uint32_t index = 0;
      if (read(info, at + i, index)) out.push_back(symbol_name(index));
    }
    at += (size_t(value) + 3) & ~size_t(3);
  }
  return out;
}

std::vector<std::string> Cubin::variables() const {
  std::vector<std::string> out;
  Elf64_Sym symbol;
  for (uint64_t at = 0; read(symbols_, at, symbol); at += sizeof symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= sections_.size())
      continue;
    const std::string_view name = sections_[symbol.st_shndx].name;
    if (name == ".nv.global" || name == ".nv.global.init")
      out.emplace_back(text_at(strings_, symbol.st_name));
  }
  return out;
}

std::vector<Cubin::Relocation> Cubin::relocations(std::string_view name) const {
  std::vector<Relocation> out;
  for (const Section& s : sections_) {
    if (s.type != SHT_RELA && s.type != SHT_REL) continue;
    if (s.name.size() <= name.size() || !s.name.ends_with(name)) continue;
    if (s.name != ".rela" + std::string(name) && s.name != ".rel" + std::string(name)) continue;
    const size_t entry = s.type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (size_t at = 0; at + entry <= s.content.size(); at += entry) {
      Elf64_Rel relocation;
      read(s.content, at, relocation);
      out.push_back({relocation.r_offset, symbol_name(uint32_t(relocation.r_info >> 32))});
    }
  }
  return out;
}

} // namespace assay::native
