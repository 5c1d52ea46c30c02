"""Programs of the generator: what a thread does, statement by statement, without any text of PTX.

A program is a sound exchange from which synchronisation was dropped or weakened, or in which
addresses were bent, at random. truth.py says what races in it, text.py writes it down.
"""
import copy

AREA = 512  # bytes of one area: data, counters, counters of the grid; in global memory for each block
FLAGS = 3072  # where the flags begin in global memory, in bytes
SHARED_FLAGS = 1024  # and in shared memory
FACTOR = 0x9E3779B1  # odd, so that the low bytes of products differ as their arguments do
VALUE_STEPS = ((1024, 16384), (37, 101))  # of a statement and of a turn; for one byte: the second
ALL = 0xFFFFFFFF


class Where:
    """Which lanes of which warps: a branch's condition."""

    def __init__(self, lanes=ALL, warps=ALL):
        self.lanes, self.warps = lanes, warps

    def holds(self, t):
        return self.lanes >> (t & 31) & 1 and self.warps >> (t >> 5) & 1


class Cells:
    """Addresses: cell (t * stride + offset + turn * turn_step) ^ twist of an area, for some threads."""

    def __init__(self, space, size, stride=1, offset=0, turn_step=0, twist=0, area=0, part="own"):
        self.space, self.size, self.stride, self.offset = space, size, stride, offset
        self.turn_step, self.twist, self.area = turn_step, twist, area
        self.part = part  # of global memory: this block's "own", the "other" block's, or "one" for all

    def byte(self, program, cta, t, turn):
        cells = AREA // self.size
        cell = ((t * self.stride + self.offset + turn * self.turn_step) ^ self.twist) % cells
        base = self.area * AREA
        if self.space == "global":
            base *= 2
            other = cta ^ 1 if program.ctas == 2 else cta
            base += {"own": cta, "other": other, "one": 0}[self.part] * AREA
        return base + cell * self.size


class Statement:
    line = 0  # in the file
    place = 0  # in the program; enters the stored values


class Access(Statement):
    def __init__(self, write, cells, threads, form="weak", scope="sys", generic=False):
        self.write, self.cells, self.threads = write, cells, threads  # threads: first, end, step
        self.form, self.scope, self.generic = form, scope, generic  # form: weak nc relaxed volatile
        self.only = None  # the one block that executes it

    def active(self, cta, t):
        first, end, step = self.threads
        return first <= t < end and (t - first) % step == 0 and self.only in (None, cta)

    def stored(self, gid, turn):
        a, b = VALUE_STEPS[self.cells.size == 1]
        v = (gid + a * self.place + b * turn) * FACTOR % 2**32
        size = self.cells.size
        if size == 16:
            return b"".join((v ^ c).to_bytes(4, "little") for c in QUADS)
        return (v * FACTOR if size == 8 else v).to_bytes(8, "little")[:size]


QUADS = (0, 0x5BD1E995, 0x27D4EB2F, 0x165667B1)


class Atomic(Statement):
    """red, or atom whose result nobody uses."""

    only = None

    def __init__(self, op, cells, threads, scope, returns=False):
        self.op, self.cells, self.threads, self.scope, self.returns = op, cells, threads, scope, returns

    active = Access.active

    def operand(self, gid, turn):
        v = gid * 2 + 1 + 64 * turn
        return {"and": ~v & 0xFF, "or": 1 << v % 29, "xor": v, "add": v}.get(self.op, v + 7)


class Copy(Statement):
    only = None

    def __init__(self, target, source, threads):
        self.target, self.source, self.threads = target, source, threads

    active = Access.active


class Commit(Statement):
    pass


class Wait(Statement):
    def __init__(self, pending):
        self.pending = pending  # None: wait_all


class Shuffle(Statement):
    def __init__(self, mode, delta):
        self.mode, self.delta = mode, delta  # bfly up down idx ballot add max

    def source(self, lane):
        if self.mode == "bfly":
            return lane ^ self.delta
        if self.mode == "up":
            return lane - self.delta if lane >= self.delta else lane
        if self.mode == "down":
            return lane + self.delta if lane + self.delta < 32 else lane
        return self.delta


class Barrier(Statement):
    def __init__(self, kind, first_warp=0, end_warp=0, name=0, split=0):
        self.kind = kind  # cta, red, warp, named; pair: warps below `split` arrive, others wait
        self.first_warp, self.end_warp, self.name, self.split = first_warp, end_warp, name, split


