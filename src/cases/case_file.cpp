// Reading a case file; see case_file.hpp. A key that the table does not know is an error.
#include "cases/case_file.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "cases/directives.hpp"
#include "cases/toml_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#define ASSAY_TRY(expression)                                                                      \
  do {                                                                                             \
    if (Result<void> tried = (expression); !tried) return tried.error();                           \
  } while (false)

namespace assay::cases {
namespace {

const std::map<std::string, Role> kRoles = {{"in", Role::in},         {"out", Role::out},
                                            {"inout", Role::inout},   {"scratch", Role::scratch},
                                            {"scalar", Role::scalar}, {"struct", Role::structure}};

class CaseReader {
public:
  explicit CaseReader(const std::string& path) { file_.path = path; }

  Result<CaseFile> run(const toml::table& root) {
    TomlReader reader(root, file_.path, "the case file");
    ASSAY_TRY(reader.only({"kernel", "launch", "shape", "variants", "reference", "accuracy",
                           "allow", "expect", "arg"}));
    ASSAY_TRY(kernel(reader));
    ASSAY_TRY(shape(reader));
    ASSAY_TRY(arguments(reader));
    ASSAY_TRY(launches(reader));
    ASSAY_TRY(reference(reader));
    ASSAY_TRY(allow(reader));
    ASSAY_TRY(expect(reader));
    return std::move(file_);
  }

private:
  Result<void> kernel(const TomlReader& root) {
    Result<const toml::table*> table = root.table("kernel");
    if (!table) return table.error();
    if (!*table)
      return usage_error("a case file needs kernel = {file = \"…\", entry = \"…\"}",
                         {file_.path, 1, 1});
    TomlReader reader(**table, file_.path, "kernel");
    ASSAY_TRY(reader.only({"file", "source", "entry", "arch", "flags"}));
    ASSAY_TRY(reader.text("file", file_.source));
    ASSAY_TRY(reader.text("source", file_.origin));
    ASSAY_TRY(reader.text("entry", file_.entry));
    ASSAY_TRY(reader.text("arch", file_.arch));
    ASSAY_TRY(reader.texts("flags", file_.flags));
    if (file_.source.empty()) return usage_error("kernel needs a file", reader.span());
    if (!file_.origin.empty() && !file_.source.ends_with(".ptx"))
      return reader.wrong(*reader.get("source"),
                          "'source' says what a .ptx file was compiled from");
    file_.source_span = reader.span(*reader.get("file"));
    return {};
  }

  Result<void> symbols(const TomlReader& reader, const toml::table& table, Symbols& out) {
    for (auto&& [key, node] : table) {
      if (key.str() == "fixed") {
        if (!node.is_boolean()) return reader.wrong(node, "'fixed' must be true or false");
        continue;
      }
      if (!node.is_integer())
        return reader.wrong(node,
                            fmt::format("the shape symbol '{}' must be a whole number", key.str()));
      out[std::string(key.str())] = **node.as_integer();
    }
    return {};
  }

  Result<void> shape(const TomlReader& root) {
    Result<const toml::table*> table = root.table("shape");
    if (!table) return table.error();
    if (*table) ASSAY_TRY(symbols(root, **table, file_.shape));
    const toml::node* variants = root.get("variants");
    if (!variants) return {};
    if (!variants->is_array())
      return root.wrong(*variants, "'variants' must be an array of tables");
    std::vector<std::string> names;
    for (const auto& [name, value] : file_.shape) names.push_back(name);
    for (const toml::node& item : *variants->as_array()) {
      if (!item.is_table()) return root.wrong(item, "a variant must be a table such as {cols = 1}");
      TomlReader reader(*item.as_table(), file_.path, "a variant");
      ASSAY_TRY(reader.only(names));
      Symbols variant;
      ASSAY_TRY(symbols(root, *item.as_table(), variant));
      file_.variants.push_back(std::move(variant));
    }
    return {};
  }

  Result<void> arguments(const TomlReader& root) {
    const toml::node* node = root.get("arg");
    if (!node) return {};
    if (!node->is_array()) return root.wrong(*node, "arguments are written as [[arg]] tables");
    std::set<std::string> seen;
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table()) return root.wrong(item, "arguments are written as [[arg]] tables");
      Result<CaseArgument> argument = one_argument(*item.as_table(), false);
      if (!argument) return argument.error();
      const std::string& name = argument->fixed.name;
      if (name.empty()) return root.wrong(item, "an argument needs a name");
      if (!seen.insert(name).second)
        return root.wrong(item, fmt::format("two arguments are called '{}'", name));
      if (!argument->same.empty() && !seen.count(argument->same))
        return root.wrong(
            item, fmt::format("'{}' is the same as '{}', which no argument before it is called",
                              name, argument->same));
      file_.arguments.push_back(std::move(*argument));
    }
    return {};
  }

