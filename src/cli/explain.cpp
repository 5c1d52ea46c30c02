// assay explain: what a kind of finding or note means, an example, the usual fix.
#include "base/text.hpp"
#include "cli/session.hpp"
#include "report/kinds.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sstream>

namespace assay::cli {
namespace {

std::string wrapped(std::string_view text, size_t width) {
  std::istringstream words{std::string(text)};
  std::string out, line, word;
  while (words >> word) {
    if (!line.empty() && line.size() + word.size() >= width) {
      out += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line + "\n";
}

std::string list() {
  std::string findings, notes;
  for (const report::Kind& kind : report::kinds())
    (kind.note ? notes : findings) += fmt::format("  {:<28} {}\n", kind.name, kind.title);
  return "Findings:\n" + findings + "\nNotes, which decide nothing:\n" + notes;
}

int explain(const std::string& code, const Session& session) {
  if (code.empty()) {
    print(list());
    return kPass;
  }
  const report::Kind* kind = report::find_kind(code);
  if (!kind) {
    std::vector<std::string> names;
    for (const report::Kind& known : report::kinds()) names.emplace_back(known.name);
    return fail(usage_error(fmt::format("there is no kind '{}'{} (assay explain lists them)", code,
                                        did_you_mean(code, names))),
                session);
  }
  std::string out =
      fmt::format("{}: {}\n\n{}", kind->name, kind->title, wrapped(kind->meaning, 100));
  if (!kind->example.empty()) out += fmt::format("\nExample:\n\n{}\n", kind->example);
  out += "\nUsual fix:\n\n" + wrapped(kind->fix, 100);
  print(out);
  return kPass;
}

} // namespace

void add_explain(CLI::App& app, Session& session, int& code) {
  CLI::App* command =
      app.add_subcommand("explain", "What a kind of finding means and how it is usually repaired");
  auto kind = std::make_shared<std::string>();
  command->add_option("code", *kind, "The kind, as in error[race]; without it: the list of all")
      ->type_name("CODE");
  command->callback([&session, &code, kind] { code = explain(*kind, session); });
}

} // namespace assay::cli
