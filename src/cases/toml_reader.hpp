// A TOML table read key by key: types are checked, places kept, unknown keys reported with the
// nearest known one. Internal to cases; the only header that sees toml++.
#pragma once

#include "cases/case_file.hpp"

#include <toml++/toml.h>

namespace assay::cases {

class TomlReader {
public:
  TomlReader(const toml::table& table, std::string file, std::string where)
      : table_(table), file_(std::move(file)), where_(std::move(where)) {}

  Span span(const toml::node& node) const {
    return {file_, uint32_t(node.source().begin.line), uint32_t(node.source().begin.column)};
  }
  Span span() const { return span(table_); }
  const std::string& file() const { return file_; }

  // Every key of the table must be one of these.
  Result<void> only(const std::vector<std::string>& keys) const;
  const toml::node* get(std::string_view key) const { return table_.get(key); }

  // Each leaves `out` alone when the key is missing.
  Result<void> text(std::string_view key, std::string& out) const;
  Result<void> flag(std::string_view key, bool& out) const;
  Result<void> texts(std::string_view key, std::vector<std::string>& out) const;
  Result<void> quantity(std::string_view key, std::optional<Quantity>& out) const;
  Result<void> quantities(std::string_view key, std::vector<Quantity>& out) const;
  Result<const toml::table*> table(std::string_view key) const; // null when missing

  Error wrong(const toml::node& node, std::string message) const {
    return usage_error(std::move(message), span(node));
  }
  Result<Quantity> to_quantity(const toml::node& node, std::string_view key) const;

private:
  const toml::table& table_;
  std::string file_, where_;
};

} // namespace assay::cases