  Result<CaseArgument> one_argument(const toml::table& table, bool field) {
    TomlReader reader(table, file_.path, field ? "a field" : "[[arg]]");
    std::vector<std::string> keys = {"name",   "kind",   "dtype",   "shape", "strides",
                                     "family", "domain", "written", "align", "value",
                                     "file",   "fill",   "same",    "size",  "offset",
                                     "fields", "func",   "want",    "ulp",   "within"};
    if (Result<void> tried = reader.only(keys); !tried) return tried.error();
    CaseArgument out;
    out.fixed.span = reader.span();
    std::string kind = field ? "scalar" : "";
    if (Result<void> tried = basics(reader, kind, out); !tried) return tried.error();
    out.fixed.text = out.fixed.name;
    if (!out.same.empty()) {
      out.fixed.role = Role::same;
      return out;
    }
    if (!out.fixed.function.empty()) {
      out.fixed.role = Role::function;
      return out;
    }
    auto role = kRoles.find(kind);
    if (role == kRoles.end()) {
      std::vector<std::string> names;
      for (const auto& [word, value] : kRoles) names.push_back(word);
      std::string known = join(names, ", ");
      if (kind.empty()) return usage_error("an argument needs a kind: " + known, reader.span());
      return reader.wrong(*reader.get("kind"), fmt::format("unknown kind '{}'{} (kinds: {})", kind,
                                                           did_you_mean(kind, names), known));
    }
    out.fixed.role = role->second;
    Result<void> done = out.fixed.is_buffer()          ? buffer(reader, out)
                        : role->second == Role::scalar ? scalar(reader, out)
                                                       : structure(reader, table, out);
    if (!done) return done.error();
    return out;
  }

  Result<void> basics(const TomlReader& reader, std::string& kind, CaseArgument& out) {
    std::string dtype;
    ASSAY_TRY(reader.text("name", out.fixed.name));
    ASSAY_TRY(reader.text("kind", kind));
    ASSAY_TRY(reader.text("dtype", dtype));
    ASSAY_TRY(reader.text("same", out.same));
    ASSAY_TRY(reader.text("func", out.fixed.function));
    ASSAY_TRY(reader.quantity("offset", out.offset));
    ASSAY_TRY(reader.quantity("size", out.size));
    ASSAY_TRY(reader.quantity("value", out.value));
    ASSAY_TRY(reader.quantities("shape", out.shape));
    ASSAY_TRY(reader.quantities("strides", out.strides));
    if (dtype.empty()) return {};
    Result<inputs::DType> type = inputs::dtype_from(dtype, reader.span(*reader.get("dtype")));
    if (!type) return type.error();
    out.fixed.dtype = *type;
    return {};
  }

  Result<void> buffer(const TomlReader& reader, CaseArgument& out) {
    std::string family = "auto", domain, written, path;
    ASSAY_TRY(reader.text("family", family));
    ASSAY_TRY(reader.text("domain", domain));
    ASSAY_TRY(reader.text("written", written));
    ASSAY_TRY(reader.text("file", path));
    auto at = [&](const char* key) { return reader.span(*reader.get(key)); };
    bool reads = out.fixed.role == Role::in || out.fixed.role == Role::inout;
    if (out.value)
      return usage_error("a buffer takes a family or a file, not a value", out.value->span);
    if (!path.empty()) {
      out.fixed.span = at("file");
      std::string folder = std::filesystem::path(file_.path).parent_path().string();
      ASSAY_TRY(load_content(out.fixed, path_in(folder, path)));
    } else if (reads) {
      if (!out.fixed.dtype)
        return usage_error(fmt::format("'{}' needs a dtype", out.fixed.name), reader.span());
      out.fixed.content = Argument::Content::family;
      Result<inputs::Family> parsed =
          inputs::family_from(family, reader.get("family") ? at("family") : reader.span());
      if (!parsed) return parsed.error();
      out.fixed.family = *parsed;
    }
    if (!domain.empty()) {
      Result<inputs::Domain> parsed = inputs::domain_from(domain, at("domain"));
      if (!parsed) return parsed.error();
      out.fixed.domain = *parsed;
    }
    if (!written.empty() && written != "full" && written != "partial")
      return usage_error("'written' is \"full\" or \"partial\"", at("written"));
    out.fixed.written = written == "partial" ? Written::partial : Written::full;
    ASSAY_TRY(fill(reader, out));
    ASSAY_TRY(want(reader, out));
    return align(reader, out);
  }

