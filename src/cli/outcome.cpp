// What a case says of its buffers, decided from the outcome of the first run: outputs written in
// full, inputs left alone, wanted values, and that the kernel does anything at all.
#include "cli/judge.hpp"
#include "cli/places.hpp"
#include "report/kinds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace assay::cli {
namespace {

bool bit(const std::vector<uint8_t>& bits, uint64_t i) {
  return i / 8 < bits.size() && bits[i / 8] >> (i % 8) & 1;
}

class OutcomeJudge {
public:
  OutcomeJudge(const Judgement& judgement, const explore::Report& explored,
               report::Verdict& verdict)
      : judgement_(judgement), explored_(explored), outcome_(explored.first), verdict_(verdict) {}

  void run() {
    inputs();
    if (!outcome_.completed) return;
    bool touched = true;
    for (const vgpu::LaunchSpec& launch : judgement_.subject.job.launches)
      touched = touched && (touches_memory(*launch.program) ||
                            (judgement_.subject.buffers.empty() && meets(*launch.program)));
    if (!touched) {
      add("empty-kernel", true, "the kernel accesses no memory at all");
      return; // every output is unwritten, which is the same defect
    }
    outputs();
    wants();
  }

private:
  // A finding when it decides here, else a note.
  void add(const std::string& kind, bool finding, const std::string& message,
           std::vector<report::Location> locations = {}, const std::string& space = "") {
    if (!finding) {
      verdict_.notes.push_back({kind, message, std::move(locations), space});
      return;
    }
    report::Finding out;
    out.kind = kind;
    out.message = message;
    out.locations = std::move(locations);
    out.space = space;
    if (const report::Kind* row = report::find_kind(kind)) out.help = row->fix;
    verdict_.findings.push_back(std::move(out));
  }

  static bool touches_memory(const ir::Program& program) {
    for (const ir::MemInfo& info : program.mem)
      if (info.space != ptx::Space::param_entry && info.space != ptx::Space::param &&
          info.space != ptx::Space::local)
        return true;
    return false;
  }

  // Tests of barriers alone are given no buffer, and are complete without one.
  static bool meets(const ir::Program& program) {
    return std::any_of(program.ops.begin(), program.ops.end(), [](const ir::Op& op) {
      return op.code == ir::OpCode::bar || op.code == ir::OpCode::bar_warp_sync ||
             op.code == ir::OpCode::vprintf;
    });
  }

  // `in` buffers that some thread stored to. The engine notes the first store to each.
  void inputs() {
    for (const explore::Finding& found : explored_.notes) {
      if (found.kind != "input-modified") continue;
      std::vector<report::Location> places;
      for (const vgpu::Place& place : found.places)
        places.push_back(place_of(judgement_.subject, place));
      std::string name = places.empty() ? "an input" : places[0].buffer;
      bool declared = false;
      for (const cases::BufferInfo& info : judgement_.subject.buffers)
        declared = declared || (info.name == name && info.declared);
      std::string text = places.empty() ? found.message
                                        : fmt::format("{} writes to the input {} at {}",
                                                      who(places[0]), name, where(places[0]));
      add("input-modified", declared && judgement_.command == Command::check, text, places,
          "global");
    }
  }

  void outputs() {
    const auto& buffers = judgement_.subject.buffers;
    for (size_t i = 0; i < buffers.size() && i < outcome_.initialised.size(); ++i) {
      const cases::BufferInfo& info = buffers[i];
      if (info.role != cases::Role::out || info.written == cases::Written::partial) continue;
      if (!judgement_.subject.job.buffers[i].data.empty()) continue; // initialised by the user
      uint64_t size = judgement_.subject.job.buffers[i].bytes, missing = 0, first = 0;
      for (uint64_t k = size; k-- > 0;)
        if (!bit(outcome_.initialised[i], k)) {
          ++missing;
          first = k;
        }
      if (missing == 0) continue;
      add("unwritten-output", judgement_.command == Command::check,
          fmt::format(
              "{} of the {} bytes of the output {} were never written; the first is byte {}",
              missing, size, info.name, first));
    }
  }

