// Every kind of fault is planted, changes what it says and nothing else, and leaves legal PTX whose
// statements keep their places.
#include "mutate/fault.hpp"

#include <gtest/gtest.h>

namespace assay::mutate {
namespace {

constexpr const char* kText = R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) {
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 8 .b8 cell[64];
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, cell;
  st.shared.u32 [%r3], %r2;
  bar.sync 0;
  ld.shared.u32 %r4, [%r3+4];
LOOP:
  st.shared.u32 [%r3+8], %r4;
  bar.warp.sync -1;
  add.u32 %r1, %r1, -1;
  setp.ne.u32 %p1, %r1, 0;
  bar.sync 1, 64;
  @%p1 bra LOOP;
  bar.red.popc.u32 %r5, 0, !%p1;
  membar.gl;
  fence.acq_rel.sys;
  atom.acq_rel.gpu.global.add.u32 %r6, [%rd1], 1;
  @%p1 red.global.max.s32 [%rd1], %r6;
  atom.global.cas.b32 _, [%rd1], %r6, %r5;
  atom.global.inc.u32 %r7, [%rd1], %r6;
  atom.global.dec.u32 %r7, [%rd1], %r6;
  atom.shared.exch.b32 %r7, [%r3], %r6;
  ld.acquire.gpu.global.u32 %r8, [%rd1];
  st.release.sys.global.u32 [%rd1], %r8;
  ld.volatile.global.u32 %r9, [%rd1];
  shfl.sync.down.b32 %r10|%p2, %r9, 1, 31, -1;
  shfl.sync.down.b32 %r10, %r9, 1, 31, %r8;
  cp.async.ca.shared.global [%r3], [%rd1], 4;
  cp.async.commit_group;
  cp.async.wait_group 0;
  cp.async.wait_all;
  mbarrier.init.shared.b64 [%r3], %r1;
  mbarrier.arrive.shared.b64 %rd2, [%r3];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;
  @!%p3 bra WAIT;
  mbarrier.test_wait.parity.shared.b64 %p3, [%r3], %r1;
  griddepcontrol.wait;
  ld.global.u32 %r11, [%rd1];
  griddepcontrol.launch_dependents;
  @%p1 st.global.u32 [%rd1+4], %r10;
  ret;
}
)";

ptx::Module module() {
  Result<ptx::Module> parsed = ptx::parse(kText, "k.ptx");
  EXPECT_TRUE(parsed) << parsed.error().text();
  return std::move(*parsed);
}

Faults of(const std::string& kind) { return faults(module(), {}, {kind}); }

std::string planted(const Fault& fault) {
  Result<ptx::Module> mutant = plant(module(), fault);
  EXPECT_TRUE(mutant) << fault.kind << " " << fault.before << " -> " << fault.after << ": "
                      << mutant.error().text();
  return mutant ? ptx::print(*mutant) : "";
}

TEST(Mutate, EveryKindIsPlantedAndLegal) {
  const std::string sound = ptx::print(module());
  for (const FaultKind& kind : fault_kinds()) {
    Faults found = of(kind.name);
    EXPECT_FALSE(found.empty()) << kind.name;
    for (const Fault& fault : found) {
      EXPECT_EQ(fault.kind, kind.name);
      EXPECT_NE(planted(fault), sound) << kind.name;
      EXPECT_NE(fault.position.line, 0u);
    }
  }
}

struct Expected {
  const char *kind, *before, *after;
};

