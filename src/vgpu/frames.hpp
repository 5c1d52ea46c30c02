// Register frames of a warp whose lanes are in different calls. Lanes share a frame's slots by
// columns; a column lies elsewhere for each width, so lanes that run apart may share the frame of
// one function, never overlap with the frame of another.
#pragma once

#include "vgpu/warp.hpp"

#include <algorithm>

namespace assay::vgpu {

// Do both parts of a warp stand in the same calls, so that they can become one?
inline bool same_frames(const Group& a, const Group& b) {
  if (a.function != b.function || a.regs_base != b.regs_base || a.local_base != b.local_base ||
      a.frames.size() != b.frames.size())
    return false;
  for (size_t i = 0; i < a.frames.size(); ++i)
    if (a.frames[i].return_pc != b.frames[i].return_pc ||
        a.frames[i].regs_base != b.frames[i].regs_base)
      return false;
  return true;
}

// Where other lanes that `g` shares its frame with have those of the same call, if they are in it.
inline bool same_call(const Group& o, const Group& g, uint32_t function, uint32_t return_pc,
                      uint32_t& place) {
  const size_t depth = g.frames.size();
  if (o.frames.size() <= depth || o.frames[depth].return_pc != return_pc ||
      o.frames[depth].regs_base != g.regs_base)
    return false;
  for (size_t i = 0; i < depth; ++i)
    if (o.frames[i].return_pc != g.frames[i].return_pc ||
        o.frames[i].regs_base != g.frames[i].regs_base)
      return false;
  const bool innermost = o.frames.size() == depth + 1;
  place = innermost ? o.regs_base : o.frames[depth + 1].regs_base;
  return (innermost ? o.function : o.frames[depth + 1].function) == function;
}

// Where the registers of `function` go when `g` calls it: where they are of lanes that made this
// call before it, since only in one place can both become one again; else behind the caller's,
// unless other lanes are in another function there; then behind everybody's.
inline uint32_t frame_place(const ir::Program& program, const Warp& w, const Group& g,
                            uint32_t function, uint32_t return_pc) {
  for (const Group& o : w.groups)
    if (uint32_t place;
        &o != &g && o.state != GroupState::dead && same_call(o, g, function, return_pc, place))
      return place;
  uint32_t base = g.regs_base + program.functions[g.function].slots, top = base;
  uint32_t end = base + program.functions[function].slots;
  bool free = true;
  auto look = [&](uint32_t other, uint32_t at) {
    uint32_t other_end = at + program.functions[other].slots;
    top = std::max(top, other_end);
    if (at < end && base < other_end && (at != base || other != function)) free = false;
  };
  for (const Group& o : w.groups) {
    if (&o == &g || o.state == GroupState::dead) continue;
    look(o.function, o.regs_base);
    for (const Frame& f : o.frames) look(f.function, f.regs_base);
  }
  return free ? base : top;
}

} // namespace assay::vgpu
