"""What a program does and what races in it, by brute force and independently of Assay.

The program runs statement by statement, all threads of all blocks, with vector clocks as
docs/concurrency.md has it (1a to 1d, copies as agents of their own); every pair of accesses to a
common byte is compared. That order of execution is one that the edges allow, so where nothing
races its values are those of every order.
"""
from program import AREA, FLAGS, Access, Atomic, Copy, Exit, Handoff, If, Shuffle

NEVER = 1 << 60


class Event:
    """One access. Others see it when they know its thread's `epoch`; its own thread, from `done`."""

    __slots__ = ("line", "t", "cta", "start", "done", "epoch", "base", "begin", "size", "read", "write",
                 "strong", "scope", "nc", "old", "new", "observes", "statement", "origin")  # fmt: skip


def apply(op, old, v, bits):
    mask = (1 << bits) - 1
    if op == "add":
        return old + v & mask
    return {"max": max(old, v), "min": min(old, v), "or": old | v, "and": old & v, "xor": old ^ v}[op]


class Run:
    def __init__(self, program):
        self.program = program
        n = self.n = program.threads
        total = n * program.ctas
        self.shared = [bytearray(4 * AREA) for _ in range(program.ctas)]
        self.memory = bytearray(FLAGS + 24 * program.flags)
        self.source = source_bytes()
        self.sum = [0] * total
        self.base = [[0] * total] * total
        self.epoch = [1] * total
        self.now = 0
        self.cells = {}
        sizes = [c.size for s in program.statements() for c in cells_of(s)]
        self.granule = min([4, *sizes])
        self.copies = [[] for _ in range(total)]  # not yet committed
        self.groups = [[] for _ in range(total)]
        self.live = list(range(total))
        for turn in range(program.turns):
            self.turn = turn
            self.run(program.body, self.live)

    def run(self, body, active):
        for s in body:
            if isinstance(s, If):
                n = self.n
                self.run(s.then, [g for g in active if s.where.holds(g % n)])
                self.run(s.other, [g for g in active if not s.where.holds(g % n)])
            elif isinstance(s, Exit):
                self.live = active = [g for g in active if not s.where.holds(g % self.n)]
            else:
                getattr(self, type(s).__name__.lower())(s, active)

    # Accesses.

    def event(self, s, g, space, begin, size, read, write, strong=False, scope="sys"):
        self.now += 1
        e = Event()
        e.statement, e.line, e.t, e.cta, e.begin, e.size = s, s.line, g, g // self.n, begin, size
        e.start = e.done = self.now
        e.epoch, e.base = self.epoch[g], self.base[g]
        e.read, e.write, e.strong, e.scope, e.nc = read, write, strong, scope, False
        e.old = e.new = e.origin = None
        e.observes = read and strong
        home = e.cta if space == "shared" else -1
        for b in range(begin, begin + size, self.granule):
            key = (home, b)
            if key in self.cells:
                self.cells[key].append(e)
            else:
                self.cells[key] = [e]
        return e

    def memory_of(self, space, cta):
        return self.shared[cta] if space == "shared" else self.memory if space == "global" else self.source

    def store(self, e, memory, value):
        e.old, e.new = bytes(memory[e.begin : e.begin + e.size]), value
        memory[e.begin : e.begin + e.size] = value

    def fold(self, g, word):
        self.sum[g] = self.sum[g] * 31 + word & 0xFFFFFFFF

    def access(self, s, active):
        c = s.cells
        for g in active:
            cta, t = divmod(g, self.n)
            on = s.active(cta, t)
            if on:
                begin = c.byte(self.program, cta, t, self.turn)
                memory = self.memory_of(c.space, cta)
                e = self.event(s, g, c.space, begin, c.size, not s.write, s.write,
                               s.form in ("relaxed", "volatile"), s.scope)  # fmt: skip
                e.nc = s.form == "nc"
            if s.write:
                if on:
                    self.store(e, memory, s.stored(g, self.turn))
                continue
            loaded = memory[begin : begin + c.size] if on else bytes(c.size)
            for i in range(0, c.size, 4):
                self.fold(g, int.from_bytes(loaded[i : i + 4], "little"))

    def atomic(self, s, active):
        c = s.cells
        for g in active:
            cta, t = divmod(g, self.n)
            if not s.active(cta, t):
                continue
            begin = c.byte(self.program, cta, t, self.turn)
            memory = self.memory_of(c.space, cta)
            e = self.event(s, g, c.space, begin, c.size, True, True, True, s.scope)
            e.observes = s.returns
            old = int.from_bytes(memory[begin : begin + c.size], "little")
            new = apply(s.op, old, s.operand(g, self.turn), 8 * c.size)
            self.store(e, memory, new.to_bytes(c.size, "little"))

    def copy(self, s, active):
        for g in active:
            cta, t = divmod(g, self.n)
            if not s.active(cta, t):
                continue
            size, program = s.target.size, self.program
            begin = s.source.byte(program, cta, t, self.turn)
            value = bytes(self.memory_of(s.source.space, cta)[begin : begin + size])
            events = []
            if s.source.space == "global":
                events.append(self.event(s, g, "global", begin, size, True, False))
            e = self.event(s, g, "shared", s.target.byte(program, cta, t, self.turn), size, False, True)
            self.store(e, self.shared[cta], value)
            if s.source.space == "global":
                e.origin = begin
            events.append(e)
            for e in events:
                e.done = e.epoch = NEVER
            self.copies[g] += events

    def commit(self, s, active):
        for g in active:
            self.groups[g].append(self.copies[g])
            self.copies[g] = []

    def wait(self, s, active):
        for g in active:
            self.now += 1
            groups = self.groups[g]
            if s.pending is None:
                groups.append(self.copies[g])
                self.copies[g] = []
            upto = len(groups) - (s.pending or 0)
            for group in groups[: max(upto, 0)]:
                for e in group:
                    e.done, e.epoch = self.now, self.epoch[g]
            self.groups[g] = groups[max(upto, 0) :]

    # What orders.

    def join(self, givers, takers):
        bases = list({id(self.base[g]): self.base[g] for g in givers}.values())
        merged = list(map(max, *bases)) if len(bases) > 1 else bases[0][:]
        for g in givers:
            merged[g] = self.epoch[g]
            self.epoch[g] += 1
        for g in takers:
            self.base[g] = merged

    def barrier(self, s, active):
        """Those of a warp who have exited count as arrived."""
        n = self.n
        if s.kind == "warp":
            warps = {}
            for g in active:
                warps.setdefault(g // 32, []).append(g)
            for group in warps.values():
                self.join(group, group)
            return
        for cta in range(self.program.ctas):
            group = [g for g in active if g // n == cta]
            if s.kind == "named":
                group = [g for g in group if s.first_warp <= g % n // 32 < s.end_warp]
                self.join(range(cta * n + 32 * s.first_warp, cta * n + 32 * s.end_warp), group)
            elif s.kind == "pair":
                waiting = [g for g in group if g % n // 32 >= s.split]
                self.join(range(cta * n, cta * n + n), waiting)
            elif group:
                if s.kind == "red":
                    count = sum(self.sum[g] & 1 for g in group)
                    for g in group:
                        self.fold(g, count)
                self.join(range(cta * n, cta * n + n), group)

    def handoff(self, s, active):
        n = self.n
        present = set(active)
        strong_give = s.release != "plain"
        published = {}
        for cta, t in sorted(s.givers):
            g = cta * n + t
            assert g in present
            begin = s.flag(cta, self.turn)
            stores = "store" in s.release or s.release == "plain"
            e = self.event(s, g, s.space, begin, 4, not stores, True, strong_give, s.give_scope)
            e.line, e.observes = s.give_line, False
            memory = self.memory_of(s.space, cta)
            value = 1 if stores else memory[begin] + 1
            self.store(e, memory, value.to_bytes(4, "little"))
            published[g] = self.base[g], self.epoch[g], e
            self.epoch[g] += 1
        for cta, t in sorted(s.takers):
            g = cta * n + t
            assert g in present
            begin = s.flag(cta, self.turn)
            atom = s.acquire == "atom"
            scope = "sys" if s.acquire == "volatile" else s.take_scope
            e = self.event(s, g, s.space, begin, 4, True, atom, s.acquire != "weak", scope)
            e.line = s.take_line
            if atom:
                memory = self.memory_of(s.space, cta)
                self.store(e, memory, bytes(memory[begin : begin + 4]))
            learned = [p for h, p in published.items() if h != g and self.synchronises(s, p[2], e)]
            if learned:
                merged = list(map(max, self.base[g], *{id(b): b for b, _, _ in learned}.values()))
                for base, epoch, gift in learned:
                    merged[gift.t] = max(merged[gift.t], epoch)
                self.base[g] = merged

    def synchronises(self, s, give, take):
        if s.release in ("none", "plain", "relaxed-store") or s.acquire in ("none", "weak"):
            return False
        if (give.begin, give.cta if s.space == "shared" else 0) != (take.begin, take.cta if s.space == "shared" else 0):
            return False
        apart = give.cta != take.cta
        scopes = [give.scope, take.scope]
        if "fence" in s.release:
            scopes.append(s.give_fence)
        if s.acquire in ("fence", "volatile"):
            scopes.append(s.take_fence)
        return not (apart and "cta" in scopes)

    # Values that move between lanes order nothing.

    def shuffle(self, s, active):
        warps = {}
        for g in active:
            warps.setdefault(g // 32, []).append(g)
        for group in warps.values():
            values = {g % 32: self.sum[g] for g in group}
            if s.mode == "ballot":
                word = sum(1 << lane for lane, v in values.items() if v & 1)
            elif s.mode in ("add", "max"):
                word = sum(values.values()) & 0xFFFFFFFF if s.mode == "add" else max(values.values())
            for g in group:
                self.fold(g, word if s.mode in ("ballot", "add", "max") else values[s.source(g % 32)])


def cells_of(s):
    return [s.target] if isinstance(s, Copy) else [s.cells] if isinstance(s, (Access, Atomic)) else []


def source_bytes():
    return b"".join(((i + 1) * 0x85EBCA6B % 2**32).to_bytes(4, "little") for i in range(AREA // 4))


def mend_shuffles(program):
    """Lanes that take no part have no value to give: such shuffles become votes."""

    def walk(body, active):
        for s in body:
            if isinstance(s, If):
                walk(s.then, [t for t in active if s.where.holds(t)])
                walk(s.other, [t for t in active if not s.where.holds(t)])
            elif isinstance(s, Exit):
                active = [t for t in active if not s.where.holds(t)]
            elif isinstance(s, Shuffle) and s.mode in ("bfly", "up", "down", "idx"):
                present = set(active)
                if any((t & ~31) + s.source(t & 31) not in present for t in active):
                    s.mode = "ballot"
        return active

    everyone = list(range(program.threads))
    rest = walk(program.body, everyone)
    walk(program.body, rest)


def morally_strong(a, b):
    if not (a.strong and b.strong and a.size == b.size and a.begin == b.begin):
        return False
    return a.cta == b.cta or "cta" not in (a.scope, b.scope)


def before(a, b):
    """Causality, of an event that was executed earlier."""
    return a.done <= b.start if a.t == b.t else a.epoch <= b.base[a.t]


class Verdict:
    """The racing pairs of lines; whether the outcome is the same in every order; or neither."""

    def __init__(self, run):
        self.run = run
        self.weight = {}  # of each pair of lines: bytes that race without doubt
        self.deterministic = True
        for key, events in run.cells.items():
            if len(events) > 1 and any(e.write for e in events):
                self.cell("global" if key[0] < 0 else "shared", key[1], events)
        self.races = sorted(self.weight)
        self.certain = all(w > 1 for w in self.weight.values())

    def cell(self, space, byte, events):
        writes, earlier = [], []
        weight, granule = self.weight, self.run.granule
        nc = any(e.nc for e in events)
        for b in events:
            bt, base, start = b.t, b.base, b.start
            for a in earlier if b.write else writes:
                if a.t == bt:
                    if a.done <= start and not nc:
                        continue
                elif a.epoch <= base[a.t] and not nc:
                    continue
                if nc:
                    if a.nc or b.nc:
                        self.add(space, a, b, 8)
                        continue
                    if before(a, b):
                        continue
                if a.strong and b.strong and morally_strong(a, b):
                    self.order(a, b)
                    continue
                key = (space, a.line, b.line) if a.line < b.line else (space, b.line, a.line)
                if weight.get(key, 0) < 4:
                    self.add(space, a, b, granule if self.definite(a, b, byte, events) else 0)
            earlier.append(b)
            if b.write:
                writes.append(b)

    def add(self, space, a, b, weight):
        key = (space, *sorted((a.line, b.line)))
        self.weight[key] = self.weight.get(key, 0) + weight

    def order(self, a, b):
        s, o = a.statement, b.statement
        flags = isinstance(s, Handoff)
        same = isinstance(s, Atomic) and isinstance(o, Atomic) and s.op == o.op
        if not flags and not same:
            self.deterministic = False

    def changes(self, e, byte):
        if not e.write:
            return False
        at = byte - e.begin
        return e.old[at : at + self.run.granule] != e.new[at : at + self.run.granule]

    def definite(self, a, b, byte, events):
        """No value race in any order, and no order that observation makes of it."""
        for w, x in ((a, b), (b, a)):
            if w.strong and w.write and any(
                o.observes and o.t != w.t and o is not x and morally_strong(o, w) and o.start < x.start and before(o, x)
                for o in events
            ):
                return False
        if not (a.read or b.read):
            if a.origin is not None and a.origin == b.origin:
                return False  # copies of what may have been written in between
            g, i, j = self.run.granule, byte - a.begin, byte - b.begin
            return a.new[i : i + g] != b.new[j : j + g]
        for w, x in ((a, b), (b, a)):
            if self.changes(w, byte) and not self.by_chance(w):
                return True
        writes = [e for e in events if e.write]
        for w, x in ((a, b), (b, a)):
            if w.write and all(
                e.line == w.line and (e is x or not (before(e, x) if e.start < x.start else before(x, e)))
                for e in writes
            ):
                return any(self.changes(e, byte) for e in writes)
        return False

    @staticmethod
    def by_chance(e):
        """Whether it changes anything depends on who came before."""
        if e.origin is not None:
            return True
        return isinstance(e.statement, Atomic) and e.statement.op in ("max", "min", "or", "and")
