// Typed access to TOML tables; see toml_reader.hpp.
#include "cases/toml_reader.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::cases {

Result<void> TomlReader::only(const std::vector<std::string>& keys) const {
  for (auto&& [key, node] : table_) {
    std::string name(key.str());
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    Span at{file_, uint32_t(key.source().begin.line), uint32_t(key.source().begin.column)};
    return usage_error(fmt::format("unknown key '{}' in {}{} (known keys: {})", name, where_,
                                   did_you_mean(name, keys), join(keys, ", ")),
                       at);
  }
  return {};
}

Result<void> TomlReader::text(std::string_view key, std::string& out) const {
  const toml::node* node = get(key);
  if (!node) return {};
  if (!node->is_string()) return wrong(*node, fmt::format("'{}' must be a string", key));
  out = **node->as_string();
  return {};
}

Result<void> TomlReader::flag(std::string_view key, bool& out) const {
  const toml::node* node = get(key);
  if (!node) return {};
  if (!node->is_boolean()) return wrong(*node, fmt::format("'{}' must be true or false", key));
  out = **node->as_boolean();
  return {};
}

Result<void> TomlReader::texts(std::string_view key, std::vector<std::string>& out) const {
  const toml::node* node = get(key);
  if (!node) return {};
  if (!node->is_array()) return wrong(*node, fmt::format("'{}' must be an array of strings", key));
  for (const toml::node& item : *node->as_array()) {
    if (!item.is_string()) return wrong(item, fmt::format("'{}' must hold strings only", key));
    out.push_back(**item.as_string());
  }
  return {};
}

Result<Quantity> TomlReader::to_quantity(const toml::node& node, std::string_view key) const {
  if (node.is_integer()) return Quantity{fmt::format("{}", **node.as_integer()), span(node)};
  if (node.is_floating_point())
    return Quantity{fmt::format("{}", **node.as_floating_point()), span(node)};
  if (node.is_string()) return Quantity{**node.as_string(), span(node)};
  return wrong(node, fmt::format("'{}' must be a number or an expression over shape symbols", key));
}

Result<void> TomlReader::quantity(std::string_view key, std::optional<Quantity>& out) const {
  const toml::node* node = get(key);
  if (!node) return {};
  Result<Quantity> value = to_quantity(*node, key);
  if (!value) return value.error();
  out = *value;
  return {};
}

Result<void> TomlReader::quantities(std::string_view key, std::vector<Quantity>& out) const {
  const toml::node* node = get(key);
  if (!node) return {};
  if (!node->is_array())
    return wrong(*node, fmt::format("'{}' must be an array of numbers or expressions", key));
  for (const toml::node& item : *node->as_array()) {
    Result<Quantity> value = to_quantity(item, key);
    if (!value) return value.error();
    out.push_back(*value);
  }
  return {};
}

Result<const toml::table*> TomlReader::table(std::string_view key) const {
  const toml::node* node = get(key);
  if (!node) return static_cast<const toml::table*>(nullptr);
  if (!node->is_table()) return wrong(*node, fmt::format("'{}' must be a table", key));
  return node->as_table();
}

} // namespace assay::cases
