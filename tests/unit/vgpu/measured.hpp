// The results that an H200 gave (bench/results/README.md describes the files).
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace assay::vgpu {

struct Record {
  std::string name, type, ptx;
  std::vector<std::string> inputs;
  size_t count = 0, offset = 0;
};

inline uint32_t width_of(const std::string& type) { // f16 bf16 u16 f32 u32 f64 u64
  return type.ends_with("64") ? 64 : type.ends_with("32") ? 32 : 16;
}

struct Measured {
  std::vector<Record> records;
  std::string data;

  explicit Measured(const std::string& name = "h200-2026-11-30") {
    const std::string folder = ASSAY_SOURCE_DIR "/bench/results/" + name + "/";
    std::ifstream index(folder + "index.tsv"), file(folder + "data.bin", std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    data = bytes.str();
    std::string line;
    std::getline(index, line);
    while (std::getline(index, line)) {
      auto f = split(line, '\t');
      f.resize(6);
      index_[f[0]] = records.size();
      records.push_back({f[0], f[1], f[4], split(f[5], ','), std::stoul(f[2]), std::stoul(f[3])});
    }
  }

  const Record* find(const std::string& name) const {
    auto at = index_.find(name);
    return at == index_.end() ? nullptr : &records[at->second];
  }

  // The pattern of one element; u16.all is the table 0 … 65535, which is not stored.
  uint64_t element(const std::string& name, size_t i) const {
    if (name == "u16.all") return i;
    const Record* r = find(name);
    uint32_t bytes = width_of(r->type) / 8;
    uint64_t value = 0;
    std::memcpy(&value, data.data() + r->offset + i * bytes, bytes);
    return value;
  }

private:
  std::unordered_map<std::string, size_t> index_; // into records

  static std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
  }
};

} // namespace assay::vgpu