TEST(Mutate, SaysWhatItChanges) {
  const Expected rows[] = {
      {"barrier-deleted", "bar.sync 0", "deleted"},
      {"warp-barrier-deleted", "bar.warp.sync -1", "deleted"},
      {"barrier-moved", "bar.sync 0", "behind the next access"},
      {"barrier-moved", "bar.sync 0", "before the last access"},
      {"barrier-out-of-loop", "bar.sync 1, 64", "before the loop"},
      {"barrier-out-of-loop", "bar.warp.sync -1", "behind the loop"},
      {"barrier-narrowed", "bar.sync 1, 64", "bar.warp.sync -1"},
      {"fence-dropped", "membar.gl", "deleted"},
      {"fence-narrowed", "membar.gl", "membar.cta"},
      {"fence-narrowed", "fence.acq_rel.sys", "fence.acq_rel.gpu"},
      {"fence-narrowed", "fence.acq_rel.sys", "fence.acq_rel.cta"},
      {"fence-weakened", "membar.gl", "fence.acq_rel.gpu"},
      {"fence-weakened", "fence.acq_rel.sys", "fence.acquire.sys"},
      {"scope-narrowed", "atom.global.cas.b32 _, [%rd1], %r6, %r5",
       "atom.cta.global.cas.b32 _, [%rd1], %r6, %r5"},
      {"scope-narrowed", "st.release.sys.global.u32 [%rd1], %r8",
       "st.release.gpu.global.u32 [%rd1], %r8"},
      {"order-weakened", "atom.acq_rel.gpu.global.add.u32 %r6, [%rd1], 1",
       "atom.release.gpu.global.add.u32 %r6, [%rd1], 1"},
      {"order-weakened", "ld.acquire.gpu.global.u32 %r8, [%rd1]",
       "ld.relaxed.gpu.global.u32 %r8, [%rd1]"},
      {"order-weakened", "mbarrier.arrive.shared.b64 %rd2, [%r3]",
       "mbarrier.arrive.relaxed.cta.shared.b64 %rd2, [%r3]"},
      {"made-weak", "ld.volatile.global.u32 %r9, [%rd1]", "ld.global.u32 %r9, [%rd1]"},
      {"made-weak", "st.release.sys.global.u32 [%rd1], %r8", "st.global.u32 [%rd1], %r8"},
      {"mask-shrunk", "bar.warp.sync -1", "bar.warp.sync 2147483647"},
      {"mask-shrunk", "bar.warp.sync -1", "bar.warp.sync -2"},
      {"wait-count", "cp.async.wait_group 0", "cp.async.wait_group 1"},
      {"wait-count", "bar.sync 1, 64", "bar.sync 1, 96"},
      {"wait-count", "bar.sync 1, 64", "bar.sync 1, 32"},
      {"wait-dropped", "cp.async.wait_all", "deleted"},
      {"grid-wait-dropped", "griddepcontrol.wait", "deleted"},
      {"grid-wait-dropped", "griddepcontrol.wait", "behind the next access"},
      {"grid-launch-dropped", "griddepcontrol.launch_dependents", "deleted"},
      {"commit-dropped", "cp.async.commit_group", "deleted"},
      {"parity-flipped", "mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0",
       "mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 1"},
  };
  for (const Expected& row : rows) {
    bool found = false;
    for (const Fault& fault : of(row.kind)) {
      found |= fault.before == row.before && fault.after == row.after;
    }
    EXPECT_TRUE(found) << row.kind << ": " << row.before << " -> " << row.after;
  }
}

// What is planted where, by its text around the place.
void expect_text(const std::string& kind, size_t number, const std::string& text) {
  Faults found = of(kind);
  ASSERT_LT(number, found.size()) << kind;
  std::string printed = planted(found[number]);
  EXPECT_NE(printed.find(text), std::string::npos) << kind << ", expected\n" << text << printed;
}

TEST(Mutate, MovesAcrossOneAccess) {
  expect_text("barrier-moved", 0, "\tld.shared.u32 %r4, [%r3+4];\n\tbar.sync 0;\nLOOP:");
  expect_text("barrier-moved", 1, "\tbar.sync 0;\n\tst.shared.u32 [%r3], %r2;\n\tld.shared");
}

TEST(Mutate, MovesOutOfTheLoop) {
  expect_text("barrier-out-of-loop", 2, "\tbar.sync 1, 64;\nLOOP:\n");
  expect_text("barrier-out-of-loop", 3, "\t@%p1 bra LOOP;\n\tbar.sync 1, 64;\n");
}

TEST(Mutate, AReductionLeavesOnesOwnValue) {
  expect_text("barrier-deleted", 2, "\tselp.u32 %r5, 0, 1, %p1;\n");
}

