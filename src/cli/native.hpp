// What `run` and `determinism --executor native` share: starting a command with the injection
// library, and printing what was found.
#pragma once

#include "cli/session.hpp"
#include "native/parent.hpp"

namespace assay::cli {

// Errors: environment when the injection library or the sanitizer's library is missing.
Result<native::Started> run_watched(const std::vector<std::string>& command,
                                    native::Options options);

// The same as a page (run --html).
std::string native_page(const native::Started& started, const std::vector<std::string>& remarks,
                        const std::string& command);

// The reports and remarks, for people or as JSON, and the exit code.
int print_reports(const native::Started& started, bool json, bool quiet);

// The case of the session's target, variant after variant, each run in a process of its own.
int native_determinism(const Session& session);

} // namespace assay::cli