  // want = "FILE", with ulp = K or within = D for floats: what the buffer holds in the end.
  Result<void> want(const TomlReader& reader, CaseArgument& out) {
    std::string path;
    ASSAY_TRY(reader.text("want", path));
    const toml::node *ulp = reader.get("ulp"), *within = reader.get("within");
    if (path.empty()) {
      const toml::node* alone = ulp ? ulp : within;
      return alone ? reader.wrong(*alone, "'ulp' and 'within' say how close 'want' is to be met")
                   : Result<void>();
    }
    Argument content;
    content.dtype = out.fixed.dtype;
    content.span = reader.span(*reader.get("want"));
    std::string folder = std::filesystem::path(file_.path).parent_path().string();
    ASSAY_TRY(load_content(content, path_in(folder, path)));
    if (!content.dtype) return usage_error("'want' needs the buffer's dtype", content.span);
    Values& values = out.want.emplace();
    values.type = *content.dtype;
    values.data = std::move(content.data);
    values.span = content.span;
    if (ulp) {
      if (!ulp->is_integer() || **ulp->as_integer() < 0)
        return reader.wrong(*ulp, "'ulp' is a number of representable values");
      values.ulp = uint64_t(**ulp->as_integer());
    }
    if (within) {
      values.within = within->value<double>().value_or(-1);
      if (!(values.within >= 0)) return reader.wrong(*within, "'within' is a distance in value");
    }
    if ((ulp || within) && !inputs::is_float(values.type))
      return reader.wrong(ulp ? *ulp : *within, "integers are compared bit for bit");
    return {};
  }

  // fill = BYTE: memory that is initialised though nobody wrote an input for it.
  Result<void> fill(const TomlReader& reader, CaseArgument& out) {
    std::optional<Quantity> byte;
    ASSAY_TRY(reader.quantity("fill", byte));
    if (!byte) return {};
    Result<int64_t> value = evaluate(byte->text, {}, byte->span);
    if (!value) return value.error();
    if (*value < 0 || *value > 255 || out.fixed.content != Argument::Content::poison)
      return usage_error("'fill' is one byte (0 to 255) for a buffer that is neither in nor a file",
                         byte->span);
    out.fixed.content = Argument::Content::data;
    out.fixed.data.assign(1, uint8_t(*value)); // instantiate() repeats it
    return {};
  }

  Result<void> align(const TomlReader& reader, CaseArgument& out) {
    const toml::node* node = reader.get("align");
    if (!node) return {};
    int64_t value = node->is_integer() ? **node->as_integer() : 0;
    if (value < 1 || value > 256 || (value & (value - 1)))
      return reader.wrong(*node, "'align' is a power of two from 1 to 256");
    out.fixed.align = uint32_t(value);
    return {};
  }

  Result<void> scalar(const TomlReader& reader, CaseArgument& out) {
    if (!out.fixed.dtype) return usage_error("a scalar needs a dtype", reader.span());
    if (!out.value) return usage_error("a scalar needs a value", reader.span());
    return {};
  }

  Result<void> structure(const TomlReader& reader, const toml::table& table, CaseArgument& out) {
    if (!out.size) return usage_error("a struct needs a size in bytes", reader.span());
    const toml::node* fields = table.get("fields");
    if (!fields) return {};
    if (!fields->is_array()) return reader.wrong(*fields, "'fields' must be an array of tables");
    for (const toml::node& item : *fields->as_array()) {
      if (!item.is_table()) return reader.wrong(item, "a field must be a table");
      Result<CaseArgument> value = one_argument(*item.as_table(), true);
      if (!value) return value.error();
      if (value->fixed.role == Role::structure)
        return reader.wrong(item, "a field cannot be a struct");
      if (!value->offset) return reader.wrong(item, "a field needs an offset");
      CaseArgument::Field field{*value->offset, std::move(*value)};
      field.value.offset.reset();
      out.fields.push_back(std::move(field));
    }
    return {};
  }

  Result<void> launches(const TomlReader& root) {
    const toml::node* node = root.get("launch");
    if (!node)
      return usage_error("a case file needs launch = {grid = […], block = […]}",
                         {file_.path, 1, 1});
    std::vector<const toml::table*> tables;
    if (node->is_table()) tables.push_back(node->as_table());
    if (node->is_array())
      for (const toml::node& item : *node->as_array())
        if (item.is_table()) tables.push_back(item.as_table());
    if (tables.empty())
      return root.wrong(*node, "'launch' must be a table, or several [[launch]] tables");
    for (const toml::table* table : tables) ASSAY_TRY(one_launch(*table));
    return {};
  }

