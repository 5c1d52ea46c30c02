"""Loads, stores, address spaces, atomics, cp.async (PTX ISA 9.7.9, 9.7.13)."""

from . import formats as fp
from .emit import Free, Table, clamp, ints, list_arg, rng, width, wrap
from .floating import triples
from .formats import BF16, F16, F32, F64

MOVE = "PTX ISA, Data Movement and Conversion Instructions: "
SYNC = "PTX ISA, Parallel Synchronization and Communication Instructions: "
PATTERN = [(i * 37 + 11) & 0xFF for i in range(512)]


def little(data, at, size):
    return int.from_bytes(bytes(data[at:at + size]), "little")


def store(param, stride, what, value, offset=0):
    """Stores value at parameter param + lane * stride + offset."""
    return ("mul.wide.u32 %%rd1, %%lane, %d;\nadd.s64 %%rd1, %%q%d, %%rd1;\nst.global.%s [%%rd1+%d], %s;\n" % (stride, param, what, offset, value))


def extension():
    body, wants, rows, args = "", [], [], [list_arg("u8", PATTERN)]
    forms = [(k, w) for k in "usb" for w in (8, 16, 32)]
    for n, (k, w) in enumerate(forms):
        ty, s = "%s%d" % (k, w), w // 8
        rows.append("ld.global." + ty)
        want = [wrap(little(PATTERN, i * s, s), "s%d" % w if k == "s" else "u%d" % w) & (1 << 64) - 1 for i in range(32)]
        body += "mul.wide.u32 %%rd1, %%lane, %d;\nadd.s64 %%rd2, %%q0, %%rd1;\nld.global.%s %%rd3, [%%rd2];\n" % (s, ty)
        body += store(n + 1, 8, "u64", "%rd3")
        wants.append((n + 1, "b64", want))
        args.append("out:256")
    yield Free("data-movement/ld-extension", MOVE + "ld", "A narrow load into a 64-bit register extends by the type's signedness; bit types extend with zeros.",
               rows, args, wants, body)
    body = "mul.wide.u32 %rd1, %lane, 8;\nadd.s64 %rd2, %q0, %rd1;\nld.global.u64 %rd3, [%rd2];\n"
    wants, args, rows = [], [list_arg("u8", PATTERN)], []
    for n, w in enumerate((8, 16, 32)):
        body += store(n + 1, w // 8, "u%d" % w, "%rd3")
        wants.append((n + 1, "b%d" % w, [little(PATTERN, i * 8, w // 8) for i in range(32)]))
        args.append("out:%d" % (w * 4))
        rows.append("st.global.u%d" % w)
    yield Free("data-movement/st-truncation", MOVE + "st", "A narrow store of a wider register keeps the low bits.", rows, args, wants, body)


def vectors():
    regs = {8: "%%h%d", 16: "%%h%d", 32: "%%r%d", 64: "%%rd%d"}
    body, rows, data = "", [], []
    for space in ("global", "shared", "local"):
        for ty in ("u8", "b16", "u32", "f32", "b64", "f64"):
            for v in (2, 4):
                w = width(ty) // 8
                size = v * w
                if size > 16:
                    continue
                reg = {"f32": "%%f%d", "f64": "%%fd%d"}.get(ty, regs[8 * w])
                plain = "{" + ", ".join(reg % (4 + i) for i in range(v)) + "}"
                turned = "{" + ", ".join(reg % (4 + (i + 1) % v) for i in range(v)) + "}"
                op = "v%d.%s" % (v, ty)
                rows += ["ld.%s.%s" % (space, op), "st.%s.%s" % (space, op)]
                body += "mul.wide.u32 %%rd1, %%lane, %d;\nadd.s64 %%rd2, %%q0, %%rd1;\nadd.s64 %%rd3, %%q1, %%rd1;\nld.global.%s %s, [%%rd2];\n" % (size, op, plain)
                if space == "shared":
                    body += "shl.b32 %r1, %lane, 4;\nmov.u32 %r2, sm;\nadd.u32 %r2, %r2, %r1;\n"
                    body += "st.shared.%s [%%r2], %s;\nbar.warp.sync 0xffffffff;\nxor.b32 %%r2, %%r2, 16;\n" % (op, turned)
                    body += "ld.shared.%s %s, [%%r2];\nbar.warp.sync 0xffffffff;\n" % (op, plain)
                elif space == "local":
                    body += "mov.u64 %%rd2, lm;\nst.local.%s [%%rd2+16], %s;\nld.local.%s %s, [%%rd2+16];\n" % (op, turned, op, plain)
                body += "st.global.%s [%%rd3+%d], %s;\n" % (op, len(data), turned if space == "global" else plain)
                for lane in range(32):
                    at = (lane ^ 1 if space == "shared" else lane) * size
                    cell = PATTERN[at:at + size]
                    data += cell[w:] + cell[:w]
    yield Free("data-movement/ld-st-vector", MOVE + "ld, st",
               "Vectors of 2 and 4 through global, shared (of the neighbour lane) and local memory, elements rotated by one.",
               rows, [list_arg("u8", PATTERN), "out:%d" % len(data)], [(1, "b32", [little(data, i, 4) for i in range(0, len(data), 4)])],
               body, module=".shared .align 16 .b8 sm[512];").with_local()


def hints():
    loads = ["ld.global.ca.u32", "ld.global.cg.u32", "ld.global.cs.u32", "ld.global.lu.u32", "ld.global.cv.u32", "ld.global.nc.u32",
             "ld.global.nc.L1::no_allocate.u32", "ld.global.L1::evict_last.u32", "ld.global.L1::evict_first.u32", "ld.global.L2::64B.u32",
             "ld.global.L2::128B.u32", "ld.global.nc.L2::256B.u32", "ldu.global.u32", "ld.weak.global.u32", "ld.volatile.global.u32",
             "ld.relaxed.cta.global.u32", "ld.relaxed.gpu.global.u32", "ld.relaxed.sys.global.u32", "ld.acquire.cta.global.u32",
             "ld.acquire.gpu.global.u32", "ld.acquire.sys.global.u32", "ld.u32", "ld.volatile.u32", "ld.relaxed.gpu.u32", "ld.acquire.gpu.u32",
             "ld.mmio.relaxed.sys.global.u32"]
    values = [x * 0x01010101 & 0xFFFFFFFF for x in range(7, 39)]
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\n"
    want = []
    for k, op in enumerate(loads):
        body += "%s %%r1, [%%rd2];\nadd.u32 %%r1, %%r1, %d;\nst.global.u32 [%%rd3+%d], %%r1;\n" % (op, k, k * 128)
        want += [v + k for v in values]
    yield Free("data-movement/ld-hints", MOVE + "ld, ld.global.nc, ldu",
               "Cache operators, eviction hints and strength change no value of a quiet location.", loads,
               [list_arg("u32", values), "out:%d" % (128 * len(loads))], [(1, "b32", [w & 0xFFFFFFFF for w in want])], body)
    stores = ["st.global.wb.u32", "st.global.cg.u32", "st.global.cs.u32", "st.global.wt.u32", "st.global.L1::no_allocate.u32", "st.weak.global.u32",
              "st.volatile.global.u32", "st.relaxed.cta.global.u32", "st.relaxed.gpu.global.u32", "st.relaxed.sys.global.u32",
              "st.release.cta.global.u32", "st.release.gpu.global.u32", "st.release.sys.global.u32", "st.u32", "st.volatile.u32", "st.release.gpu.u32",
              "st.mmio.relaxed.sys.global.u32"]
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd3, %q0, %rd1;\n"
    want = []
    for k, op in enumerate(stores):
        body += "add.u32 %%r1, %%lane, %d;\n%s [%%rd3+%d], %%r1;\n" % (k * 100, op, k * 128)
        want += [i + k * 100 for i in range(32)]
    yield Free("data-movement/st-hints", MOVE + "st", "", stores, ["out:%d" % (128 * len(stores))], [(0, "u32", want)], body)
    shared = ["volatile.shared", "relaxed.cta.shared", "relaxed.gpu.shared", "weak.shared", "shared::cta"]
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd3, %q0, %rd1;\nshl.b32 %r2, %lane, 2;\nmov.u32 %r3, sm;\nadd.u32 %r3, %r3, %r2;\n"
    want, rows = [], []
    for k, s in enumerate(shared + ["acquire.cta.shared", "acquire.gpu.shared"]):
        st = s.replace("acquire", "release")
        rows += ["ld.%s.u32" % s, "st.%s.u32" % st]
        body += "add.u32 %%r1, %%lane, %d;\nst.%s.u32 [%%r3], %%r1;\nbar.warp.sync 0xffffffff;\nxor.b32 %%r4, %%r3, 64;\nld.%s.u32 %%r5, [%%r4];\nbar.warp.sync 0xffffffff;\nst.global.u32 [%%rd3+%d], %%r5;\n" % (k * 50, st, s, k * 128)
        want += [(i ^ 16) + k * 50 for i in range(32)]
    yield Free("data-movement/ld-st-shared-strength", MOVE + "ld, st", "Each lane reads what the lane 16 away wrote before bar.warp.sync.", rows,
               ["out:%d" % (128 * (len(shared) + 2))], [(0, "u32", want)], body, module=".shared .align 128 .b8 sm[128];")
    yield Free("data-movement/prefetch", MOVE + "prefetch, prefetchu, discard, applypriority, createpolicy", "No effect on values.",
               ["prefetch.global.L1", "prefetch.global.L2", "prefetchu.L1", "prefetch.global.L2::evict_last", "createpolicy.fractional.L2::evict_last.b64", "ld.global.L2::cache_hint.u32"],
               [list_arg("u32", values), "out:128"], [(1, "b32", values)],
               "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nprefetch.global.L1 [%rd2];\nprefetch.global.L2 [%rd2];\nprefetch.L1 [%rd2];\nprefetchu.L1 [%rd2];\n"
               "prefetch.global.L2::evict_last [%rd2];\ncreatepolicy.fractional.L2::evict_last.b64 %rd4, 0.5;\nld.global.L2::cache_hint.u32 %r1, [%rd2], %rd4;\n" + store(1, 4, "u32", "%r1"))


def spaces():
    module = """
.const .align 4 .b32 table[8] = {10, 20, 30, 40, 0x50, -60, 70, 80};
.const .align 8 .f64 pi = 0d400921FB54442D18;
.global .align 4 .f32 floats[4] = {0f3F800000, 0f40000000, 1.5, -0.25};
.global .align 2 .b16 halves[4] = {1, 2, 0xfffe, 65535};
.global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};
.global .align 8 .u64 pointer = generic(floats);
.global .align 8 .u64 inner = floats + 8;
.global .align 4 .u32 zero[4];
.global .align 4 .b8 partly[8] = {1, 2, 3};
.visible .global .align 4 .u32 scalar = 1234567;
"""
    body = """
    and.b32 %r1, %lane, 7;
    shl.b32 %r1, %r1, 2;
    mov.u32 %r2, table;
    add.u32 %r2, %r2, %r1;
    ld.const.u32 %r3, [%r2];
    and.b32 %r4, %lane, 3;
    mul.wide.u32 %rd2, %r4, 4;
    mov.u64 %rd3, floats;
    add.s64 %rd3, %rd3, %rd2;
    ld.global.b32 %r5, [%rd3];
    ld.global.u64 %rd4, [pointer];
    add.s64 %rd4, %rd4, %rd2;
    ld.b32 %r6, [%rd4];
    ld.global.u64 %rd5, [inner];
    ld.global.b32 %r7, [%rd5];
    mul.wide.u32 %rd6, %r4, 2;
    mov.u64 %rd7, halves;
    add.s64 %rd7, %rd7, %rd6;
    ld.global.s16 %r8, [%rd7];
    ld.global.u8 %r9, [text+4];
    ld.global.u32 %r10, [zero+12];
    ld.global.u32 %r11, [partly];
    ld.global.u32 %r12, [partly+4];
    ld.global.u32 %r13, [scalar];
    ld.const.f64 %fd1, [pi];
    cvt.rn.f32.f64 %f1, %fd1;
    mov.b32 %r14, %f1;
    """
    f = [0x3F800000, 0x40000000, 0x3FC00000, 0xBE800000]
    t = [10, 20, 30, 40, 0x50, -60 & 0xFFFFFFFF, 70, 80]
    h = [1, 2, 0xFFFFFFFE, 0xFFFFFFFF]
    want = []
    for i in range(32):
        want += [t[i & 7], f[i & 3], f[i & 3], f[2], h[i & 3], 111, 0, 0x030201, 0, 1234567, 0x40490FDB, 0]
    for k, r in enumerate(("%r3", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13", "%r14", "0")):
        body += "mul.wide.u32 %%rd1, %%lane, 48;\nadd.s64 %%rd1, %%q0, %%rd1;\nst.global.u32 [%%rd1+%d], %s;\n" % (4 * k, r)
    yield Free("data-movement/module-variables", "PTX ISA, State Spaces, Types, and Variables: Initializers",
               "Constants and globals with initialisers; what an initialiser leaves out is zero; addresses as initial values.",
               ["ld.const.u32", "ld.const.f64", "ld.global.s16"], ["out:1536"], [(0, "b32", want)], body, module=module)
    body = """
    mov.u32 %r1, sm;
    shl.b32 %r2, %lane, 2;
    add.u32 %r3, %r1, %r2;
    add.u32 %r4, %lane, 1000;
    st.shared.u32 [%r3], %r4;
    cvt.u64.u32 %rd2, %r3;
    cvta.shared.u64 %rd3, %rd2;
    ld.u32 %r5, [%rd3];
    cvta.to.shared.u64 %rd4, %rd3;
    ld.shared.u32 %r6, [%rd4];
    mov.u64 %rd5, lm;
    st.local.u32 [%rd5+4], %r4;
    cvta.local.u64 %rd6, %rd5;
    ld.u32 %r7, [%rd6+4];
    cvta.to.local.u64 %rd7, %rd6;
    ld.local.u32 %r8, [%rd7+4];
    cvta.const.u64 %rd8, cm;
    ld.u32 %r9, [%rd8+4];
    cvta.to.const.u64 %rd9, %rd8;
    ld.const.u32 %r10, [%rd9+8];
    cvta.global.u64 %rd10, gm;
    ld.u32 %r11, [%rd10];
    cvta.to.global.u64 %rd11, %rd10;
    ld.global.u32 %r12, [%rd11+4];
    mov.b32 %r13, 0;
    """
    bit = 0
    for name, reg, truth in (("shared", "%rd3", 1), ("local", "%rd3", 0), ("global", "%rd3", 0), ("const", "%rd3", 0), ("local", "%rd6", 1), ("shared", "%rd6", 0),
                             ("global", "%rd6", 0), ("const", "%rd8", 1), ("global", "%rd10", 1), ("shared", "%rd10", 0), ("local", "%rd10", 0), ("global", "%q0", 1)):
        body += "isspacep.%s %%p1, %s;\nselp.b32 %%r14, %d, 0, %%p1;\nor.b32 %%r13, %%r13, %%r14;\n" % (name, reg, 1 << bit)
        bit += 1
    truth = 0b100110010001
    truth = sum(t << i for i, t in enumerate((1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1)))
    regs = ("%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13")
    body += "mul.wide.u32 %rd1, %lane, 36;\nadd.s64 %rd1, %q0, %rd1;\n"
    want = []
    for k, r in enumerate(regs):
        body += "st.global.u32 [%%rd1+%d], %s;\n" % (4 * k, r)
    for i in range(32):
        want += [1000 + i] * 4 + [22, 33, 44, 55, truth]
    yield Free("data-movement/cvta-isspacep", MOVE + "cvta, isspacep, mov", "A generic address reads what its own space holds; the way back gives the space's address.",
               ["cvta.shared.u64", "cvta.local.u64", "cvta.const.u64", "cvta.global.u64", "cvta.to.shared.u64", "cvta.to.local.u64", "cvta.to.const.u64",
                "cvta.to.global.u64", "isspacep.shared", "isspacep.local", "isspacep.global", "isspacep.const"],
               ["out:1152"], [(0, "u32", want)], body,
               module=".shared .align 4 .b8 sm[128];\n.const .align 4 .u32 cm[3] = {11, 22, 33};\n.global .align 4 .u32 gm[2] = {44, 55};").with_local()


def parameters():
    kinds = [("u8", "200"), ("s8", "-3"), ("u16", "50000"), ("s16", "-300"), ("u32", "4000000000"), ("s32", "-7"), ("u64", "0x123456789abcdef0"), ("s64", "-9"),
             ("f32", "1.5"), ("f64", "-2.25")]
    params = [".param .%s v%d" % (t, i) for i, (t, _) in enumerate(kinds)] + [".param .align 8 .b8 s[24]", ".param .u64 out"]
    body, want = "ld.param.u64 %q0, [out];\n", []
    for i, (t, v) in enumerate(kinds):
        if t[0] == "f":
            reg, w = ("%f1", 4) if t == "f32" else ("%fd1", 8)
            body += "ld.param.%s %s, [v%d];\nst.global.%s [%%q0+%d], %s;\n" % (t, reg, i, t, 8 * i, reg)
            if w == 4:
                body += "mov.b32 %%r1, 0;\nst.global.u32 [%%q0+%d], %%r1;\n" % (8 * i + 4)
            want.append(fp.bits_of(float(v), F32 if w == 4 else F64))
        else:
            body += "ld.param.%s %%rd2, [v%d];\nst.global.u64 [%%q0+%d], %%rd2;\n" % (t, i, 8 * i)
            want.append(int(v, 0) & (1 << 64) - 1)
    n = len(kinds)
    body += "ld.param.u64 %%rd2, [s+8];\nld.param.u16 %%rd3, [s+18];\nst.global.u64 [%%q0+%d], %%rd2;\nst.global.u64 [%%q0+%d], %%rd3;\n" % (8 * n, 8 * n + 8)
    body += "ld.param.v2.u32 {%%r2, %%r3}, [s];\nst.global.v2.u32 [%%q0+%d], {%%r3, %%r2};\n" % (8 * n + 16)
    raw = bytes((i * 17 + 5) & 255 for i in range(24))
    want += [little(raw, 8, 8), little(raw, 18, 2), little(raw, 4, 4) | little(raw, 0, 4) << 32]
    yield Free("data-movement/ld-param", "PTX ISA, State Spaces, Types, and Variables: Parameter State Space",
               "Scalars of every type and a structure by value; one thread.", ["ld.param.%s" % t for t, _ in kinds],
               ["%s:%s" % k for k in kinds] + ["bytes:" + raw.hex(), "out:%d" % (8 * len(want))], [(n + 1, "b64", want)], body, block="1", params=params)


def moves():
    r = rng("mov")
    a = ints("u64", 32, 4)
    t = Table("data-movement/mov-pack", MOVE + "mov", "Packing puts the first element lowest.")
    args = [("b64", a)]
    t.form("mov.b64", "b64", args, lambda x: x >> 32 | (x & 0xFFFFFFFF) << 32, "{ .reg .b32 %x, %y;\nmov.b64 {%x, %y}, $a;\nmov.b64 $d, {%y, %x}; }")
    t.form("mov.b64", "b64", args, lambda x: sum((x >> 16 * i & 0xFFFF) << 16 * (3 - i) for i in range(4)),
           "{ .reg .b16 %x, %y, %z, %w;\nmov.b64 {%x, %y, %z, %w}, $a;\nmov.b64 $d, {%w, %z, %y, %x}; }")
    t.form("mov.b32", "b32", args, lambda x: (x >> 16 & 0xFFFF) | (x & 0xFFFF) << 16,
           "{ .reg .b32 %r; .reg .b16 %x, %y;\ncvt.u32.u64 %r, $a;\nmov.b32 {%x, %y}, %r;\nmov.b32 $d, {%y, %x}; }")
    t.form("mov.b32", "b32", args, lambda x: int.from_bytes((x & 0xFFFFFFFF).to_bytes(4, "big"), "little"),
           "{ .reg .b32 %r; .reg .b8 %x, %y, %z, %w;\ncvt.u32.u64 %r, $a;\nmov.b32 {%x, %y, %z, %w}, %r;\nmov.b32 $d, {%w, %z, %y, %x}; }")
    t.form("mov.b16", "b16", args, lambda x: (x >> 8 & 0xFF) | (x & 0xFF) << 8,
           "{ .reg .b16 %r; .reg .b8 %x, %y;\ncvt.u16.u64 %r, $a;\nmov.b16 {%x, %y}, %r;\nmov.b16 $d, {%y, %x}; }")
    t.form("mov.b128", "b64", args, lambda x: x ^ 1, "{ .reg .b128 %q; .reg .b64 %x, %y;\nxor.b64 %x, $a, 1;\nmov.b128 %q, {$a, %x};\nmov.b128 {%x, %y}, %q;\nmov.b64 $d, %y; }")
    t.form("mov.u32", "u32", args, lambda x: 0xFFFFFFFE, "mov.u32 $d, -2;")
    t.form("mov.f32", "f32", args, lambda x: 0x3FC00000, "mov.f32 $d, 0f3FC00000;")
    t.form("mov.f64", "f64", args, lambda x: 0xBFD0000000000000, "mov.f64 $d, 0dBFD0000000000000;")
    t.form("mov.b64", "b64", args, lambda x: (x >> 32) << 32 | 5, "{ .reg .b32 %x, %y;\nmov.b64 {_, %y}, $a;\nmov.b32 %x, 5;\nmov.b64 $d, {%x, %y}; }")
    yield t


def atomic_ops():
    fns = {"add": lambda r, s: r + s, "min": min, "max": max, "and": int.__and__, "or": int.__or__, "xor": int.__xor__, "exch": lambda r, s: s,
           "inc": lambda r, s: 0 if r >= s else r + 1, "dec": lambda r, s: s if r == 0 or r > s else r - 1}
    plan = [("add", ("u32", "s32", "u64")), ("min", ("u32", "s32", "u64", "s64")), ("max", ("u32", "s32", "u64", "s64")),
            ("and", ("b32", "b64")), ("or", ("b32", "b64")), ("xor", ("b32", "b64")), ("exch", ("b32", "b64")), ("inc", ("u32",)), ("dec", ("u32",))]
    for space in ("global", "shared", "generic"):
        t = Table("synchronization/atom-" + space, SYNC + "atom, red", "Each lane works on a cell of its own: old value and new content.")
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
    t = Table("synchronization/atom-float", SYNC + "atom, red",
              "Rounds to nearest even. On global memory f32 sums may flush subnormals, so that none occur here; f16 and bf16 keep them.", target="sm_90")
    for ty, fmt in (("f32", F32), ("f64", F64), ("f16", F16), ("bf16", BF16)):
        a, b, _ = triples(fmt, 150, 8)
        usable = [(x, y) for x, y in zip(a, b) if not (fmt.is_nan(x) or fmt.is_nan(y) or fmt.is_nan(fp.add(x, y, fmt)))
                  and (fmt in (F16, BF16) or not (fmt.is_sub(x) or fmt.is_sub(y) or fmt.is_sub(fp.add(x, y, fmt))))]
        a, b = [u[0] for u in usable][:64], [u[1] for u in usable][:64]
        k = ".noftz" if fmt in (F16, BF16) else ""
        for space in ("global", "shared"):
            add_atomic(t, space, "add" + k, ty, a, b, lambda x, y, fmt=fmt: fp.add(x, y, fmt))
            if k:
                pa = [x | a[(i + 5) % len(a)] << 16 for i, x in enumerate(a)]
                pb = [x | b[(i + 5) % len(b)] << 16 for i, x in enumerate(b)]
                add_atomic(t, space, "add.noftz", ty + "x2", pa, pb,
                           lambda x, y, fmt=fmt: fp.add(x >> 16, y >> 16, fmt) << 16 | fp.add(x & 0xFFFF, y & 0xFFFF, fmt))
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
    t.form(row, lt, args, lambda x, y: x, "{ %s\n%s%s%s $d, [%%at_], $b; }" % (reg, cell, init, row), pre=pre)
    t.form(row, lt, args, f, "{ %s\n%s%s%s %%old, [%%at_], $b;\nld%s.%s $d, [%%at_]; }" % (reg, cell, init, row, sp, bits), pre=pre)
    if op != "exch":
        row = "red%s.%s.%s" % (sp, op, ty)
        t.form(row, lt, args, f, "{ %s\n%s%s%s [%%at_], $b;\nld%s.%s $d, [%%at_]; }" % (reg, cell, init, row, sp, bits), pre=pre)


MODULE = ".shared .align 16 .b8 sm[2048];\n.global .align 16 .b8 gm[2048];"


def cell_code(space, k):
    name = "gm" if space == "global" else "sm"
    code = ".reg .b64 %at_; .reg .b64 %step;\nmov.u64 %at_, " + name + ";\nmul.wide.u32 %step, %lane, 16;\nadd.s64 %at_, %at_, %step;\n"
    if space == "generic":
        code += "cvta.shared.u64 %at_, %at_;\n"
    return code


def cas(t, space, w, a, b, c):
    ty = "b%d" % w
    cell = cell_code(space, len(t.forms))
    args = [(ty, a), (ty, b), (ty, c)]
    row = "atom.%s.cas.%s" % (space, ty)
    init = "st.%s.%s [%%at_], $a;\n" % (space, ty)
    t.form(row, ty, args, lambda x, y, z: x, "{ %s%s%s $d, [%%at_], $b, $c; }" % (cell, init, row), pre="module:" + MODULE)
    t.form(row, ty, args, lambda x, y, z: z if x == y else x,
           "{ .reg .b%d %%old;\n%s%s%s %%old, [%%at_], $b, $c;\nld.%s.%s $d, [%%at_]; }" % (w, cell, init, row, space, ty), pre="module:" + MODULE)


def more_atomics():
    sems = ["atom.relaxed.cta.global.add.u32", "atom.acquire.gpu.global.add.u32", "atom.release.sys.global.add.u32", "atom.acq_rel.gpu.global.add.u32",
            "atom.global.cta.add.u32", "atom.global.gpu.add.u32", "atom.global.sys.add.u32", "atom.add.u32", "atom.acq_rel.cta.add.u32"]
    reds = ["red.relaxed.gpu.global.add.u32", "red.release.gpu.global.add.u32", "red.global.cta.add.u32", "red.add.u32"]
    body = ""
    want = []
    for k, op in enumerate(sems):
        body += "add.u32 %%r1, %%lane, %d;\n%s %%r2, [%%q0+%d], %%r1;\n" % (k, op, 4 * k)
        want.append(1000 + sum(i + k for i in range(64)))
    for k, op in enumerate(reds):
        body += "%s [%%q0+%d], 3;\n" % (op, 4 * (k + len(sems)))
        want.append(1000 + 3 * 64)
    n = len(sems) + len(reds)
    yield Free("synchronization/atom-contended", SYNC + "atom, red", "64 threads of two warps add to the same cells: sums do not depend on order.",
               sems + reds, [list_arg("u32", [1000] * n, "inlist")], [(0, "u32", want)], body, block="64")
    yield Free("synchronization/atom-order-free", SYNC + "atom", "Old values of a contended add are a permutation: every ticket is marked once, over 4 blocks.",
               ["atom.global.add.u32"], ["inlist:u32[0*1]", "inlist:u32[0*256]"], [(0, "u32", [256]), (1, "u32", [1] * 256)],
               "atom.global.add.u32 %r1, [%q0], 1;\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd1, %q1, %rd1;\natom.global.add.u32 %r2, [%rd1], 1;", block="64", grid="4")
    yield Free("synchronization/atom-128", SYNC + "atom.cas.b128, atom.exch.b128", "Lane 0 to 31 each on its own 16 bytes; odd lanes compare with what is there.",
               ["atom.global.exch.b128", "atom.global.cas.b128"], [list_arg("u64", list(range(100, 164)), "inlist"), "out:512", "out:512"],
               [(0, "u64", [v for i in range(32) for v in ((7 + i, 8) if i % 2 else (1000 + i, 2000 + i))]),
                (1, "u64", [v for i in range(32) for v in (100 + 2 * i, 101 + 2 * i)]),
                (2, "u64", [v for i in range(32) for v in (1000 + i, 2000 + i)])],
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
               """, target="sm_90")
    f = lambda x: fp.bits_of(float(x), F32)
    h = lambda x: fp.bits_of(float(x), F16)
    yield Free("synchronization/red-vector", SYNC + "red, atom (vector)", "Vectors of f32 and f16 on global memory; every element on its own. 32 lanes add small integers: exact.",
               ["red.global.add.v2.f32", "red.global.add.v4.f32", "atom.global.add.v2.f32", "red.global.add.noftz.v4.f16", "red.global.max.noftz.v2.f16x2"],
               [list_arg("f32", [f(0)] * 8, "inlist"), list_arg("f16", [h(0)] * 8, "inlist")],
               [(0, "f32", [f(32), f(496), f(32), f(496), f(64), f(992), f(1), f(0)]), (1, "f16", [h(32), h(496), h(0), h(64), h(31), h(1), h(2), h(31)])],
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
               @%p1 red.global.add.v2.f32 [%q0+24], {%f2, %f5};
               cvt.rn.f16.f32 %h1, %f1;
               cvt.rn.f16.f32 %h2, %f2;
               cvt.rn.f16.f32 %h3, %f3;
               cvt.rn.f16.f32 %h4, %f5;
               red.global.add.noftz.v4.f16 [%q1], {%h2, %h1, %h4, %h3};
               mov.b32 %r1, {%h1, %h2};
               mov.b32 %r2, {%h3, %h1};
               red.global.max.noftz.v2.f16x2 [%q1+8], {%r1, %r2};
               """, target="sm_90")


def copies():
    src = [(i * 29 + 3) & 0xFF for i in range(1024)]
    forms = [("ca", 4, ""), ("ca", 8, ""), ("ca", 16, ""), ("cg", 16, ""), ("ca", 4, ", 0"), ("ca", 4, ", 3"), ("ca", 8, ", 5"), ("ca", 16, ", 9"), ("cg", 16, ", 4"), ("ca", 16, ", %p1"), ("cg", 16, ", %r9")]
    body = "mul.wide.u32 %rd1, %lane, 16;\nadd.s64 %rd2, %q0, %rd1;\nmov.u32 %r1, sm;\nshl.b32 %r2, %lane, 4;\nadd.u32 %r3, %r1, %r2;\nsetp.lt.u32 %p1, %lane, 16;\nand.b32 %r9, %lane, 15;\n"
    body += "add.s64 %rd3, %q1, %rd1;\n"
    want = []
    for k, (c, n, extra) in enumerate(forms):
        body += "st.shared.v4.u32 [%r3], {0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee};\n".replace("{0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee}", "{%r8, %r8, %r8, %r8}")
        body += "cp.async.%s.shared.global [%%r3], [%%rd2], %d%s;\n" % (c, n, extra)
        body += ("cp.async.commit_group;\ncp.async.wait_group 0;\n" if k % 2 else "cp.async.wait_all;\n")
        body += "bar.warp.sync 0xffffffff;\nxor.b32 %%r4, %%r3, 16;\nld.shared.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%r4];\nbar.warp.sync 0xffffffff;\nst.global.v4.u32 [%%rd3+%d], {%%r10, %%r11, %%r12, %%r13};\n" % (k * 512)
        for lane in range(32):
            o = lane ^ 1
            cnt = n if not extra else (o & 15) if "%r9" in extra else (0 if o < 16 else n) if "%p1" in extra else int(extra[2:])
            cell = src[o * 16:o * 16 + cnt] + [0] * (n - cnt) + [0xEE] * (16 - n)
            want += [little(cell, i, 4) for i in range(0, 16, 4)]
    yield Free("synchronization/cp-async", MOVE + "cp.async",
               "Copies of 4, 8, 16 bytes, with src-size (the rest is zero) or ignore-src (all zero); the neighbour lane reads after the wait.",
               ["cp.async.%s.shared.global" % c for c in ("ca", "cg")] + ["cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all"],
               [list_arg("u8", src), "out:%d" % (512 * len(forms))], [(1, "b32", want)], "mov.b32 %r8, 0xeeeeeeee;\n" + body, module=".shared .align 16 .b8 sm[512];")
    # groups complete in order: with N newer ones pending the older are there
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\nmov.u32 %r1, sm;\nshl.b32 %r2, %lane, 2;\nadd.u32 %r3, %r1, %r2;\n"
    for g in range(4):
        body += "cp.async.ca.shared.global [%%r3+%d], [%%rd2+%d], 4;\ncp.async.commit_group;\n" % (g * 128, g * 128)
    want = []
    for g in range(4):
        body += "cp.async.wait_group %d;\nld.shared.u32 %%r4, [%%r3+%d];\nst.global.u32 [%%rd3+%d], %%r4;\n" % (3 - g, g * 128, g * 128)
    yield Free("synchronization/cp-async-groups", MOVE + "cp.async.wait_group", "Four groups in flight; wait_group N leaves the newest N.",
               ["cp.async.wait_group"], [list_arg("u8", src), "out:512"], [(1, "b32", [little(src, i, 4) for i in range(0, 512, 4)])], body, module=".shared .align 16 .b8 sm[512];")


def tables():
    for group in (extension, vectors, hints, spaces, parameters, moves, atomic_ops, more_atomics, copies):
        yield from group()
