// The files that a command is asked to write, before anything runs: no two are one file, none is a
// file that is read, and the folder of each is there. Nobody should lose a report, or a source, to
// a slip of the pen, or learn of it after the work.
#pragma once

#include "cli/session.hpp"

namespace assay::cli {

// Could a file of this name be written? An error says why not.
Result<void> can_be_written(const std::string& file);

// Reports, baselines and --out of the command line.
Result<void> check_outputs(const Session& session);

} // namespace assay::cli
