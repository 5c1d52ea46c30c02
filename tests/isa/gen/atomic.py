"""atom and red (PTX ISA 9.7.13)."""

from . import formats as fp
from .emit import Free, Table, ints, list_arg, width, wrap
from .floating import triples
from .formats import BF16, F16, F32, F64
from .memory import SYNC

MODULE = ".shared .align 16 .b8 sm[2048];\n.global .align 16 .b8 gm[2048];"


def atomic_ops():
    fns = {
        "add": lambda r, s: r + s,
        "min": min,
        "max": max,
        "and": int.__and__,
        "or": int.__or__,
        "xor": int.__xor__,
        "exch": lambda r, s: s,
        "inc": lambda r, s: 0 if r >= s else r + 1,
        "dec": lambda r, s: s if r == 0 or r > s else r - 1,
    }
    plan = [
        ("add", ("u32", "s32", "u64")),
        ("min", ("u32", "s32", "u64", "s64")),
        ("max", ("u32", "s32", "u64", "s64")),
        ("and", ("b32", "b64")),
        ("or", ("b32", "b64")),
        ("xor", ("b32", "b64")),
        ("exch", ("b32", "b64")),
        ("inc", ("u32",)),
        ("dec", ("u32",)),
    ]
    for space in ("global", "shared", "generic"):
        t = Table(
            "synchronization/atom-" + space,
            SYNC + "atom, red",
            "Each lane works on a cell of its own: old value and new content.",
        )
        for op, types in plan:
            for ty in types:
                f, w = fns[op], width(ty)
                a = ints(ty.replace("b", "u"), 48, 3)
                b = [a[(i * 7 + 3) % 48] for i in range(48)]
                if op in ("inc", "dec"):
                    a, b = [v & 7 for v in a], [v & 7 if i % 4 else v for i, v in enumerate(b)]
                add_atomic(t, space, op, ty, a, b, lambda x, y, f=f, ty=ty: wrap(f(x, y), ty))
        yield t
    t = Table("synchronization/atom-cas", SYNC + "atom.cas", "The cell changes where it held b.")
    for space in ("global", "shared"):
        for w in (16, 32, 64):
            a = ints("u%d" % w, 32, 3)
            b = [x if i % 2 else x ^ 1 << (i % w) for i, x in enumerate(a)]
            c = a[5:] + a[:5]
            cas(t, space, w, a, b, c)
    yield t
    t = Table(
        "synchronization/atom-float",
        SYNC + "atom, red",
        "Rounds to nearest even. On global memory f32 sums may flush subnormals, so that none occur here; f16 and bf16 keep them.",
        target="sm_90",
    )
    for ty, fmt in (("f32", F32), ("f64", F64), ("f16", F16), ("bf16", BF16)):
        a, b, _ = triples(fmt, 150, 8)
        usable = [
            (x, y)
            for x, y in zip(a, b)
            if not (fmt.is_nan(x) or fmt.is_nan(y) or fmt.is_nan(fp.add(x, y, fmt)))
            and (
                fmt in (F16, BF16)
                or not (fmt.is_sub(x) or fmt.is_sub(y) or fmt.is_sub(fp.add(x, y, fmt)))
            )
        ]
        a, b = [u[0] for u in usable][:64], [u[1] for u in usable][:64]
        k = ".noftz" if fmt in (F16, BF16) else ""
        for space in ("global", "shared"):
            add_atomic(t, space, "add" + k, ty, a, b, lambda x, y, fmt=fmt: fp.add(x, y, fmt))
            if k:
                pa = [x | a[(i + 5) % len(a)] << 16 for i, x in enumerate(a)]
                pb = [x | b[(i + 5) % len(b)] << 16 for i, x in enumerate(b)]
                add_atomic(
                    t,
                    space,
                    "add.noftz",
                    ty + "x2",
                    pa,
                    pb,
                    lambda x, y, fmt=fmt: fp.add(x >> 16, y >> 16, fmt) << 16
                    | fp.add(x & 0xFFFF, y & 0xFFFF, fmt),
                )
    yield t