TEST(Mutate, AnAtomicIsTakenApart) {
  expect_text("atomic-made-plain", 0,
              "\tld.global.b32 %assay_old, [%rd1];\n\tadd.u32 %assay_new, %assay_old, 1;\n"
              "\tst.global.b32 [%rd1], %assay_new;\n\tmov.b32 %r6, %assay_old;\n");
  expect_text("atomic-made-plain", 1,
              "\t@%p1 ld.global.b32 %assay_old, [%rd1];\n\tmax.s32 %assay_new, %assay_old, %r6;\n"
              "\t@%p1 st.global.b32 [%rd1], %assay_new;\n");
  expect_text("atomic-taken-apart", 2,
              "\tld.relaxed.gpu.global.b32 %assay_old, [%rd1];\n"
              "\tsetp.eq.b32 %assay_p, %assay_old, %r6;\n"
              "\tselp.b32 %assay_new, %r5, %assay_old, %assay_p;\n");
}

TEST(Mutate, AWriteIsAliased) {
  expect_text(
      "write-aliased", of("write-aliased").size() - 2,
      "\tmov.u32 %assay_odd, %tid.x;\n\tshr.u32 %assay_odd, %assay_odd, 0;\n"
      "\tand.b32 %assay_odd, %assay_odd, 1;\n\tmul.wide.u32 %assay_address, %assay_odd, 4;\n"
      "\tsub.s64 %assay_address, %rd1, %assay_address;\n"
      "\t@%p1 st.global.u32 [%assay_address+4], %r10;\n");
}

TEST(Mutate, PlacesStayThoseOfTheSoundText) {
  const ptx::Module sound = module();
  for (const Fault& fault : faults(sound, {}, {"barrier-deleted", "write-aliased"})) {
    Result<ptx::Module> mutant = plant(sound, fault);
    ASSERT_TRUE(mutant);
    const std::vector<ptx::Statement>& body = mutant->functions[0].body;
    EXPECT_EQ(body.back().instruction.opcode, "ret");
    EXPECT_EQ(body.back().position.line, sound.functions[0].body.back().position.line);
    for (const ptx::Statement& s : body) EXPECT_NE(s.position.line, 0u);
  }
}

TEST(Mutate, OnlyFunctionsThatAreAskedFor) {
  EXPECT_TRUE(faults(module(), {"other"}, {}).empty());
  EXPECT_EQ(faults(module(), {"k"}, {}).size(), faults(module(), {}, {}).size());
}

TEST(Mutate, AFormThatTheTargetLacksIsNotPlanted) {
  std::string text = kText;
  text.replace(text.find("sm_90"), 5, "sm_80");
  text.replace(text.find("8.8"), 3, "7.1");
  // What sm_80 with PTX 7.1 lacks in the text itself.
  for (const char* word : {"  mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n"})
    text.erase(text.find(word), std::string(word).size());
  Result<ptx::Module> old = ptx::parse(text, "k.ptx");
  ASSERT_TRUE(old) << old.error().text();
  for (const Fault& fault : faults(*old, {}, {"order-weakened"}))
    EXPECT_EQ(fault.after.find("mbarrier"), std::string::npos) << fault.after;
}

TEST(Mutate, ChoosesFromEveryKind) {
  Faults all = faults(module(), {}, {});
  const size_t kinds = fault_kinds().size();
  ASSERT_GT(all.size(), kinds);
  Faults few = choose(all, kinds, 7);
  std::set<std::string> names;
  for (const Fault& fault : few) names.insert(fault.kind);
  EXPECT_EQ(few.size(), kinds);
  EXPECT_EQ(names.size(), kinds);
  EXPECT_EQ(choose(all, 0, 7).size(), all.size());
  auto places = [](const Faults& list) {
    std::vector<std::pair<uint32_t, std::string>> out;
    for (const Fault& f : list) out.emplace_back(f.statement, f.kind + f.after);
    return out;
  };
  EXPECT_EQ(places(choose(all, 9, 7)), places(choose(all, 9, 7)));
  EXPECT_NE(places(choose(all, 9, 7)), places(choose(all, 9, 8)));
}

} // namespace
} // namespace assay::mutate
