// What a person has accepted: suppressions with reasons, and a baseline of what was there before.
// Such findings are shown, but do not count. Used by several threads at once while cases run.
#pragma once

#include "base/result.hpp"
#include "cases/suppressions.hpp"
#include "cli/session.hpp"
#include "report/verdict.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace assay::cli {

class Acceptance {
public:
  // Reads the files that the command line names.
  static Result<std::unique_ptr<Acceptance>> load(const Session& session);

  // Marks what is accepted and settles the verdict again: pass-with-suppressions when nothing else
  // fails.
  void apply(report::Verdict& verdict);

  // At the end: suppressions that met nothing, and what the baseline has that is gone.
  std::vector<std::string> remarks() const;
  // Writes the baseline that the command line asks for; what was found is added to `remarks`.
  Result<void> write(std::vector<std::string>& remarks) const;

private:
  struct Known { // a finding as a baseline keeps it
    std::string kind, space, subject, message;
    std::vector<std::string> functions, lines;
    uint64_t count = 0; // how often the text has it
  };
  using Counted = std::map<std::string, std::map<std::string, Known>>; // by fingerprint, by case
  explicit Acceptance(const Session& session) : session_(session) {}
  Result<void> read_baseline();
  std::string rule_for(const report::Finding& finding, const std::string& kernel);
  // How many findings of a fingerprint the baseline has for a case. One that it does not know at
  // all may have a new name: then the most that any case has.
  uint64_t allowed(const std::string& fingerprint, const std::string& subject) const;

  const Session& session_;
  mutable std::mutex mutex_;
  std::vector<cases::Suppression> rules_;
  std::vector<uint64_t> used_; // parallel to rules_
  Counted baseline_;
  std::set<std::string> judged_before_; // the baseline's cases, sound ones among them
  std::map<std::string, std::map<std::string, uint64_t>> seen_; // counts of this run
  std::set<std::string> judged_, settled_; // cases of this run, and those without "unknown"
  Counted found_;                          // what counts, for a new baseline
};

} // namespace assay::cli