def add_atomic(t, space, op, ty, a, b, f):
    """Two forms: what atom returns and leaves; red's content."""
    w = width(ty)
    bits, lt = "b%d" % w, ty if not ty.endswith("x2") else "b32"
    cell = cell_code(space, len(t.forms))
    sp = "" if space == "generic" else "." + space
    reg = ".reg .b%d %%old;" % w
    init = "st%s.%s [%%at_], $a;\n" % (sp, bits)
    args = [(lt, a), (lt, b)]
    pre = "module:" + MODULE
    row = "atom%s.%s.%s" % (sp, op, ty)
    t.form(
        row,
        lt,
        args,
        lambda x, y: x,
        "{ %s\n%s%s%s $d, [%%at_], $b; }" % (reg, cell, init, row),
        pre=pre,
    )
    t.form(
        row,
        lt,
        args,
        f,
        "{ %s\n%s%s%s %%old, [%%at_], $b;\nld%s.%s $d, [%%at_]; }"
        % (reg, cell, init, row, sp, bits),
        pre=pre,
    )
    if op != "exch":
        row = "red%s.%s.%s" % (sp, op, ty)
        t.form(
            row,
            lt,
            args,
            f,
            "{ %s\n%s%s%s [%%at_], $b;\nld%s.%s $d, [%%at_]; }" % (reg, cell, init, row, sp, bits),
            pre=pre,
        )


def cell_code(space, k):
    name = "gm" if space == "global" else "sm"
    code = (
        ".reg .b64 %at_; .reg .b64 %step;\nmov.u64 %at_, "
        + name
        + ";\nmul.wide.u32 %step, %lane, 16;\nadd.s64 %at_, %at_, %step;\n"
    )
    if space == "generic":
        code += "cvta.shared.u64 %at_, %at_;\n"
    return code


def cas(t, space, w, a, b, c):
    ty = "b%d" % w
    cell = cell_code(space, len(t.forms))
    args = [(ty, a), (ty, b), (ty, c)]
    row = "atom.%s.cas.%s" % (space, ty)
    init = "st.%s.%s [%%at_], $a;\n" % (space, ty)
    t.form(
        row,
        ty,
        args,
        lambda x, y, z: x,
        "{ %s%s%s $d, [%%at_], $b, $c; }" % (cell, init, row),
        pre="module:" + MODULE,
    )
    t.form(
        row,
        ty,
        args,
        lambda x, y, z: z if x == y else x,
        "{ .reg .b%d %%old;\n%s%s%s %%old, [%%at_], $b, $c;\nld.%s.%s $d, [%%at_]; }"
        % (w, cell, init, row, space, ty),
        pre="module:" + MODULE,
    )


