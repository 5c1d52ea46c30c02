// Options as a message; see options.hpp.
#include "native/options.hpp"

namespace assay::native {

Message to_message(const Options& o) {
  Message m{"options", {}};
  for (const std::string& name : o.selection.names) m.add("name", name);
  m.add("skip", o.selection.skip).add("count", o.selection.count);
  m.add("repeats", uint64_t(o.selection.repeats));
  const Settings& s = o.settings;
  m.add("plain", s.plain).add("perturbed", s.perturbed).add("cycles", s.cycles);
  m.add("probability", s.probability).add("blocks", s.delayed_blocks);
  m.add("conflicts", uint64_t(s.conflict_pass)).add("scrub", uint64_t(s.scrub)).add("seed", s.seed);
  m.add("varied", uint64_t(s.varied)).add("trace", s.trace_blocks).add("outside", s.outside);
  m.add("extra", s.extra).add("extra_ms", s.extra_ms);
  m.add("limit", s.limit_seconds).add("unquiet", s.most_unquiet);
  m.add("sanitizer", o.sanitizer).add("debug", uint64_t(o.debug));
  return m;
}

Options options_of(const Message& m) {
  Options o;
  o.selection.names = m.all("name");
  o.selection.skip = m.number("skip");
  o.selection.count = m.number("count");
  o.selection.repeats = m.number("repeats") != 0;
  Settings& s = o.settings;
  s.plain = uint32_t(m.number("plain"));
  s.perturbed = uint32_t(m.number("perturbed"));
  s.cycles = uint32_t(m.number("cycles"));
  s.probability = uint32_t(m.number("probability"));
  s.delayed_blocks = uint32_t(m.number("blocks"));
  s.conflict_pass = m.number("conflicts") != 0;
  s.scrub = m.number("scrub") != 0;
  s.seed = m.number("seed");
  s.varied = m.number("varied") != 0;
  s.trace_blocks = uint32_t(m.number("trace"));
  s.outside = uint32_t(m.number("outside"));
  s.extra = uint32_t(m.number("extra"));
  s.extra_ms = uint32_t(m.number("extra_ms"));
  s.limit_seconds = uint32_t(m.number("limit"));
  s.most_unquiet = uint32_t(m.number("unquiet"));
  o.sanitizer = m.get("sanitizer");
  o.debug = m.number("debug") != 0;
  return o;
}

} // namespace assay::native
