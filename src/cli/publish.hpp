// The reports that go to files: --html, --sarif, --junit, --svg.
#pragma once

#include "cli/acceptance.hpp"
#include "cli/session.hpp"
#include "report/document.hpp"

namespace assay::cli {

Result<void> publish(const Session& session, report::Document document);

// The end of a command with one target: remarks go to its last verdict, baseline and reports to
// files.
Result<void> close_report(const Session& session, const Acceptance& acceptance,
                          const std::string& command, const std::string& target,
                          std::vector<report::Verdict>& verdicts);

// The end of such a command when the case could not be prepared, or a later step failed: the
// reports say so too. A baseline stays as it is. Gives the exit code.
int fail_report(const Error& error, const Session& session, const std::string& command,
                const std::string& target, const std::vector<report::Verdict>& verdicts = {});

report::Row row_of(const std::string& target, const Error& error);
// A case's row from its verdicts: the first that is not as it should be speaks for all. `verify`:
// that is what the case expects.
report::Row row_of(const std::string& target, const std::vector<report::Verdict>& verdicts,
                   bool verify);

} // namespace assay::cli
