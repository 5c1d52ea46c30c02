// The kinds of faults, one function each: it looks at a site and adds what it can plant there.
#pragma once

#include "mutate/edit.hpp"

namespace assay::mutate {

// barriers.cpp
void barrier_deleted(const Site& site, Faults& out);
void warp_barrier_deleted(const Site& site, Faults& out);
void barrier_moved(const Site& site, Faults& out);
void barrier_out_of_loop(const Site& site, Faults& out);
void barrier_narrowed(const Site& site, Faults& out);
// fences.cpp
void fence_dropped(const Site& site, Faults& out);
void fence_narrowed(const Site& site, Faults& out);
void fence_weakened(const Site& site, Faults& out);
// strong.cpp
void scope_narrowed(const Site& site, Faults& out);
void order_weakened(const Site& site, Faults& out);
void access_made_weak(const Site& site, Faults& out);
// masks.cpp
void mask_shrunk(const Site& site, Faults& out);
// waits.cpp
void wait_count(const Site& site, Faults& out);
void wait_dropped(const Site& site, Faults& out);
void commit_dropped(const Site& site, Faults& out);
void parity_flipped(const Site& site, Faults& out);
void grid_wait_dropped(const Site& site, Faults& out);
void grid_launch_dropped(const Site& site, Faults& out);
// accesses.cpp
void write_aliased(const Site& site, Faults& out);
void atomic_made_plain(const Site& site, Faults& out);
void atomic_taken_apart(const Site& site, Faults& out);

} // namespace assay::mutate
