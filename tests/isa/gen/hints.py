"""What changes no value or comes in wide pieces: cache policies, 256-bit loads and stores, atomics with
hints and vectors, proxies, dependent launches (PTX ISA 9.7.9, 9.7.12, 9.7.13)."""

from . import formats as fp
from .emit import Free, list_arg
from .formats import BF16, F16
from .memory import SYNC

MOVE = "PTX ISA, Data Movement and Conversion Instructions: "
POLICY = "createpolicy.fractional.L2::evict_first.b64 %rd9, 1.0;\n"


def small(n, fmt):
    return [fp.bits_of(float(i), fmt) for i in range(n)]


def policies():
    rows = [
        "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64",
        "createpolicy.cvt.L2.b64",
    ]
    yield Free(
        "data-movement/createpolicy",
        MOVE + "createpolicy",
        "A load under any policy gives what memory holds.",
        rows,
        [list_arg("u32", list(range(40, 72))), "out:256"],
        [(1, "u32", list(range(40, 72)) * 2)],
        "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\n"
        + "%s %%rd4, [%%q0], 64, 128;\n" % rows[0]
        + "ld.global.L2::cache_hint.u32 %r1, [%rd2], %rd4;\nst.global.u32 [%rd3], %r1;\n"
        + "mov.u64 %%rd5, 0x12f0000000000000;\n%s %%rd6, %%rd5;\n" % rows[1]
        + "ld.global.L2::cache_hint.u32 %r2, [%rd2], %rd6;\nst.global.u32 [%rd3+128], %r2;",
    )


def wide():
    loads = [
        "ld.global.L1::evict_last.L2::evict_first.L2::cache_hint.v8.b32",
        "ld.global.cs.v8.u32",
        "ld.volatile.global.v8.b32",
        "ld.relaxed.gpu.global.L1::no_allocate.v8.b32",
        "ld.acquire.sys.global.v4.b64",
        "ld.global.ca.nc.v8.b32",
        "ld.global.nc.L1::evict_first.L2::evict_last.v4.u64",
    ]
    stores = [
        "st.global.L1::no_allocate.L2::evict_last.v8.b32",
        "st.weak.global.cg.v4.b64",
        "st.volatile.global.v8.b32",
        "st.release.gpu.global.v8.b32",
        "st.relaxed.sys.global.L2::evict_normal.v4.u64",
    ]
    words = [7 * i + 1 for i in range(256)]

    def vector(row):
        quads = ".v4." in row
        return "{%s}" % ", ".join(("%%rd%d" if quads else "%%r%d") % (i + 10) for i in range(4 if quads else 8))

    body = POLICY + "mul.wide.u32 %rd1, %lane, 32;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\n"
    for k, row in enumerate(loads):
        hint = ", %rd9" if "cache_hint" in row else ""
        body += "%s %s, [%%rd2]%s;\n" % (row, vector(row), hint)
        kind = "v4.b64" if ".v4." in row else "v8.b32"
        body += "st.global.%s [%%rd3+%d], %s;\n" % (kind, 1024 * k, vector(row))
    for k, row in enumerate(stores):
        kind = "v4.b64" if ".v4." in row else "v8.b32"
        body += "ld.global.%s %s, [%%rd2];\n" % (kind, vector(row))
        body += "%s [%%rd3+%d], %s;\n" % (row, 1024 * (k + len(loads)), vector(row))
    n = len(loads) + len(stores)
    yield Free(
        "data-movement/ld-st-256",
        MOVE + "ld, ld.global.nc, st",
        "Lane i moves words 8i to 8i + 7 at once.",
        loads + stores,
        [list_arg("b32", words), "out:%d" % (1024 * n)],
        [(1, "b32", words * n)],
        body,
        target="sm_100",
        version="8.8",
    )


