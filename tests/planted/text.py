"""A program as PTX; numbers statements while they are written."""
from program import AREA, FACTOR, FLAGS, QUADS, SHARED_FLAGS, VALUE_STEPS


class Text:
    def __init__(self, program, number):
        self.lines = []
        self.program = program
        self.labels = 0
        self.head(program, number)
        self.body(program.body, 0)
        self.tail(program)

    def put(self, *lines):
        self.lines.extend(lines)

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def body(self, statements, depth):
        for s in statements:
            getattr(self, type(s).__name__.lower())(s, depth)

    # Accesses.

    def address(self, c, register, generic=False):
        base = {"shared": "%gs" if generic else "%s", "source": "%src"}.get(c.space)
        base = base or {"own": "%own", "other": "%other", "one": "%m"}[c.part]
        area = c.area * AREA * (1 if c.space == "shared" else 2)
        self.put(
            f"  mad.lo.s32 %r2, %t, {c.stride}, {c.offset + 64 * AREA};",
            f"  mad.lo.s32 %r2, %r1, {c.turn_step}, %r2;",
            f"  xor.b32 %r2, %r2, {c.twist};",
            f"  and.b32 %r2, %r2, {AREA // c.size - 1};",
            f"  mad.wide.u32 {register}, %r2, {c.size}, {base};",
        )
        return f"[{register}+{area}]"

    def guard(self, s):
        first, end, step = s.threads
        self.put(
            f"  sub.u32 %r3, %t, {first};",
            f"  setp.lt.u32 %p0, %r3, {end - first};",
            f"  rem.u32 %r3, %r3, {step};",
            "  setp.eq.and.u32 %p0, %r3, 0, %p0;",
        )
        if s.only is not None:
            self.put(f"  setp.eq.and.u32 %p0, %cta, {s.only}, %p0;")

    def access(self, s, depth):
        c, size = s.cells, s.cells.size
        at = self.address(c, "%d0", s.generic)
        self.guard(s)
        letter = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "v4.u32"}[size]
        register = {8: "%v", 16: "{%q0, %q1, %q2, %q3}"}.get(size, "%r4")
        space = "" if s.generic else f".{c.space}"
        form = {"weak": "", "nc": ".nc", "relaxed": f".relaxed.{s.scope}", "volatile": ".volatile"}[s.form]
        what = f"{space}{form}" if s.form == "nc" else f"{form}{space}"
        if not s.write:
            self.put("  mov.u64 %v, 0;", "  mov.u32 %r4, 0;")
            self.put(*[f"  mov.u32 %q{i}, 0;" for i in range(4)] if size == 16 else [])
            self.put(f"  @%p0 ld{what}.{letter} {register}, {at};")
            s.line = len(self.lines)
            if size == 8:
                self.put("  mov.b64 {%q0, %q1}, %v;")
            for word in {8: ["%q0", "%q1"], 16: ["%q0", "%q1", "%q2", "%q3"]}.get(size, ["%r4"]):
                self.fold(word)
            return
        a, b = VALUE_STEPS[size == 1]
        self.put(f"  mad.lo.u32 %r4, %r1, {b}, {a * s.place};", "  add.u32 %r4, %r4, %id;")
        self.put(f"  mul.lo.u32 %r4, %r4, {FACTOR};")
        if size == 8:
            self.put(f"  mul.wide.u32 %v, %r4, {FACTOR};")
        if size == 16:
            self.put(*[f"  xor.b32 %q{i}, %r4, {c};" for i, c in enumerate(QUADS)])
        self.put(f"  @%p0 st{what}.{letter} {at}, {register};")
        s.line = len(self.lines)

    def fold(self, word):
        self.put(f"  mad.lo.u32 %sum, %sum, 31, {word};")

    def atomic(self, s, depth):
        at = self.address(s.cells, "%d0")
        self.guard(s)
        self.put("  shl.b32 %r4, %r1, 6;", "  mad.lo.u32 %r4, %id, 2, %r4;", "  add.u32 %r4, %r4, 1;")
        if s.op == "and":
            self.put("  not.b32 %r4, %r4;", "  and.b32 %r4, %r4, 255;")
        elif s.op == "or":
            self.put("  rem.u32 %r4, %r4, 29;", "  shl.b32 %r4, 1, %r4;")
        elif s.op in ("max", "min"):
            self.put("  add.u32 %r4, %r4, 7;")
        letter = ("b" if s.op in ("and", "or", "xor") else "u") + str(8 * s.cells.size)
        value = "%r4"
        if s.cells.size == 8:
            self.put("  cvt.u64.u32 %v, %r4;")
            value = "%v"
        what = f".relaxed.{s.scope}.{s.cells.space}.{s.op}.{letter}"
        result = "%w" if s.cells.size == 8 else "%r5"
        self.put(f"  @%p0 atom{what} {result}, {at}, {value};" if s.returns else f"  @%p0 red{what} {at}, {value};")
        s.line = len(self.lines)

    def copy(self, s, depth):
        size = s.target.size
        source = self.address(s.source, "%d1")
        target = self.address(s.target, "%d0")
        self.guard(s)
        cache = "cg" if size == 16 else "ca"
        self.put(f"  @%p0 cp.async.{cache}.shared.global {target}, {source}, {size};")
        s.line = len(self.lines)

    def commit(self, s, depth):
        self.put("  cp.async.commit_group;")

    def wait(self, s, depth):
        self.put("  cp.async.wait_all;" if s.pending is None else f"  cp.async.wait_group {s.pending};")

    # Lanes and barriers. %kN holds the mask of the lanes that are N branches deep.

    def shuffle(self, s, depth):
        mask = f"%k{depth}"
        if s.mode == "ballot":
            self.put("  and.b32 %r3, %sum, 1;", "  setp.ne.u32 %p1, %r3, 0;")
            self.put(f"  vote.sync.ballot.b32 %r4, %p1, {mask};")
        elif s.mode in ("add", "max"):
            self.put(f"  redux.sync.{s.mode}.u32 %r4, %sum, {mask};")
        else:
            bound = 0 if s.mode == "up" else 31
            self.put(f"  shfl.sync.{s.mode}.b32 %r4, %sum, {s.delta}, {bound}, {mask};")
        self.fold("%r4")

    def holds(self, where, predicate):
        self.put(
            f"  shr.u32 %r3, {where.lanes}, %lane;",
            f"  shr.u32 %r4, {where.warps}, %warp;",
            "  and.b32 %r3, %r3, %r4;",
            "  and.b32 %r3, %r3, 1;",
            f"  setp.ne.u32 {predicate}, %r3, 0;",
        )

    def __getattr__(self, name):
        if name == "if":
            return self.branch
        raise AttributeError(name)

    def branch(self, s, depth):
        other, end = self.label(), self.label()
        inner = f"%k{depth + 1}"
        self.holds(s.where, "%p1")
        self.put(f"  vote.sync.ballot.b32 {inner}, %p1, %k{depth};")
        self.put(f"  @!%p1 bra {other};")
        self.body(s.then, depth + 1)
        self.put(f"  bra {end};", f"{other}:")
        self.put(f"  not.b32 {inner}, {inner};", f"  and.b32 {inner}, {inner}, %k{depth};")
        self.body(s.other, depth + 1)
        self.put(f"{end}:")

    def exit(self, s, depth):
        stay = self.label()
        self.holds(s.where, "%p1")
        self.put(f"  vote.sync.ballot.b32 %k{depth}, !%p1, %k{depth};", f"  @!%p1 bra {stay};")
        self.leave()
        self.put(f"{stay}:")

    def barrier(self, s, depth):
        if s.kind == "warp":
            self.put(f"  bar.warp.sync %k{depth};")
        elif s.kind == "cta":
            self.put("  bar.sync 0;")
        elif s.kind == "red":
            self.put("  and.b32 %r3, %sum, 1;", "  setp.ne.u32 %p1, %r3, 0;")
            self.put("  bar.red.popc.u32 %r4, 0, %p1;")
            self.fold("%r4")
        elif s.kind == "named":
            skip = self.label()
            self.put(f"  setp.lt.u32 %p1, %warp, {s.first_warp};")
            self.put(f"  setp.ge.or.u32 %p1, %warp, {s.end_warp}, %p1;")
            self.put(f"  @%p1 bra {skip};")
            self.put(f"  bar.sync {s.name}, {32 * (s.end_warp - s.first_warp)};", f"{skip}:")
        else:
            wait, end, all_threads = self.label(), self.label(), self.program.threads
            self.put(f"  setp.ge.u32 %p1, %warp, {s.split};", f"  @%p1 bra {wait};")
            self.put(f"  bar.arrive {s.name}, {all_threads};", f"  bra {end};")
            self.put(f"{wait}:", f"  bar.sync {s.name}, {all_threads};", f"{end}:")

    def among(self, threads):
        """%p1: whether the thread is one of these."""
        self.put("  setp.ne.u32 %p1, %cta, %cta;")
        for cta, t in sorted(threads):
            self.put(f"  setp.eq.u32 %p2, %id, {cta * self.program.threads + t};", "  or.pred %p1, %p1, %p2;")

    def handoff(self, s, depth):
        index = f"mad.lo.u32 %r2, %r1, {4 if s.space == 'shared' or s.whole_grid else 8}, {12 * s.number}"
        if s.space == "shared":
            self.put(f"  {index};", "  cvt.u64.u32 %d0, %r2;", "  add.u64 %d0, %d0, %s;")
            at = f"[%d0+{SHARED_FLAGS}]"
        else:
            step = 0 if s.whole_grid else 4
            self.put(f"  mad.lo.u32 %r2, %r1, 8, {24 * s.number};", f"  mad.lo.u32 %r2, %cta, {step}, %r2;")
            self.put("  cvt.u64.u32 %d0, %r2;", "  add.u64 %d0, %d0, %m;")
            at = f"[%d0+{FLAGS}]"
        skip, poll, end = self.label(), self.label(), self.label()
        self.among(s.givers)
        self.put(f"  @!%p1 bra {skip};")
        if "fence" in s.release:
            self.put(f"  fence.acq_rel.{s.give_fence};")
        scoped = f"{'release' if s.release in ('op', 'store') else 'relaxed'}.{s.give_scope}.{s.space}"
        if s.release == "plain":
            self.put(f"  st.{s.space}.u32 {at}, 1;")
        elif "store" in s.release:
            self.put(f"  st.{scoped}.u32 {at}, 1;")
        else:
            self.put(f"  red.{scoped}.add.u32 {at}, 1;")
        s.give_line = len(self.lines)
        self.put(f"{skip}:")
        self.among(s.takers)
        self.put(f"  @!%p1 bra {end};", f"{poll}:")
        how = {"op": f".acquire.{s.take_scope}", "volatile": ".volatile", "weak": ""}
        how = how.get(s.acquire, f".relaxed.{s.take_scope}") + f".{s.space}"
        if s.acquire == "atom":
            self.put(f"  atom.acquire.{s.take_scope}.{s.space}.add.u32 %r4, {at}, 0;")
        else:
            self.put(f"  ld{how}.u32 %r4, {at};")
        s.take_line = len(self.lines)
        self.put(f"  setp.lt.u32 %p2, %r4, {s.target()};", f"  @%p2 bra {poll};")
        if s.acquire in ("fence", "volatile"):
            self.put(f"  fence.acq_rel.{s.take_fence};")
        self.put(f"{end}:")

    # What stands around the program.

    def head(self, program, number):
        self.put(
            ".version 8.0",
            ".target sm_80",
            ".address_size 64",
            "",
            f".visible .entry planted_{number}(.param .u64 m, .param .u64 out, .param .u64 source) {{",
            f"  .shared .align 16 .b8 tile[{4 * AREA}];",
            "  .reg .pred %p<3>;",
            "  .reg .b32 %r<6>, %q<4>, %k<8>, %t, %id, %cta, %lane, %warp, %sum;",
            "  .reg .b64 %d<2>, %m, %own, %other, %src, %s, %gs, %v, %w;",
            "  ld.param.u64 %m, [m];",
            "  cvta.to.global.u64 %m, %m;",
            "  ld.param.u64 %src, [source];",
            "  cvta.to.global.u64 %src, %src;",
            "  mov.u32 %r0, tile;",
            "  cvt.u64.u32 %s, %r0;",
            "  cvta.shared.u64 %gs, %s;",
            "  mov.u32 %t, %tid.x;",
            "  mov.u32 %cta, %ctaid.x;",
            "  and.b32 %lane, %t, 31;",
            "  shr.u32 %warp, %t, 5;",
            f"  mad.lo.u32 %id, %cta, {program.threads}, %t;",
            f"  mad.wide.u32 %own, %cta, {AREA}, %m;",
            f"  xor.b32 %r1, %cta, {program.ctas - 1};",
            f"  mad.wide.u32 %other, %r1, {AREA}, %m;",
            "  mov.u32 %k0, 0xffffffff;",
            "  mov.u32 %sum, 0;",
            "  mov.u32 %r1, %t;",
            "CLEAR:",
            f"  setp.ge.u32 %p0, %r1, {AREA};",
            "  @%p0 bra CLEARED;",
            "  mad.lo.u32 %r2, %r1, 4, %r0;",
            "  st.shared.u32 [%r2], 0;",
            f"  add.u32 %r1, %r1, {program.threads};",
            "  bra CLEAR;",
            "CLEARED:",
            "  bar.sync 0;",
            "  mov.u32 %r1, 0;",
            "TURN:",
        )

    def leave(self):
        self.put(
            "  ld.param.u64 %d0, [out];",
            "  cvta.to.global.u64 %d0, %d0;",
            "  mad.wide.u32 %d0, %id, 4, %d0;",
            "  st.global.u32 [%d0], %sum;",
            "  ret;",
        )

    def tail(self, program):
        self.put("  add.u32 %r1, %r1, 1;", f"  setp.lt.u32 %p0, %r1, {program.turns};", "  @%p0 bra TURN;")
        self.leave()
        self.put("}")
