"""Mistakes at random: what people forget, and what they get wrong by one."""
import copy

from program import ALL, Access, Atomic, Barrier, Cells, Commit, Copy, Handoff, If, Wait, Where


def spoil(program, rng):
    program.spoiled = True
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        for _ in range(20):
            act = rng.choice(ACTS)
            if act(program, rng) is not False:
                break


def places(program, kind):
    """(list, index) of each statement of a kind, in branches too."""
    found = []

    def walk(body):
        for i, s in enumerate(body):
            if isinstance(s, kind):
                found.append((body, i))
            if isinstance(s, If):
                walk(s.then)
                walk(s.other)

    walk(program.body)
    return found


def one(program, rng, kind):
    found = places(program, kind)
    return rng.choice(found) if found else (None, 0)


def drop_barrier(program, rng):
    body, i = one(program, rng, Barrier)
    if body is None:
        return False
    del body[i]


def weaken_barrier(program, rng):
    body, i = one(program, rng, Barrier)
    if body is None:
        return False
    if body[i].kind == "warp":
        lanes = rng.choice([0x0000FFFF, 0x55555555, 0x000000FF, 0xFFFFFFFE, 0x7FFFFFFF])
        body[i] = If(Where(lanes), [body[i]], [Barrier("warp")] if rng.random() < 0.5 else [])
    elif rng.random() < 0.5 or program.warps < 2 or program.names > 13:
        body[i] = Barrier("warp")
    else:
        program.names += 1
        first = rng.randrange(program.warps - 1)
        body[i] = Barrier("named", first, rng.randrange(first + 2, program.warps + 1), program.names)


def move_statement(program, rng):
    """Exchanges neighbours, as when a line slips past a barrier."""
    kinds = (Access, Atomic, Copy, Commit, Wait)
    body, i = one(program, rng, kinds)
    if body is None or i + 1 >= len(body) or not isinstance(body[i + 1], (Barrier, *kinds)):
        return False
    body[i], body[i + 1] = body[i + 1], body[i]


def bend_cells(program, rng):
    body, i = one(program, rng, (Access, Atomic, Copy))
    if body is None:
        return False
    s = body[i] = copy.copy(body[i])
    name = rng.choice(["target", "source"]) if isinstance(s, Copy) else "cells"
    cells = copy.copy(getattr(s, name))
    setattr(s, name, cells)
    act = rng.choice(["offset", "offset", "stride", "twist", "part", "turn"])
    if act == "offset":
        cells.offset += rng.choice([1, -1, 32, 16])
    elif act == "stride":
        cells.stride = rng.choice([0, 1, -1, 2, 3, 33])
    elif act == "twist":
        cells.twist ^= rng.choice([1, 2, 16, 32])
    elif act == "part" and cells.space == "global":
        cells.part = rng.choice(["own", "other", "one"])
    else:
        cells.turn_step = rng.choice([1, 32])


def wait_less(program, rng):
    body, i = one(program, rng, Wait)
    if body is None:
        return False
    if rng.random() < 0.4:
        del body[i]
    else:
        body[i] = Wait((body[i].pending or 0) + rng.choice([1, 1, 2]))


def drop_commit(program, rng):
    body, i = one(program, rng, Commit)
    if body is None:
        return False
    if rng.random() < 0.5:
        del body[i]
    else:
        body[i] = If(Where(rng.choice([0x0000FFFF, 0x55555555])), [body[i]])


def plain_atomic(program, rng):
    body, i = one(program, rng, Atomic)
    if body is None:
        return False
    s = body[i]
    body[i] = Access(rng.random() < 0.6, s.cells, s.threads)


def other_atomic(program, rng):
    """Another scope, another size, or a strong access beside atomics."""
    body, i = one(program, rng, Atomic)
    if body is None:
        return False
    s = body[i] = copy.copy(body[i])
    act = rng.choice(["scope", "size", "strong"])
    if act == "scope":
        s.scope = "cta" if s.scope == "gpu" else "gpu"
    elif act == "size":
        s.cells = copy.copy(s.cells)
        s.cells.size = 12 - s.cells.size
        s.op = s.op if s.op in ("add", "max") else "add"
    else:
        form = rng.choice(["relaxed", "volatile"])
        scope = rng.choice(["cta", "gpu"]) if form == "relaxed" else "sys"
        body.insert(i + rng.randrange(2), Access(rng.random() < 0.4, s.cells, s.threads, form, scope))


def split_atomic(program, rng):
    """A part of the threads does it otherwise."""
    body, i = one(program, rng, Atomic)
    if body is None:
        return False
    other = copy.copy(body[i])
    other.scope = rng.choice(["cta", "gpu"])
    other.returns = not other.returns
    plain = rng.random() < 0.3
    if plain:
        other = Access(rng.random() < 0.5, other.cells, other.threads)
    body[i] = If(Where(rng.choice([0x55555555, 0x0000FFFF, 1]), rng.choice([ALL, 1])), [body[i]], [other])


def weaken_handoff(program, rng):
    body, i = one(program, rng, Handoff)
    if body is None:
        return False
    h = body[i]
    grid = h.whole_grid and program.ctas == 2
    mixed = grid and len({c for c, _ in h.givers}) == 2  # which of two weak chains is read is chance
    act = rng.choice(["release", "acquire", "scope", "fences"])
    if act == "release":
        stores = "store" in h.release
        h.release = rng.choice(["plain", "relaxed-store"] if stores else ["none"])
        if h.release == "plain" and h.acquire == "atom":
            h.acquire = "op"
    elif act == "acquire":
        h.acquire = rng.choice(["none", "weak"])
    elif act == "scope":
        if mixed or h.acquire == "atom":
            return False
        if rng.random() < 0.5:
            h.give_scope = h.give_fence = "cta"
        else:
            h.take_scope = h.take_fence = "cta"
    else:
        h.give_fence = "cta"
        if rng.random() < 0.5:
            h.take_fence = "cta"


def stray_access(program, rng):
    space = rng.choice(["shared", "shared", "global"])
    size = rng.choice([4, 4, 4, 1, 2, 8, 16])
    stride = rng.choice([1, 1, 1, -1, 3, 0, 33])
    offset = rng.choice([0, 0, 1, 2, 31, 32, rng.randrange(64)])
    cells = Cells(space, size, stride, offset, rng.choice([0, 0, 1, 32]), rng.choice([0, 0, 1]))
    cells.part = rng.choice(["own", "own", "own", "other", "one"])
    cells.area = rng.choice([0, 0, 0, 1])
    access = Access(rng.random() < 0.5, cells, program.some_threads(), generic=rng.random() < 0.2)
    if not access.write and space == "global" and rng.random() < 0.25:
        access.form, access.generic = "nc", False
    bodies = [program.body] + [b for body, i in places(program, If) for b in (body[i].then, body[i].other)]
    body = rng.choice(bodies)
    body.insert(rng.randrange(len(body) + 1), access)


def stray_barrier(program, rng):
    program.body.insert(rng.randrange(len(program.body) + 1), Barrier(rng.choice(["warp", "cta"])))


ACTS = [drop_barrier] * 4 + [weaken_barrier] * 3 + [bend_cells] * 4 + [stray_access] * 3
ACTS += [wait_less, wait_less, drop_commit, move_statement, move_statement, plain_atomic]
ACTS += [other_atomic, split_atomic, weaken_handoff, weaken_handoff, weaken_handoff, stray_barrier]