def more_atomics():
    sems = [
        "atom.relaxed.cta.global.add.u32",
        "atom.acquire.gpu.global.add.u32",
        "atom.release.sys.global.add.u32",
        "atom.acq_rel.gpu.global.add.u32",
        "atom.global.cta.add.u32",
        "atom.global.gpu.add.u32",
        "atom.global.sys.add.u32",
        "atom.add.u32",
        "atom.acq_rel.cta.add.u32",
    ]
    reds = [
        "red.relaxed.gpu.global.add.u32",
        "red.release.gpu.global.add.u32",
        "red.global.cta.add.u32",
        "red.add.u32",
    ]
    body = ""
    want = []
    for k, op in enumerate(sems):
        body += "add.u32 %%r1, %%lane, %d;\n%s %%r2, [%%q0+%d], %%r1;\n" % (k, op, 4 * k)
        want.append(1000 + sum(i + k for i in range(64)))
    for k, op in enumerate(reds):
        body += "%s [%%q0+%d], 3;\n" % (op, 4 * (k + len(sems)))
        want.append(1000 + 3 * 64)
    n = len(sems) + len(reds)
    yield Free(
        "synchronization/atom-contended",
        SYNC + "atom, red",
        "64 threads of two warps add to the same cells: sums do not depend on order.",
        sems + reds,
        [list_arg("u32", [1000] * n, "inlist")],
        [(0, "u32", want)],
        body,
        block="64",
    )
    yield Free(
        "synchronization/atom-order-free",
        SYNC + "atom",
        "Old values of a contended add are a permutation: every ticket is marked once, over 4 blocks.",
        ["atom.global.add.u32"],
        ["inlist:u32[0*1]", "inlist:u32[0*256]"],
        [(0, "u32", [256]), (1, "u32", [1] * 256)],
        "atom.global.add.u32 %r1, [%q0], 1;\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd1, %q1, %rd1;\natom.global.add.u32 %r2, [%rd1], 1;",
        block="64",
        grid="4",
    )
    yield Free(
        "synchronization/atom-128",
        SYNC + "atom.cas.b128, atom.exch.b128",
        "Lane 0 to 31 each on its own 16 bytes; odd lanes compare with what is there.",
        ["atom.global.exch.b128", "atom.global.cas.b128"],
        [list_arg("u64", list(range(100, 164)), "inlist"), "out:512", "out:512"],
        [
            (
                0,
                "u64",
                [v for i in range(32) for v in ((7 + i, 8) if i % 2 else (1000 + i, 2000 + i))],
            ),
            (1, "u64", [v for i in range(32) for v in (100 + 2 * i, 101 + 2 * i)]),
            (2, "u64", [v for i in range(32) for v in (1000 + i, 2000 + i)]),
        ],
        """
               .reg .b128 %w<5>;
               mul.wide.u32 %rd1, %lane, 16;
               add.s64 %rd2, %q0, %rd1;
               add.s64 %rd3, %q1, %rd1;
               add.s64 %rd4, %q2, %rd1;
               cvt.u64.u32 %rd5, %lane;
               add.s64 %rd6, %rd5, 1000;
               add.s64 %rd7, %rd5, 2000;
               mov.b128 %w1, {%rd6, %rd7};
               atom.global.exch.b128 %w2, [%rd2], %w1;
               mov.b128 {%rd8, %rd9}, %w2;
               st.global.v2.u64 [%rd3], {%rd8, %rd9};
               and.b64 %rd10, %rd5, 1;
               xor.b64 %rd10, %rd10, 1;
               add.s64 %rd6, %rd6, %rd10;
               mov.b128 %w3, {%rd6, %rd7};
               add.s64 %rd11, %rd5, 7;
               mov.b64 %rd12, 8;
               mov.b128 %w4, {%rd11, %rd12};
               atom.global.cas.b128 %w2, [%rd2], %w3, %w4;
               mov.b128 {%rd8, %rd9}, %w2;
               st.global.v2.u64 [%rd4], {%rd8, %rd9};
               """,
        target="sm_90",
    )
    f = lambda x: fp.bits_of(float(x), F32)
    h = lambda x: fp.bits_of(float(x), F16)
    yield Free(
        "synchronization/red-vector",
        SYNC + "red, atom (vector)",
        "Vectors of f32 and f16 on global memory; every element on its own. 32 lanes add small integers: exact.",
        [
            "red.global.add.v2.f32",
            "red.global.add.v4.f32",
            "atom.global.add.v2.f32",
            "red.global.add.noftz.v4.f16",
            "red.global.max.noftz.v2.f16x2",
        ],
        [list_arg("f32", [f(0)] * 8, "inlist"), list_arg("f16", [h(0)] * 8, "inlist")],
        [
            (0, "f32", [f(32), f(496), f(32), f(496), f(64), f(992), f(1), f(0)]),
            (1, "f16", [h(32), h(496), h(0), h(64), h(31), h(1), h(2), h(31)]),
        ],
        """
               cvt.rn.f32.u32 %f1, %lane;
               mov.f32 %f2, 0f3F800000;
               mov.f32 %f3, 0f40000000;
               add.f32 %f4, %f1, %f1;
               mov.f32 %f5, 0f00000000;
               red.global.add.v2.f32 [%q0], {%f2, %f1};
               red.global.add.v4.f32 [%q0+16], {%f3, %f4, %f5, %f5};
               atom.global.add.v2.f32 {%f6, %f7}, [%q0+8], {%f2, %f1};
               setp.eq.u32 %p1, %lane, 5;
               @%p1 red.global.add.v4.f32 [%q0+16], {%f5, %f5, %f2, %f5};
               cvt.rn.f16.f32 %h1, %f1;
               cvt.rn.f16.f32 %h2, %f2;
               cvt.rn.f16.f32 %h3, %f3;
               cvt.rn.f16.f32 %h4, %f5;
               red.global.add.noftz.v4.f16 [%q1], {%h2, %h1, %h4, %h3};
               mov.b32 %r1, {%h1, %h2};
               mov.b32 %r2, {%h3, %h1};
               red.global.max.noftz.v2.f16x2 [%q1+8], {%r1, %r2};
               """,
        target="sm_90",
    )


def tables():
    yield from atomic_ops()
    yield from more_atomics()