def atomics():
    """One cell for each form; 32 lanes add what is exact in any order."""
    hint = ".L2::cache_hint"
    forms = [
        ("atom.global.add%s.u32" % hint, "%r1", 32 * 3),
        ("atom.relaxed.gpu.global.xor%s.b32" % hint, "%lane", 0),
        ("atom.global.inc%s.u32" % hint, "%r2", 32),
        ("atom.global.max%s.s32" % hint, "%lane", 31),
        ("red.global.add%s.u32" % hint, "%r1", 32 * 3),
        ("red.release.gpu.global.or%s.b32" % hint, "%lane", 31),
        ("red.global.dec%s.u32" % hint, "%r2", 1000 - 31),
        ("red.global.max%s.u32" % hint, "%lane", 31),
    ]
    body = POLICY + "mov.u32 %r1, 3;\nmov.u32 %r2, 1000;\n"
    for k, (row, b, _) in enumerate(forms):
        old = "%r3, " if row.startswith("atom") else ""
        body += "%s %s[%%q0+%d], %s, %%rd9;\n" % (row, old, 4 * k, b)
    yield Free(
        "synchronization/atom-hints",
        SYNC + "atom, red",
        "A cache hint changes no result.",
        [f[0] for f in forms],
        [list_arg("u32", [0] * len(forms), "inlist")],
        [(0, "u32", [f[2] for f in forms])],
        body,
    )
    for fmt in (F16, BF16):
        ty, n = fmt.name, lambda x, fmt=fmt: fp.bits_of(float(x), fmt)
        rows = [
            "atom.global.add.noftz%s.%s" % (hint, ty),
            "red.global.add.noftz%s.%s" % (hint, ty),
            "atom.global.add.noftz%s.%sx2" % (hint, ty),
            "red.global.add.noftz%s.%sx2" % (hint, ty),
        ]
        args = ["%h1", "%h1", "%r1", "%r1"]
        body = POLICY + "cvt.rn.f32.u32 %%f1, %%lane;\ncvt.rn.%s.f32 %%h1, %%f1;\n" % ty
        body += "mov.u16 %%h2, %d;\nmov.b32 %%r1, {%%h1, %%h2};\n" % n(1)
        # 0 + 1 + ... + 15 = 120 is exact in bf16 in any order, as all partial sums are.
        body += "setp.gt.u32 %p1, %lane, 15;\n@%p1 bra DONE;\n"
        for k, (row, b) in enumerate(zip(rows, args)):
            old = ("%h3, " if "x2" not in row else "%r2, ") if row.startswith("atom") else ""
            body += "%s %s[%%q0+%d], %s, %%rd9;\n" % (row, old, 4 * k, b)
        vectors = [
            "atom.global.add.noftz.v2.%s" % ty,
            "atom.global.max.noftz.v4.%s" % ty,
            "atom.global.add.noftz.v2.%sx2" % ty,
        ]
        body += "%s {%%h5, %%h6}, [%%q0+16], {%%h1, %%h2};\n" % vectors[0]
        body += "%s {%%h5, %%h6, %%h7, %%h8}, [%%q0+24], {%%h1, %%h2, %%h1, %%h2};\n" % vectors[1]
        body += "%s {%%r5, %%r6}, [%%q0+32], {%%r1, %%r1};\nDONE:" % vectors[2]
        want = [120, 0, 120, 0, 120, 16, 120, 16, 120, 16, 0, 0, 15, 1, 15, 1, 120, 16, 120, 16]
        yield Free(
            "synchronization/atom-hints-" + ty,
            SYNC + "atom, red",
            "Lanes 0 to 15 add their number and one, or keep the largest: exact in any order.",
            rows + vectors,
            [list_arg(ty, [0] * len(want), "inlist")],
            [(0, ty, [n(x) for x in want])],
            body,
            target="sm_90",
        )
    row = "atom.global.exch%s.b128" % hint
    yield Free(
        "synchronization/atom-hints-128",
        SYNC + "atom",
        "Each lane exchanges 128 bits of its own.",
        [row],
        [list_arg("b32", list(range(1, 129)), "inlist"), "out:512"],
        [(0, "b32", [9] * 128), (1, "b32", list(range(1, 129)))],
        POLICY
        + ".reg .b128 %w0, %w1;\nmul.wide.u32 %rd1, %lane, 16;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\n"
        + "mov.u64 %rd4, 0x900000009;\nmov.b128 %w0, {%rd4, %rd4};\n"
        + "%s %%w1, [%%rd2], %%w0, %%rd9;\nmov.b128 {%%rd5, %%rd6}, %%w1;\n" % row
        + "st.global.v2.b64 [%rd3], {%rd5, %rd6};",
        target="sm_90",
        version="8.4",
    )


def proxies():
    rows = [
        "fence.proxy.async",
        "fence.proxy.async.global",
        "fence.proxy.async.shared::cta",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
        "griddepcontrol.wait",
        "griddepcontrol.launch_dependents",
    ]
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nmov.u32 %r1, %lane;\n"
    body += "".join("st.global.u32 [%%rd2+%d], %%r1;\n%s;\nadd.u32 %%r1, %%r1, 100;\n" % (128 * k, r) for k, r in enumerate(rows))
    yield Free(
        "synchronization/fence-proxy",
        SYNC + "fence.proxy; Control Flow: griddepcontrol",
        "Around them every store stays where it is; a launch that depends on no other waits for none.",
        rows,
        ["out:%d" % (128 * len(rows))],
        [(0, "u32", [lane + 100 * k for k in range(len(rows)) for lane in range(32)])],
        body,
        target="sm_90",
        version="8.6",
    )


def tables():
    for group in (policies, wide, atomics, proxies):
        yield from group()
