// Names and keys of launches; see launch.hpp.
#include "native/launch.hpp"

#include "base/random.hpp"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>

namespace assay::native {

std::string text_of(const Extent3& extent) {
  std::string out = std::to_string(extent.x);
  if (extent.y != 1 || extent.z != 1) out.append("x").append(std::to_string(extent.y));
  if (extent.z != 1) out.append("x").append(std::to_string(extent.z));
  return out;
}

std::string key_of(const Launch& launch) {
  return launch.symbol + "|" + text_of(launch.grid) + "|" + text_of(launch.block) + "|" +
         text_of(launch.cluster) + "|" + std::to_string(launch.shared_bytes) + "|" +
         std::to_string(launch.code);
}

std::string graph_symbol(const std::string& kernels, size_t argument_bytes) {
  uint64_t hash = mix64(argument_bytes);
  for (char c : kernels) hash = mix64(hash ^ uint8_t(c));
  char text[32];
  std::snprintf(text, sizeof text, "cuda_graph_%08x", unsigned(hash));
  return text;
}

std::string demangled(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return symbol;
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text ? text : symbol;
  std::free(text);
  return out;
}

std::string base_name(const std::string& name) {
  // The end: the first '(' or '<' at depth 0 that opens the arguments; "(anonymous namespace)"
  // opens none. The beginning: behind the last "::" or blank before it.
  size_t begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 21, "(anonymous namespace)") == 0) {
      i += 20;
    } else if (name.compare(i, 2, "::") == 0 || name[i] == ' ') {
      begin = i + (name[i] == ':' ? 2 : 1);
      if (name[i] == ':') ++i;
    } else if (name[i] == '(') {
      return name.substr(begin, i - begin);
    } else if (name[i] == '<') {
      // Template arguments end the name unless "::" follows them.
      int depth = 0;
      size_t close = i;
      for (; close < name.size(); ++close) {
        if (name[close] == '<') ++depth;
        if (name[close] == '>' && --depth == 0) break;
      }
      if (close + 1 >= name.size() || name.compare(close + 1, 2, "::") != 0)
        return name.substr(begin, i - begin);
      i = close;
    }
  }
  return name.substr(begin);
}

} // namespace assay::native