class If(Statement):
    def __init__(self, where, then, other=()):
        self.where, self.then, self.other = where, list(then), list(other)


class Exit(Statement):
    def __init__(self, where):
        self.where = where


class Handoff(Statement):
    """Some add to a flag, others wait until all have."""

    def __init__(self, givers, takers, scope, release, acquire, space, number, whole_grid):
        self.givers, self.takers = givers, takers  # each: set of (block, thread)
        self.give_scope = self.take_scope = self.give_fence = self.take_fence = scope
        self.release, self.acquire = release, acquire  # op fence store none weak; op fence volatile atom none weak
        self.space, self.number, self.whole_grid = space, number, whole_grid

    def flag(self, cta, turn):
        if self.space == "shared":
            return SHARED_FLAGS + 4 * (self.number * 3 + turn)
        return FLAGS + 4 * ((self.number * 3 + turn) * 2 + (0 if self.whole_grid else cta))

    def givers_seen(self, cta):
        return [g for g in self.givers if self.whole_grid or g[0] == cta]

    def target(self):
        return len(self.givers) if self.whole_grid else len(self.givers_seen(0))


class Program:
    def __init__(self, rng):
        self.rng, self.spoiled = rng, False
        self.warps = rng.choice([1, 1, 2, 2, 2, 3, 4])
        self.ctas = rng.choice([1, 1, 2])
        self.turns = rng.choice([1, 1, 1, 2, 3])
        self.names = self.flags = 0  # one for each site, so that none are mixed up
        self.exits = rng.random() < 0.15 and Where(
            rng.choice([0xFFFF0000, 0xAAAAAAAA, 0x80000000, 0x00000F00]), rng.choice([ALL, 1, 2])
        )
        self.body = []
        for _ in range(rng.choice([1, 2, 2, 3])):
            self.body += self.phase()
        if self.exits:
            self.body.insert(rng.randrange(len(self.body) + 1), Exit(self.exits))

    def number_statements(self):
        for place, statement in enumerate(self.statements()):
            statement.place = place

    @property
    def threads(self):
        return 32 * self.warps

    def statements(self, body=None):
        for s in self.body if body is None else body:
            yield s
            if isinstance(s, If):
                yield from self.statements(s.then)
                yield from self.statements(s.other)

    def features(self):
        """What the program is made of, for the tally."""
        names = {Copy: "cp.async", Shuffle: "shuffles and votes", If: "branches", Exit: "early exits",
                 Atomic: "atomics", Handoff: "flags"}  # fmt: skip
        found = {names[type(s)] for s in self.statements() if type(s) in names}
        barriers = {"warp": "warp barriers", "named": "named barriers", "pair": "named barriers"}
        found |= {barriers[s.kind] for s in self.statements() if getattr(s, "kind", "") in barriers}
        return found

    def everyone(self):
        return 0, self.threads, 1

    def stays(self, t):
        return not (self.exits and self.exits.holds(t))

    def cta_barrier(self):
        return Barrier(self.rng.choice(["cta", "cta", "cta", "red"]))

    def data(self, space=None):
        return space or self.rng.choice(["shared", "shared", "global"])

    def phase(self):
        kinds = ["block", "block", "warp", "branch", "branch", "count", "count", "copy", "copy"]
        kinds += ["shuffle", "hand", "grid", "pair"]
        return getattr(self, self.rng.choice(kinds) + "_phase")()

    # Each phase begins and ends with all of the block in step with one another.
    def block_phase(self):
        """Own cells, barrier, anybody's cells, barrier."""
        rng, space, size = self.rng, self.data(), self.rng.choice([4, 4, 4, 2, 1])
        own = Cells(space, size)
        there = Cells(space, size, rng.choice([1, -1, 3]), rng.randrange(64))
        generic = rng.random() < 0.2
        return [
            Access(True, own, self.everyone(), generic=generic),
            self.cta_barrier(),
            Access(False, there, self.everyone(), generic=rng.random() < 0.2),
            self.cta_barrier(),
        ]

    def warp_phase(self):
        rng, space = self.rng, self.data()
        steps = []
        for _ in range(rng.choice([1, 2])):
            steps += [
                Access(True, Cells(space, 4), self.everyone()),
                Barrier("warp"),
                Access(False, Cells(space, 4, twist=rng.randrange(1, 32)), self.everyone()),
                Barrier("warp"),
            ]
        return steps + [self.cta_barrier()]

    def some_where(self):
        rng = self.rng
        lanes, twists = rng.choice(
            [
                (0x0000FFFF, [1, 2, 5, 8, 15]),
                (0x55555555, [2, 4, 10, 16, 30]),
                (0xF0F0F0F0, [1, 2, 3, 8, 24]),
                (1 << rng.randrange(32), [0]),
                (ALL, [1, 7, 31]),
            ]
        )
        warps = rng.choice([ALL, ALL, 1, 0xA]) if lanes != ALL else rng.choice([1, 0xA, 0x6])
        return Where(lanes, warps), twists

    def exchange_within(self, space, twist):
        rng = self.rng
        body = [Access(True, Cells(space, 4), self.everyone()), Barrier("warp")]
        if rng.random() < 0.5:
            body.append(self.some_shuffle())
        body.append(Access(False, Cells(space, 4, twist=twist), self.everyone()))
        if rng.random() < 0.4:
            body += [Barrier("warp"), Access(True, Cells(space, 4), self.everyone())]
        return body

    def branch_phase(self):
        """Lanes part and exchange among themselves; all meet again."""
        rng, space = self.rng, self.data()
        where, twists = self.some_where()
        then, other = self.exchange_within(space, rng.choice(twists)), []
        if rng.random() < 0.3 and where.lanes == 0x0000FFFF:
            inner = Where(0x00FF00FF)
            then.append(Barrier("warp"))
            then.append(If(inner, self.exchange_within(space, rng.choice([1, 3, 7]))))
        if rng.random() < 0.6:
            other = self.exchange_within(space, rng.choice(twists) if where.lanes >> 1 else 0)
            if where.lanes not in (0x0000FFFF, 0x55555555, 0xF0F0F0F0) or where.warps != ALL:
                other = [s for s in other if not (isinstance(s, Access) and not s.write)]
        after = Access(False, Cells(space, 4, twist=rng.randrange(32)), self.everyone())
        meet = rng.choice([Barrier("warp"), self.cta_barrier()])
        return [If(where, then, other), meet, after, self.cta_barrier()]

    def count_phase(self):
        """Atomics on counters, a barrier, plain loads of them."""
        rng, space, size = self.rng, self.data(), self.rng.choice([4, 4, 4, 8])
        op = rng.choice(["add", "add", "add", "max", "min", "or", "xor", "and"])
        op = op if size == 4 else rng.choice(["add", "max"])
        scope = rng.choice(["cta", "gpu"])
        area = 1
        cells = Cells(space, size, rng.choice([0, 1, 3]), rng.randrange(8), area=area)
        atomic = Atomic(op, cells, self.some_threads(), scope, rng.random() < 0.3)
        if rng.random() < 0.4:
            where, _ = self.some_where()
            steps = [If(where, [atomic], [copy.copy(atomic)] if rng.random() < 0.5 else [])]
        else:
            steps = [atomic]
        if space == "global" and size == 4 and self.ctas == 2 and rng.random() < 0.3:
            cells.part, cells.area = "one", 2
            for s in self.statements(steps):
                if isinstance(s, Atomic):
                    s.scope = "gpu"
            return steps  # of the whole grid: nobody reads them
        load = Access(False, Cells(space, size, rng.choice([0, 1, 3]), rng.randrange(8), area=area), self.everyone())
        return steps + [self.cta_barrier(), load, self.cta_barrier()]

    def copy_phase(self):
        """One to three stages of cp.async; a stage is read once it has been waited for."""
        rng = self.rng
        stages, size = rng.choice([1, 1, 2, 3]), rng.choice([4, 4, 8, 16])
        width = min(self.threads, AREA // size // (4 if stages == 3 else stages))
        threads = (0, width, 1)
        space = rng.choice(["source", "source", "global"])
        steps = []
        if space == "global":
            steps += [Access(True, Cells("global", 4), self.everyone()), self.cta_barrier()]
        for k in range(stages):
            source = Cells(space, size, 1, rng.randrange(AREA // size), part="own")
            steps.append(Copy(Cells("shared", size, offset=k * width), source, threads))
            steps.append(Commit())
        for k in range(stages):
            left = stages - 1 - k
            steps.append(Wait(None if left == 0 and rng.random() < 0.4 else left))
            if rng.random() < 0.75:
                # The stage's cells alone, as long as others are under way.
                steps.append(self.cta_barrier())
                cells = Cells("shared", size, -1, (k + 1) * width - 1)
            else:
                cells = Cells("shared", size, 1, k * width)
            steps.append(Access(False, cells, threads))
        return steps + [self.cta_barrier()]

    def some_shuffle(self):
        mode = self.rng.choice(["bfly", "bfly", "up", "down", "idx", "ballot", "add", "max"])
        return Shuffle(mode, self.rng.choice([1, 2, 4, 8, 16, 3, 0]))

    def shuffle_phase(self):
        steps = [self.some_shuffle()]
        if self.rng.random() < 0.5:
            where, _ = self.some_where()
            steps.append(If(where, [self.some_shuffle()], [self.some_shuffle()]))
        return steps + [self.some_shuffle()]

    def handoff(self, givers, takers, space, whole_grid, scope):
        rng = self.rng
        self.flags += 1
        alone = len(givers) == (1 if whole_grid else self.ctas)
        release = rng.choice(["op", "fence"] + ["store", "fence-store"] * alone)
        acquire = rng.choice(["op", "fence", "volatile", "atom"])
        return Handoff(givers, takers, scope, release, acquire, space, self.flags - 1, whole_grid)

    def hand_phase(self):
        """A thread hands a cell to another one through a flag, of its block or of the other one."""
        rng = self.rng
        staying = [t for t in range(self.threads) if self.stays(t)]
        giver, taker = rng.sample(staying, 2)
        space, scope = self.data(), rng.choice(["cta", "gpu"])
        flag_space = self.data()
        across = self.ctas == 2 and rng.random() < 0.4
        if across:
            space = flag_space = "global"
            scope = "gpu"
        givers = {(0, giver)} if across else {(c, giver) for c in range(self.ctas)}
        takers = {(1, taker)} if across else {(c, taker) for c in range(self.ctas)}
        hand = self.handoff(givers, takers, flag_space, across, scope)
        size = rng.choice([4, 8])
        put = Access(True, Cells(space, size), (giver, giver + 1, 1))
        shift = Cells(space, size, 1, giver - taker, part="other" if across else "own")
        get = Access(False, shift, (taker, taker + 1, 1))
        if not across:
            return [put, hand, get, self.cta_barrier()]
        # The next turn must not overwrite before the reading; nor may the giving block read.
        self.turns = 1
        put.only, get.only = 0, 1
        return [put, hand, get, self.cta_barrier(), *self.grid_barrier()]

    def grid_barrier(self):
        rng, staying = self.rng, [t for t in range(self.threads) if self.stays(t)]
        chief = rng.choice([staying[0], staying[-1], rng.choice(staying)])
        some = {chief} if rng.random() < 0.8 else set(staying[:: max(1, len(staying) // 4)])
        givers = {(c, t) for c in range(self.ctas) for t in some}
        takers = {(c, chief) for c in range(self.ctas)}
        hand = self.handoff(givers, takers, "global", True, "gpu")
        return [self.cta_barrier(), hand, self.cta_barrier()]

    def grid_phase(self):
        rng = self.rng
        put = Access(True, Cells("global", 4), self.everyone())
        get = Access(False, Cells("global", 4, rng.choice([1, -1]), rng.randrange(64), part="other"), self.everyone())
        return [put, *self.grid_barrier(), get, *self.grid_barrier()]

    def pair_phase(self):
        """Warps that produce arrive at a barrier, those that consume wait at it."""
        if self.warps < 2 or self.names > 8:
            return self.block_phase()
        self.turns = 1
        self.names += 1
        rng, space = self.rng, self.data()
        split = rng.randrange(1, self.warps)
        put = Access(True, Cells(space, 4), (0, 32 * split, 1))
        get = Access(False, Cells(space, 4, 1, -32 * split), (32 * split, min(64 * split, self.threads), 1))
        return [put, Barrier("pair", name=self.names, split=split), get, self.cta_barrier()]

    def some_threads(self):
        rng, n = self.rng, self.threads
        first = rng.choice([0, 0, 0, 1, rng.randrange(n)])
        end = rng.choice([n, n, min(n, first + 32), min(n, first + 1), rng.randrange(first + 1, n + 1)])
        return first, end, rng.choice([1, 1, 1, 2, 5])