  void wants() {
    for (const cases::Want& want : judgement_.subject.wants) {
      verdict_.coverage.values_compared = true;
      const std::vector<uint8_t>& have = outcome_.memory[want.buffer];
      size_t step = want.type ? inputs::bytes(*want.type) : 1;
      uint64_t wrong = 0;
      report::Finding out;
      const std::string& name = judgement_.subject.buffers[want.buffer].name;
      for (size_t at = 0; at < want.data.size(); at += step) {
        size_t n = std::min(step, want.data.size() - at);
        if (right(want, have.data() + at, want.data.data() + at, n)) continue;
        if (++wrong > 3) continue;
        out.differing.push_back(
            {name, at, value_text(want.type, have.data() + at, n) + unwritten(want.buffer, at),
             value_text(want.type, want.data.data() + at, n)});
      }
      if (wrong == 0) continue;
      out.kind = "wrong-value";
      out.message = fmt::format(
          "{} of {} elements of {} differ from what is wanted ({}); the first is element {}: "
          "{} instead of {}",
          wrong, (want.data.size() + step - 1) / step, name, want.source,
          out.differing[0].offset / step, out.differing[0].a, out.differing[0].b);
      out.details.push_back(
          "of each pair below the first is what the kernel left, the second what is wanted");
      verdict_.findings.push_back(std::move(out));
    }
  }

  std::string unwritten(uint32_t buffer, uint64_t offset) const {
    const auto& init = outcome_.initialised[buffer];
    return init.empty() || bit(init, offset) ? "" : ", never written";
  }

  static bool right(const cases::Want& want, const uint8_t* have, const uint8_t* wanted, size_t n) {
    if (std::memcmp(have, wanted, n) == 0) return true;
    if (!want.type || !inputs::is_float(*want.type) || n != inputs::bytes(*want.type)) return false;
    int64_t a = place(*want.type, have, n), b = place(*want.type, wanted, n);
    if (a == INT64_MIN && is_any_nan(*want.type, wanted, n)) return true;
    if (!want.ulp && want.within == 0) return false;
    if (a == INT64_MIN || b == INT64_MIN) return false; // NaN: bits must agree
    if (want.within > 0 &&
        std::abs(number(*want.type, have, n) - number(*want.type, wanted, n)) <= want.within)
      return true;
    uint64_t distance = a > b ? uint64_t(a) - uint64_t(b) : uint64_t(b) - uint64_t(a);
    return distance <= want.ulp;
  }

  // `nan` in an expectation: the quiet NaN without payload, which no operation of the GPU makes,
  // stands for any.
  static bool is_any_nan(inputs::DType type, const uint8_t* bytes, size_t n) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, n);
    uint64_t infinity = inputs::infinity(type);
    return bits == (infinity | ((infinity & (0 - infinity)) >> 1));
  }

  static double number(inputs::DType type, const uint8_t* bytes, size_t n) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, n);
    return inputs::decode(type, bits);
  }

  // A value's place in the order of its type's values; INT64_MIN for NaN.
  static int64_t place(inputs::DType type, const uint8_t* bytes, size_t n) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, n);
    uint64_t magnitude = bits & (inputs::sign_bit(type) - 1);
    if (magnitude > inputs::infinity(type)) return INT64_MIN;
    return bits & inputs::sign_bit(type) ? -int64_t(magnitude) : int64_t(magnitude);
  }

  const Judgement& judgement_;
  const explore::Report& explored_;
  const vgpu::Outcome& outcome_;
  report::Verdict& verdict_;
};

} // namespace

void judge_outcome(const Judgement& judgement, const explore::Report& explored,
                   report::Verdict& verdict) {
  OutcomeJudge(judgement, explored, verdict).run();
}

} // namespace assay::cli
