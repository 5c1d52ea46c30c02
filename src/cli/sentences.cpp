// Sentences about findings; see sentences.hpp.
#include "cli/sentences.hpp"

#include "cli/places.hpp"
#include "report/kinds.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::cli {
namespace {

// "shared memory (byte 12)", "global memory (x, byte 12)".
std::string memory_of(const report::Location& location, const std::string& space) {
  if (space == "global" && !location.buffer.empty())
    return fmt::format("global memory ({}, byte {})", location.buffer, location.offset);
  return fmt::format("{} memory (byte {})", space, location.offset);
}

const char* verb(const race::AccessInfo& info) {
  if (info.atomic) return "atomically updates";
  return info.write ? "writes" : "reads";
}

const char* plural(const race::AccessInfo& info) {
  if (info.atomic) return "update";
  return info.write ? "write" : "read";
}

std::string_view kind_title(const std::string& kind) {
  const report::Kind* row = report::find_kind(kind);
  return row ? row->title : "";
}

} // namespace

const char* space_name(race::Space space) {
  return space == race::Space::shared ? "shared" : space == race::Space::local ? "local" : "global";
}

std::string space_of(const explore::Finding& found) {
  if (found.is_conflict) return space_name(found.conflict.space);
  for (const vgpu::Place& place : found.places) {
    if (!place.has_address) continue;
    bool shared = place.region.starts_with("shared"), local = place.region.starts_with("local");
    return shared ? "shared" : local ? "local" : "global";
  }
  return "";
}

std::string operation_of(const report::Location& location, const race::AccessInfo& info) {
  std::string how = info.nc                       ? " through the non-coherent path"
                    : info.strong && !info.atomic ? " (strong)"
                                                  : "";
  return fmt::format("{}{} {} byte{}{}", location.thread ? "" : "an asynchronous copy ", verb(info),
                     info.bytes, info.bytes == 1 ? "" : "s", how);
}

std::string conflict_sentence(const explore::Finding& found, const report::Finding& out) {
  const race::Conflict& c = found.conflict;
  if (out.locations.size() < 2) return found.message;
  const report::Location &a = out.locations[0], &b = out.locations[1];
  std::string memory = memory_of(a, out.space);
  if (c.kind == race::Conflict::Kind::same_instruction)
    return fmt::format(
        "{} and {} write different values to the same byte of {} in one instruction at {}; which "
        "value stays is undefined",
        who(a), who(b), memory, where(a));
  std::string second = who(b);
  if (a.thread && b.thread && c.first.grid == c.second.grid &&
      std::equal(a.thread->block, a.thread->block + 3, b.thread->block))
    second = second.substr(0, second.find(" of block")) + " of the same block";
  std::string text = fmt::format("{} {} {} at {} and {} {} it at {}", who(a), verb(c.first.info),
                                 memory, where(a), second, verb(c.second.info), where(b));
  if (found.missed && !out.missing_edge.empty())
    return text +
           (found.conflict.second.info.write
                ? ", but the first of these may take effect after the second, and after what its "
                  "thread does next: missing is "
                : ", but the read need not see what was written: missing is ") +
           out.missing_edge;
  if (found.kind == "nondeterministic")
    return text + ", and the order of the two changes the result";
  text += ", and nothing orders the two";
  return out.missing_edge.empty() || out.missing_edge.starts_with("none exists")
             ? text
             : text + ": missing is " + out.missing_edge;
}

std::string event_sentence(const explore::Finding& found, const report::Finding& out) {
  if (out.locations.empty()) return found.message;
  const report::Location& at = out.locations.front();
  if (found.kind == "nondeterministic" && out.locations.size() > 1) return found.message;
  std::string text = found.message.empty() ? at.operation : found.message;
  if (text.empty()) text = std::string(kind_title(found.kind));
  if (out.locations.size() > 1) return text;
  return at.thread ? fmt::format("{} at {}: {}", who(at), where(at), text)
                   : fmt::format("{}: {}", where(at), text);
}

std::string note_sentence(const explore::Finding& found, const report::Finding& out) {
  const bool value = found.kind == "value-race";
  const report::Location &a = out.locations[0], &b = out.locations[1];
  const race::AccessInfo &first = found.conflict.first.info, &second = found.conflict.second.info;
  std::string what = fmt::format("access one place in {} memory (one {}, the other {})", out.space,
                                 verb(first), verb(second));
  if (std::string_view(verb(first)) == verb(second))
    what = fmt::format("{} one place in {} memory", plural(first), out.space);
  if (value && first.write && second.write)
    what = "store the same bits to one place in " + out.space + " memory";
  return fmt::format("{} and {} {} at {} and {} without order; {}", who(a), who(b), what, where(a),
                     where(b),
                     value && !(first.write && second.write)
                         ? "what is written was there before, so that the read finds the same"
                     : value                    ? "the outcome cannot depend on it"
                     : !found.differing.empty() ? "the race found makes the difference"
                     : found.both_orders        ? "both orders left the same bytes"
                                                : "no difference was seen");
}

std::string cover_sentence(const explore::Finding& found, const report::Finding& out) {
  const race::Conflict& c = found.conflict;
  bool same_block = c.first.agent.cta == c.second.agent.cta;
  bool same_warp = same_block && c.first.agent.warp == c.second.agent.warp;
  std::string place = fmt::format("{} memory, byte {}", out.space, out.locations[0].offset);
  if (out.space == "global") place += " of " + out.locations[0].buffer;
  return fmt::format("{}; {}", place,
                     same_warp    ? "both accesses come from one warp"
                     : same_block ? "both accesses come from one block"
                     : c.first.grid != c.second.grid
                         ? "the accesses come from two launches that may overlap"
                         : "the accesses come from different blocks");
}

std::string orders_sentence(const explore::Finding& found) {
  if (found.one_order_impossible)
    return "only this order could be run: while the first access was held back, the second could "
           "not happen";
  if (!found.differing.empty()) return "";
  if (found.both_orders && explore::loses_updates(found.conflict))
    return "both orders were run and left the same bytes, but nothing makes the two atomic to each "
           "other: one update may be lost";
  if (found.both_orders && explore::defies_orders(found.conflict))
    return "both orders were run and left the same bytes, but the compiler may split, repeat or "
           "keep the plain access, which no order shows";
  return found.both_orders ? "both orders were run and left the same bytes"
                           : "only the observed order was run";
}

} // namespace assay::cli
