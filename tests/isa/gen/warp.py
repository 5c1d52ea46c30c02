"""Warp-level instructions: shfl, vote, match, redux, activemask, elect (PTX ISA 9.7.9, 9.7.13)."""

from functools import reduce

from .emit import Free, Table, rng, wrap

SYNC = "PTX ISA, Parallel Synchronization and Communication Instructions: "
N = 64
FULL = 0xFFFFFFFF


def warps(f, n=N):
    """f(lane, base) for n lanes; base is the warp's first lane."""
    return [f(i % 32, i // 32 * 32) for i in range(n)]


def source_lane(mode, lane, b, c):
    """The source lane and whether it is in range (the manual's pseudocode)."""
    seg, clampv, b = c >> 8 & 31, c & 31, b & 31
    top = lane & seg | clampv & ~seg & 31
    low = lane & seg
    if mode == "up":
        j = lane - b
        ok = j >= top
    elif mode == "down":
        j = lane + b
        ok = j <= top
    elif mode == "bfly":
        j = lane ^ b
        ok = j <= top
    else:
        j = low | b & ~seg & 31
        ok = j <= top
    return (j if ok else lane), ok


def shuffle():
    r = rng("shfl")
    a = [r.getrandbits(32) for _ in range(N)]
    b = [r.choice((i % 32, 0, 1, 31, 33, 64, r.randint(0, 31))) for i in range(N)]
    for mode in ("up", "down", "bfly", "idx"):
        t = Table(
            "data-movement/shfl-" + mode,
            "PTX ISA, Data Movement and Conversion Instructions: shfl.sync",
            "c holds the clamp value in bits 4..0 and the segment mask in bits 12..8; a source out of range copies the own value, p false.\n"
            "CUDA's width W is c = (32 - W) << 8 | 31 (0 for .up).",
        )
        controls = (
            [0, 0x1000, 0x1800, 0x1C00, 0x1E00, 5]
            if mode == "up"
            else [0x1F, 0x101F, 0x181F, 0x1C1F, 0x1E1F, 0x0B]
        )
        for c in controls:
            amounts = [None, 1, 2, 5, 16, 31] if c == controls[0] else [None, 1, 3]
            for amount in amounts:
                # a lane's own amount for .idx alone: a source lane must hold what its reader expects
                if amount is None and mode not in ("idx", "bfly", "up", "down"):
                    continue
                operand = "$b" if amount is None else str(amount)
                get = lambda lane, base, amount=amount: b[base + lane] if amount is None else amount
                want = warps(
                    lambda l, s, c=c, get=get: a[s + source_lane(mode, l, get(l, s), c)[0]]
                )
                pred = warps(lambda l, s, c=c, get=get: int(source_lane(mode, l, get(l, s), c)[1]))
                args = [("b32", a), ("u32", b)]
                t.form(
                    "shfl.sync.%s.b32" % mode,
                    "b32",
                    args,
                    want,
                    "shfl.sync.%s.b32 $d, $a, %s, 0x%x, 0xffffffff;" % (mode, operand, c),
                )
                t.form(
                    "shfl.sync.%s.b32" % mode,
                    "u32",
                    args,
                    pred,
                    "{ .reg .b32 %%t;\nshfl.sync.%s.b32 %%t|$p, $a, %s, 0x%x, 0xffffffff;\nselp.b32 $d, 1, 0, $p; }"
                    % (mode, operand, c),
                )
        # half of the warp each, after a branch
        want = warps(lambda l, s: a[s + (l ^ 1)] if l < 16 else a[s + (16 | (l + 3 & 15))])
        text = (
            "{ .reg .pred %%z; .reg .b32 %%src;\nsetp.lt.u32 %%z, %%l%d, 16;\n@%%z bra LOW%d;\nadd.u32 %%src, %%l%d, 3;\nand.b32 %%src, %%src, 15;\nor.b32 %%src, %%src, 16;\n"
            "shfl.sync.idx.b32 $d, $a, %%src, 0x1f, 0xffff0000;\nbra.uni END%d;\nLOW%d:\nshfl.sync.bfly.b32 $d, $a, 1, 0x1f, 0x0000ffff;\nEND%d:\nbar.warp.sync 0xffffffff; }"
        )
        k = len(t.forms)
        text = (
            "{ .reg .b32 %%l%d;\nmov.u32 %%l%d, %%laneid;\n" % (k, k)
            + text % (k, k, k, k, k, k)
            + " }"
        )
        t.form("shfl.sync.%s.b32" % mode, "b32", [("b32", a)], want, text)
        yield t


def vote():
    r = rng("vote")
    a = (
        [r.getrandbits(1) for _ in range(32)]
        + [1] * 32
        + [0] * 32
        + [int(i != 7) for i in range(32)]
    )
    n = 128
    t = Table(
        "synchronization/vote",
        SYNC + "vote.sync",
        "Over the lanes of membermask: any, all, all equal, and the mask of those with the predicate.",
    )

    def group(l, s, m):
        return [a[s + i] for i in range(32) if m(l) >> i & 1]

    full = lambda l: FULL
    halves = lambda l: 0x0F0F0F0F if 0x0F0F0F0F >> l & 1 else 0xF0F0F0F0
    for m, how in ((full, "0xffffffff"), (halves, "%m")):
        pre = (
            "{ .reg .pred %z, %y; .reg .b32 %m, %b;\nmov.u32 %b, %laneid;\nmov.b32 %m, 0x0f0f0f0f;\nshr.u32 %b, %m, %b;\nand.b32 %b, %b, 1;\n"
            "setp.ne.u32 %y, %b, 0;\nselp.b32 %m, 0x0f0f0f0f, 0xf0f0f0f0, %y;\nsetp.ne.u32 %z, $a, 0;\n"
        )
        for op, f in (("all", all), ("any", any), ("uni", lambda v: len(set(v)) == 1)):
            for neg in ("", "!"):
                want = warps(
                    lambda l, s, f=f, neg=neg, m=m: int(
                        f([bool(x) != bool(neg) for x in group(l, s, m)])
                    ),
                    n,
                )
                t.form(
                    "vote.sync.%s.pred" % op,
                    "u32",
                    [("u32", a)],
                    want,
                    pre
                    + "vote.sync.%s.pred %%y, %s%%z, %s;\nselp.b32 $d, 1, 0, %%y; }"
                    % (op, neg, how),
                )
        want = warps(
            lambda l, s, m=m: sum(1 << i for i in range(32) if m(l) >> i & 1 and a[s + i]), n
        )
        t.form(
            "vote.sync.ballot.b32",
            "b32",
            [("u32", a)],
            want,
            pre + "vote.sync.ballot.b32 $d, %%z, %s; }" % how,
        )
    yield t


def match():
    r = rng("match")
    a = [r.choice((0, 1, 2, 0xFFFFFFFF)) for _ in range(32)] + [7] * 32
    wide = [x | (i & 1) << 40 for i, x in enumerate(a)]
    t = Table(
        "synchronization/match",
        SYNC + "match.sync",
        ".any: the lanes of membermask with this lane's value. .all: membermask and true where all agree, else 0 and false.",
    )
    for ty, v in (("b32", a), ("b64", wide)):
        want = warps(lambda l, s, v=v: sum(1 << i for i in range(32) if v[s + i] == v[s + l]))
        t.form(
            "match.any.sync." + ty,
            "b32",
            [(ty, v)],
            want,
            "match.any.sync.%s $d, $a, 0xffffffff;" % ty,
        )
        same = lambda s, v=v: len(set(v[s : s + 32])) == 1
        t.form(
            "match.all.sync." + ty,
            "b32",
            [(ty, v)],
            warps(lambda l, s, same=same: FULL if same(s) else 0),
            "match.all.sync.%s $d, $a, 0xffffffff;" % ty,
        )
        t.form(
            "match.all.sync." + ty,
            "u32",
            [(ty, v)],
            warps(lambda l, s, same=same: int(same(s))),
            "{ .reg .b32 %%t;\nmatch.all.sync.%s %%t|$p, $a, 0xffffffff;\nselp.b32 $d, 1, 0, $p; }"
            % ty,
        )
    yield t


def redux():
    r = rng("redux")
    a = [r.getrandbits(32) for _ in range(96)]
    a[:32] = [(0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0)[i % 4] for i in range(32)]
    t = Table(
        "synchronization/redux",
        SYNC + "redux.sync",
        "add wraps to 32 bits; partial masks reduce their own lanes.",
    )
    full = lambda l: FULL
    thirds = lambda l: 0x000003FF if l < 10 else 0xFFFFFC00
    ops = {
        "add": sum,
        "min": min,
        "max": max,
        "and": lambda v: reduce(int.__and__, v),
        "or": lambda v: reduce(int.__or__, v),
        "xor": lambda v: reduce(int.__xor__, v),
    }
    for op, f in ops.items():
        for ty in (("u32", "s32") if op in ("add", "min", "max") else ("b32",)):
            for m, how in ((full, "0xffffffff"), (thirds, "%m")):
                vals = lambda l, s, m=m, ty=ty: [
                    wrap(a[s + i], ty) for i in range(32) if m(l) >> i & 1
                ]
                want = warps(lambda l, s, f=f, vals=vals, ty=ty: wrap(f(vals(l, s)), ty), 96)
                text = (
                    "{ .reg .pred %%z; .reg .b32 %%m;\nmov.u32 %%m, %%laneid;\nsetp.lt.u32 %%z, %%m, 10;\nselp.b32 %%m, 0x3ff, 0xfffffc00, %%z;\n"
                    "redux.sync.%s.%s $d, $a, %s; }" % (op, ty, how)
                )
                t.form("redux.sync.%s.%s" % (op, ty), ty, [("b32", a)], want, text)
    yield t


def active():
    yield Free(
        "synchronization/activemask",
        SYNC + "activemask",
        "The own lane and no lane that is not there (the last warp has 8); which others is the schedule's.",
        ["activemask.b32"],
        ["out:160"],
        [(0, "u32", [1 << (i % 32) for i in range(40)])],
        """
               activemask.b32 %r1;
               mov.u32 %r2, %lanemask_eq;
               setp.lt.u32 %p1, %lane, 32;
               selp.b32 %r3, 0, 0xffffff00, %p1;
               or.b32 %r2, %r2, %r3;
               and.b32 %r1, %r1, %r2;
               mul.wide.u32 %rd1, %lane, 4;
               add.s64 %rd1, %q0, %rd1;
               st.global.u32 [%rd1], %r1;""",
        block="40",
    )
    yield Free(
        "synchronization/elect",
        SYNC + "elect.sync",
        "Exactly one lane of membermask is elected and every lane learns which; the same mask elects the same lane again.",
        ["elect.sync"],
        ["out:256"],
        [(0, "u32", [1, 1] * 32)],
        """
               elect.sync %r1|%p1, 0xffffffff;
               selp.b32 %r2, 1, 0, %p1;
               redux.sync.add.u32 %r3, %r2, 0xffffffff;
               setp.eq.u32 %p2, %r1, %lane;
               xor.pred %p3, %p1, %p2;
               elect.sync %r4|%p4, 0xffffffff;
               setp.eq.and.u32 %p5, %r4, %r1, !%p3;
               selp.b32 %r5, 1, 0, %p5;
               mul.wide.u32 %rd1, %lane, 8;
               add.s64 %rd1, %q0, %rd1;
               st.global.v2.u32 [%rd1], {%r3, %r5};
               """,
        target="sm_90",
    )
    yield Free(
        "synchronization/bar-warp-sync",
        SYNC + "bar.warp.sync",
        "Lanes of one mask exchange through shared memory; after a branch each side syncs its own mask.",
        ["bar.warp.sync"],
        ["out:128"],
        [(0, "u32", [100 + (i ^ 1) for i in range(16)] + [200 + (i ^ 2) for i in range(16, 32)])],
        """
               mov.u32 %r1, buf;
               shl.b32 %r2, %lane, 2;
               add.u32 %r3, %r1, %r2;
               setp.ge.u32 %p1, %lane, 16;
               @%p1 bra HIGH;
               add.u32 %r4, %lane, 100;
               st.shared.u32 [%r3], %r4;
               bar.warp.sync 0x0000ffff;
               xor.b32 %r5, %r3, 4;
               ld.shared.u32 %r6, [%r5];
               bra JOIN;
               HIGH:
               add.u32 %r4, %lane, 200;
               st.shared.u32 [%r3], %r4;
               mov.b32 %r7, 0xffff0000;
               bar.warp.sync %r7;
               xor.b32 %r5, %r3, 8;
               ld.shared.u32 %r6, [%r5];
               JOIN:
               bar.warp.sync 0xffffffff;
               mul.wide.u32 %rd1, %lane, 4;
               add.s64 %rd1, %q0, %rd1;
               st.global.u32 [%rd1], %r6;
               """,
        module=".shared .align 128 .b8 buf[128];",
    )


def tables():
    for group in (shuffle, vote, match, redux, active):
        yield from group()
