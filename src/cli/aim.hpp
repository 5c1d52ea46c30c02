// A witness aimed at a kernel that was changed since: the accesses of the trace's finding are
// looked for by the text of their lines, and both orders are tried there.
#pragma once

#include "cli/witness.hpp"

namespace assay::cli {

// The places of a trace's finding in another kernel.
struct Aim {
  schedule::Trace::Site site;
  bool found = false, changed = false; // changed: the line is only similar
  report::Location at;
  uint32_t launch = 0, pc = 0; // of an operation there
};
// By line text: equal but for blanks and comments; of several lines the one whose neighbours are
// the same, then the nearest. Moved lines are found; without an equal line the most similar one
// that does the same kind of access.
std::vector<Aim> aim(const cases::Case& subject, const std::vector<schedule::Trace::Site>& sites);

// replay TRACE --kernel FIXED [TARGET]: 0 gone, 1 still there, 3 the lines no longer exist.
int replay_on(const schedule::Trace& trace, const std::string& kernel, const Session& session);

} // namespace assay::cli
