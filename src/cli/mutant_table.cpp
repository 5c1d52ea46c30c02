// Mutants for people and for programs; see mutants.hpp.
#include "base/text.hpp"
#include "cli/mutants.hpp"
#include "cli/places.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

struct Row {
  size_t mutants = 0, near = 0, same_bytes = 0;
  size_t states[kMutantStates] = {};
  double seconds = 0, slowest = 0;

  void add(const Mutant& mutant) {
    ++mutants;
    ++states[size_t(mutant.state)];
    near += mutant.state == MutantState::found && mutant.distance != "elsewhere";
    same_bytes += mutant.state == MutantState::found && mutant.same_bytes;
    seconds += mutant.seconds;
    slowest = std::max(slowest, mutant.seconds);
  }
  size_t of(MutantState state) const { return states[size_t(state)]; }
  std::string text(const std::string& name) const {
    using S = MutantState;
    return fmt::format("{:<22} {:>7} {:>6} {:>6} {:>10} {:>7} {:>11} {:>11} {:>11} {:>8} {:>8} "
                       "{:>8.1f} {:>8.2f}\n",
                       name, mutants, of(S::found), near, same_bytes, of(S::proved),
                       of(S::both_orders), of(S::not_reached), of(S::unsettled), of(S::unknown),
                       of(S::invalid), seconds, slowest);
  }
};

bool open(const Mutant& m) {
  return m.state == MutantState::unsettled || m.state == MutantState::unknown;
}

nlohmann::ordered_json json_of(const Row& row) {
  using S = MutantState;
  return {{"mutants", row.mutants},
          {"found", row.of(S::found)},
          {"found_near", row.near},
          {"found_same_bytes", row.same_bytes},
          {"proved", row.of(S::proved)},
          {"both_orders", row.of(S::both_orders)},
          {"not_reached", row.of(S::not_reached)},
          {"not_settled", row.of(S::unsettled)},
          {"unknown", row.of(S::unknown)},
          {"invalid", row.of(S::invalid)},
          {"seconds", row.seconds}};
}

} // namespace

std::string mutant_line(const Mutant& m) {
  std::string kinds =
      m.kinds.empty() ? "" : fmt::format(" ({}, {})", join(m.kinds, ", "), m.distance);
  std::string detail = m.kinds.empty() && !m.detail.empty() ? ": " + m.detail : "";
  return fmt::format("{:<11} {:<20} {} (PTX line {}): {} -> {}{}{} [{:.2f} s] {}\n",
                     state_name(m.state), m.fault.kind, where(m.place), m.fault.position.line,
                     m.fault.before, m.fault.after, kinds, detail, m.seconds, m.subject);
}

std::string mutant_table(const std::vector<Mutant>& mutants, const report::Style& style) {
  std::string out;
  for (const Mutant& m : mutants)
    if (style.verbose || open(m)) out += mutant_line(m);
  if (!out.empty()) out += "\n";
  Row all;
  std::string rows;
  for (const mutate::FaultKind& kind : mutate::fault_kinds()) {
    Row row;
    for (const Mutant& m : mutants)
      if (m.fault.kind == kind.name) row.add(m);
    if (row.mutants) rows += row.text(kind.name);
  }
  for (const Mutant& m : mutants) all.add(m);
  if (!style.quiet)
    out +=
        fmt::format(
            "{:<22} {:>7} {:>6} {:>6} {:>10} {:>7} {:>11} {:>11} {:>11} {:>8} {:>8} {:>8} {:>8}\n",
            "fault", "mutants", "found", "near", "same bytes", "proved", "both orders",
            "not reached", "not settled", "unknown", "invalid", "seconds", "slowest") +
        rows + all.text("all") + "\n";
  using S = MutantState;
  size_t settled = all.of(S::proved) + all.of(S::both_orders) + all.of(S::not_reached);
  return out +
         fmt::format("{} mutants: {} found, {} settled as equal, {} not settled, {} invalid\n",
                     all.mutants, all.of(S::found), settled,
                     all.of(S::unsettled) + all.of(S::unknown), all.of(S::invalid));
}

std::string mutant_json(const std::vector<Mutant>& mutants, const LeftOut& left_out,
                        uint64_t seed) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array(), kinds;
  for (const Mutant& m : mutants)
    list.push_back({{"case", m.subject},
                    {"fault", m.fault.kind},
                    {"file", m.place.file},
                    {"line", m.place.line},
                    {"ptx_line", m.fault.position.line},
                    {"before", m.fault.before},
                    {"after", m.fault.after},
                    {"state", state_name(m.state)},
                    {"reached", m.reached},
                    {"kinds", m.kinds},
                    {"distance", m.distance},
                    {"same_bytes", m.state == MutantState::found && m.same_bytes},
                    {"detail", m.detail},
                    {"schedules", m.schedules},
                    {"seconds", m.seconds}});
  Row all;
  for (const Mutant& m : mutants) all.add(m);
  for (const mutate::FaultKind& kind : mutate::fault_kinds()) {
    Row row;
    for (const Mutant& m : mutants)
      if (m.fault.kind == kind.name) row.add(m);
    kinds[kind.name] = json_of(row);
  }
  nlohmann::ordered_json out = {{"schema", "assay/mutate/1"},
                                {"seed", seed},
                                {"left_out_by_limit", left_out.by_limit},
                                {"left_out_by_time", left_out.by_time},
                                {"all", json_of(all)},
                                {"kinds", kinds},
                                {"mutants", list}};
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace assay::cli