  Result<void> one_launch(const toml::table& table) {
    TomlReader reader(table, file_.path, "launch");
    ASSAY_TRY(reader.only({"entry", "grid", "block", "cluster", "shared", "cooperative",
                           "programmatic", "name", "stream", "after", "args"}));
    CaseLaunch launch;
    launch.span = reader.span();
    ASSAY_TRY(reader.text("entry", launch.entry));
    ASSAY_TRY(reader.quantities("grid", launch.grid));
    ASSAY_TRY(reader.quantities("block", launch.block));
    ASSAY_TRY(reader.quantities("cluster", launch.cluster));
    ASSAY_TRY(reader.quantity("shared", launch.shared));
    ASSAY_TRY(reader.flag("cooperative", launch.cooperative));
    ASSAY_TRY(reader.flag("programmatic", launch.programmatic));
    ASSAY_TRY(reader.text("name", launch.name));
    ASSAY_TRY(reader.text("stream", launch.stream));
    ASSAY_TRY(reader.texts("after", launch.after));
    ASSAY_TRY(reader.texts("args", launch.arguments));
    if (launch.grid.empty() || launch.block.empty())
      return usage_error("a launch needs a grid and a block", launch.span);
    std::vector<std::string> names;
    for (const CaseArgument& argument : file_.arguments) names.push_back(argument.fixed.name);
    for (const std::string& name : launch.arguments)
      if (std::find(names.begin(), names.end(), name) == names.end())
        return usage_error(
            fmt::format("no [[arg]] is called '{}'{}", name, did_you_mean(name, names)),
            launch.span);
    file_.launches.push_back(std::move(launch));
    return {};
  }

  Result<void> reference(const TomlReader& root) {
    Result<const toml::table*> table = root.table("reference");
    if (!table) return table.error();
    if (*table) {
      TomlReader reader(**table, file_.path, "reference");
      ASSAY_TRY(reader.only({"spec", "file", "entry", "flags", "python"}));
      file_.has_reference = true;
    }
    Result<const toml::table*> accuracy = root.table("accuracy");
    if (!accuracy) return accuracy.error();
    if (!*accuracy) return {};
    return TomlReader(**accuracy, file_.path, "accuracy").only({"functions", "accumulate"});
  }

  Result<void> allow(const TomlReader& root) {
    Result<const toml::table*> table = root.table("allow");
    if (!table) return table.error();
    if (!*table) return {};
    TomlReader reader(**table, file_.path, "allow");
    std::vector<std::string> kinds = {"fp-atomic-order", "cta-order", "residency",
                                      "vector-atomicity", "value-race"};
    ASSAY_TRY(reader.only(kinds));
    for (const std::string& kind : kinds) {
      std::string reason;
      ASSAY_TRY(reader.text(kind, reason));
      if (reader.get(kind) && reason.empty())
        return reader.wrong(*reader.get(kind), fmt::format("allowing '{}' needs a reason", kind));
      if (!reason.empty()) file_.allow[kind] = reason;
    }
    return {};
  }

  Result<void> expect(const TomlReader& root) {
    Result<const toml::table*> table = root.table("expect");
    if (!table) return table.error();
    if (!*table) return {};
    TomlReader reader(**table, file_.path, "expect");
    ASSAY_TRY(reader.only({"verdict", "kinds", "proved"}));
    std::vector<std::string> kinds;
    Expectation& out = file_.expectation;
    ASSAY_TRY(reader.text("verdict", out.verdict));
    ASSAY_TRY(reader.texts("kinds", kinds));
    ASSAY_TRY(reader.flag("proved", out.proved));
    std::string verdict = out.verdict;
    std::vector<std::string> verdicts = {"pass", "fail", "unknown"};
    if (!verdict.empty() && std::find(verdicts.begin(), verdicts.end(), verdict) == verdicts.end())
      return reader.wrong(*reader.get("verdict"), "'verdict' is pass, fail or unknown");
    std::map<std::string, uint32_t> marks;
    if (!file_.origin.empty()) {
      std::string folder = std::filesystem::path(file_.path).parent_path().string();
      Result<std::string> text = read_file(path_in(folder, file_.origin));
      if (!text) return text.error();
      marks = marks_of_source(*text, file_.origin);
    }
    for (const std::string& kind : kinds)
      ASSAY_TRY(parse_expectation(kind, marks, reader.span(*reader.get("kinds")), out));
    if (!verdict.empty()) out.verdict = verdict;
    out.present = out.kinds_only = true;
    return {};
  }

  CaseFile file_;
};

} // namespace

Result<CaseFile> parse_case_file(const std::string& text, const std::string& path) {
  try { // toml++ reports syntax errors by exception
    return CaseReader(path).run(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    return usage_error(std::string(error.description()), {path, uint32_t(error.source().begin.line),
                                                          uint32_t(error.source().begin.column)});
  }
}

} // namespace assay::cases
