// From what was explored to a verdict: severities by command, sentences, evidence, and the
// decisions that belong to a case (outputs, inputs, wanted values).
#pragma once

#include "cases/case.hpp"
#include "cli/session.hpp"
#include "explore/explore.hpp"
#include "report/verdict.hpp"

namespace assay::cli {

enum class Command : uint8_t { check, determinism, exec };

struct Judgement {
  const cases::Prepared& prepared;
  const cases::Case& subject;
  size_t variant = 0;
  Command command = Command::check;
  const Session& session;
};

// Writes traces of findings; the verdict's commands replay them.
report::Verdict judge(const Judgement& judgement, const explore::Report& explored);

// Adds unwritten-output, input-modified, empty-kernel and wrong-value (outcome.cpp).
void judge_outcome(const Judgement& judgement, const explore::Report& explored,
                   report::Verdict& verdict);

// The exploration's options by session and case.
explore::Options explore_options(const cases::Prepared& prepared, const Session& session);

// Compares with what the case's author expects and notes it in the verdict; true when met.
bool meets_expectation(const cases::Prepared& prepared, report::Verdict& verdict);

int exit_code(const report::Verdict& verdict);

// A buffer's element at `offset` as a value of its type, "0.5 (0x3f000000)"; bytes otherwise.
std::string value_text(const std::optional<inputs::DType>& type, const uint8_t* bytes,
                       size_t available);

} // namespace assay::cli
