"""Loads, stores, mov, cp.async (PTX ISA 9.7.9)."""

from .emit import Free, Table, ints, list_arg, width, wrap

MOVE = "PTX ISA, Data Movement and Conversion Instructions: "
SYNC = "PTX ISA, Parallel Synchronization and Communication Instructions: "
PATTERN = [(i * 37 + 11) & 0xFF for i in range(512)]


def little(data, at, size):
    return int.from_bytes(bytes(data[at : at + size]), "little")


def store(param, stride, what, value, offset=0):
    """Stores value at parameter param + lane * stride + offset."""
    return (
        "mul.wide.u32 %%rd1, %%lane, %d;\nadd.s64 %%rd1, %%q%d, %%rd1;\nst.global.%s [%%rd1+%d], %s;\n"
        % (stride, param, what, offset, value)
    )


def extension():
    body, wants, rows, args = "", [], [], [list_arg("u8", PATTERN)]
    forms = [(k, w) for k in "usb" for w in (8, 16, 32)]
    for n, (k, w) in enumerate(forms):
        ty, s = "%s%d" % (k, w), w // 8
        rows.append("ld.global." + ty)
        want = [
            wrap(little(PATTERN, i * s, s), "s%d" % w if k == "s" else "u%d" % w) & (1 << 64) - 1
            for i in range(32)
        ]
        body += (
            "mul.wide.u32 %%rd1, %%lane, %d;\nadd.s64 %%rd2, %%q0, %%rd1;\nld.global.%s %%rd3, [%%rd2];\n"
            % (s, ty)
        )
        body += store(n + 1, 8, "u64", "%rd3")
        wants.append((n + 1, "b64", want))
        args.append("out:256")
    yield Free(
        "data-movement/ld-extension",
        MOVE + "ld",
        "A narrow load into a 64-bit register extends by the type's signedness; bit types extend with zeros.",
        rows,
        args,
        wants,
        body,
    )
    body = "mul.wide.u32 %rd1, %lane, 8;\nadd.s64 %rd2, %q0, %rd1;\nld.global.u64 %rd3, [%rd2];\n"
    wants, args, rows = [], [list_arg("u8", PATTERN)], []
    for n, w in enumerate((8, 16, 32)):
        body += store(n + 1, w // 8, "u%d" % w, "%rd3")
        wants.append((n + 1, "b%d" % w, [little(PATTERN, i * 8, w // 8) for i in range(32)]))
        args.append("out:%d" % (w * 4))
        rows.append("st.global.u%d" % w)
    yield Free(
        "data-movement/st-truncation",
        MOVE + "st",
        "A narrow store of a wider register keeps the low bits.",
        rows,
        args,
        wants,
        body,
    )


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
                body += (
                    "mul.wide.u32 %%rd1, %%lane, %d;\nadd.s64 %%rd2, %%q0, %%rd1;\nadd.s64 %%rd3, %%q1, %%rd1;\nld.global.%s %s, [%%rd2];\n"
                    % (size, op, plain)
                )
                if space == "shared":
                    body += "shl.b32 %r1, %lane, 4;\nmov.u32 %r2, sm;\nadd.u32 %r2, %r2, %r1;\n"
                    body += (
                        "st.shared.%s [%%r2], %s;\nbar.warp.sync 0xffffffff;\nxor.b32 %%r2, %%r2, 16;\n"
                        % (op, turned)
                    )
                    body += "ld.shared.%s %s, [%%r2];\nbar.warp.sync 0xffffffff;\n" % (op, plain)
                elif space == "local":
                    body += (
                        "mov.u64 %%rd2, lm;\nst.local.%s [%%rd2+16], %s;\nld.local.%s %s, [%%rd2+16];\n"
                        % (op, turned, op, plain)
                    )
                body += "st.global.%s [%%rd3+%d], %s;\n" % (
                    op,
                    len(data),
                    turned if space == "global" else plain,
                )
                for lane in range(32):
                    at = (lane ^ 1 if space == "shared" else lane) * size
                    cell = PATTERN[at : at + size]
                    data += cell[w:] + cell[:w]
    yield Free(
        "data-movement/ld-st-vector",
        MOVE + "ld, st",
        "Vectors of 2 and 4 through global, shared (of the neighbour lane) and local memory, elements rotated by one.",
        rows,
        [list_arg("u8", PATTERN), "out:%d" % len(data)],
        [(1, "b32", [little(data, i, 4) for i in range(0, len(data), 4)])],
        body,
        module=".shared .align 16 .b8 sm[512];",
    ).with_local()


def hints():
    loads = [
        "ld.global.ca.u32",
        "ld.global.cg.u32",
        "ld.global.cs.u32",
        "ld.global.lu.u32",
        "ld.global.cv.u32",
        "ld.global.nc.u32",
        "ld.global.nc.L1::no_allocate.u32",
        "ld.global.L1::evict_last.u32",
        "ld.global.L1::evict_first.u32",
        "ld.global.L2::64B.u32",
        "ld.global.L2::128B.u32",
        "ld.global.nc.L2::256B.u32",
        "ldu.global.u32",
        "ld.weak.global.u32",
        "ld.volatile.global.u32",
        "ld.relaxed.cta.global.u32",
        "ld.relaxed.gpu.global.u32",
        "ld.relaxed.sys.global.u32",
        "ld.acquire.cta.global.u32",
        "ld.acquire.gpu.global.u32",
        "ld.acquire.sys.global.u32",
        "ld.u32",
        "ld.volatile.u32",
        "ld.relaxed.gpu.u32",
        "ld.acquire.gpu.u32",
        "ld.mmio.relaxed.sys.global.u32",
    ]
    values = [x * 0x01010101 & 0xFFFFFFFF for x in range(7, 39)]
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\n"
    want = []
    for k, op in enumerate(loads):
        body += "%s %%r1, [%%rd2];\nadd.u32 %%r1, %%r1, %d;\nst.global.u32 [%%rd3+%d], %%r1;\n" % (
            op,
            k,
            k * 128,
        )
        want += [v + k for v in values]
    yield Free(
        "data-movement/ld-hints",
        MOVE + "ld, ld.global.nc, ldu",
        "Cache operators, eviction hints and strength change no value of a quiet location.",
        loads,
        [list_arg("u32", values), "out:%d" % (128 * len(loads))],
        [(1, "b32", [w & 0xFFFFFFFF for w in want])],
        body,
    )
    stores = [
        "st.global.wb.u32",
        "st.global.cg.u32",
        "st.global.cs.u32",
        "st.global.wt.u32",
        "st.global.L1::no_allocate.u32",
        "st.weak.global.u32",
        "st.volatile.global.u32",
        "st.relaxed.cta.global.u32",
        "st.relaxed.gpu.global.u32",
        "st.relaxed.sys.global.u32",
        "st.release.cta.global.u32",
        "st.release.gpu.global.u32",
        "st.release.sys.global.u32",
        "st.u32",
        "st.volatile.u32",
        "st.release.gpu.u32",
        "st.mmio.relaxed.sys.global.u32",
    ]
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd3, %q0, %rd1;\n"
    want = []
    for k, op in enumerate(stores):
        body += "add.u32 %%r1, %%lane, %d;\n%s [%%rd3+%d], %%r1;\n" % (k * 100, op, k * 128)
        want += [i + k * 100 for i in range(32)]
    yield Free(
        "data-movement/st-hints",
        MOVE + "st",
        "",
        stores,
        ["out:%d" % (128 * len(stores))],
        [(0, "u32", want)],
        body,
    )
    shared = [
        "volatile.shared",
        "relaxed.cta.shared",
        "relaxed.gpu.shared",
        "weak.shared",
        "shared::cta",
    ]
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd3, %q0, %rd1;\nshl.b32 %r2, %lane, 2;\nmov.u32 %r3, sm;\nadd.u32 %r3, %r3, %r2;\n"
    want, rows = [], []
    for k, s in enumerate(shared + ["acquire.cta.shared", "acquire.gpu.shared"]):
        st = s.replace("acquire", "release")
        rows += ["ld.%s.u32" % s, "st.%s.u32" % st]
        body += (
            "add.u32 %%r1, %%lane, %d;\nst.%s.u32 [%%r3], %%r1;\nbar.warp.sync 0xffffffff;\nxor.b32 %%r4, %%r3, 64;\nld.%s.u32 %%r5, [%%r4];\nbar.warp.sync 0xffffffff;\nst.global.u32 [%%rd3+%d], %%r5;\n"
            % (k * 50, st, s, k * 128)
        )
        want += [(i ^ 16) + k * 50 for i in range(32)]
    yield Free(
        "data-movement/ld-st-shared-strength",
        MOVE + "ld, st",
        "Each lane reads what the lane 16 away wrote before bar.warp.sync.",
        rows,
        ["out:%d" % (128 * (len(shared) + 2))],
        [(0, "u32", want)],
        body,
        module=".shared .align 128 .b8 sm[128];",
    )
    yield Free(
        "data-movement/prefetch",
        MOVE + "prefetch, prefetchu, discard, applypriority, createpolicy",
        "No effect on values.",
        [
            "prefetch.global.L1",
            "prefetch.global.L2",
            "prefetchu.L1",
            "prefetch.global.L2::evict_last",
            "createpolicy.fractional.L2::evict_last.b64",
            "ld.global.L2::cache_hint.u32",
        ],
        [list_arg("u32", values), "out:128"],
        [(1, "b32", values)],
        "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nprefetch.global.L1 [%rd2];\nprefetch.global.L2 [%rd2];\nprefetch.L1 [%rd2];\nprefetchu.L1 [%rd2];\n"
        "prefetch.global.L2::evict_last [%rd2];\ncreatepolicy.fractional.L2::evict_last.b64 %rd4, 0.5;\nld.global.L2::cache_hint.u32 %r1, [%rd2], %rd4;\n"
        + store(1, 4, "u32", "%r1"),
    )


def moves():
    a = ints("u64", 32, 4)
    t = Table("data-movement/mov-pack", MOVE + "mov", "Packing puts the first element lowest.", version="8.6")
    args = [("b64", a)]
    t.form(
        "mov.b64",
        "b64",
        args,
        lambda x: x >> 32 | (x & 0xFFFFFFFF) << 32,
        "{ .reg .b32 %x, %y;\nmov.b64 {%x, %y}, $a;\nmov.b64 $d, {%y, %x}; }",
    )
    t.form(
        "mov.b64",
        "b64",
        args,
        lambda x: sum((x >> 16 * i & 0xFFFF) << 16 * (3 - i) for i in range(4)),
        "{ .reg .b16 %x, %y, %z, %w;\nmov.b64 {%x, %y, %z, %w}, $a;\nmov.b64 $d, {%w, %z, %y, %x}; }",
    )
    t.form(
        "mov.b32",
        "b32",
        args,
        lambda x: (x >> 16 & 0xFFFF) | (x & 0xFFFF) << 16,
        "{ .reg .b32 %r; .reg .b16 %x, %y;\ncvt.u32.u64 %r, $a;\nmov.b32 {%x, %y}, %r;\nmov.b32 $d, {%y, %x}; }",
    )
    t.form(
        "mov.b32",
        "b32",
        args,
        lambda x: int.from_bytes((x & 0xFFFFFFFF).to_bytes(4, "big"), "little"),
        "{ .reg .b32 %r; .reg .b8 %x, %y, %z, %w;\ncvt.u32.u64 %r, $a;\nmov.b32 {%x, %y, %z, %w}, %r;\nmov.b32 $d, {%w, %z, %y, %x}; }",
    )
    t.form(
        "mov.b16",
        "b16",
        args,
        lambda x: (x >> 8 & 0xFF) | (x & 0xFF) << 8,
        "{ .reg .b16 %r; .reg .b8 %x, %y;\ncvt.u16.u64 %r, $a;\nmov.b16 {%x, %y}, %r;\nmov.b16 $d, {%y, %x}; }",
    )
    t.form(
        "mov.b128",
        "b64",
        args,
        lambda x: x ^ 1,
        "{ .reg .b128 %q; .reg .b64 %x, %y;\nxor.b64 %x, $a, 1;\nmov.b128 %q, {$a, %x};\nmov.b128 {%x, %y}, %q;\nmov.b64 $d, %y; }",
    )
    t.form("mov.u32", "u32", args, lambda x: 0xFFFFFFFE, "mov.u32 $d, -2;")
    t.form("mov.f32", "f32", args, lambda x: 0x3FC00000, "mov.f32 $d, 0f3FC00000;")
    t.form("mov.f64", "f64", args, lambda x: 0xBFD0000000000000, "mov.f64 $d, 0dBFD0000000000000;")
    t.form(
        "mov.b64",
        "b64",
        args,
        lambda x: (x >> 32) << 32 | 5,
        "{ .reg .b32 %x, %y;\nmov.b64 {_, %y}, $a;\nmov.b32 %x, 5;\nmov.b64 $d, {%x, %y}; }",
    )
    yield t


def copies():
    src = [(i * 29 + 3) & 0xFF for i in range(1024)]
    forms = [
        ("ca", 4, ""),
        ("ca", 8, ""),
        ("ca", 16, ""),
        ("cg", 16, ""),
        ("ca", 4, ", 0"),
        ("ca", 4, ", 3"),
        ("ca", 8, ", 5"),
        ("ca", 16, ", 9"),
        ("cg", 16, ", 4"),
        ("ca", 16, ", %p1"),
        ("cg", 16, ", %r9"),
    ]
    body = "mul.wide.u32 %rd1, %lane, 16;\nadd.s64 %rd2, %q0, %rd1;\nmov.u32 %r1, sm;\nshl.b32 %r2, %lane, 4;\nadd.u32 %r3, %r1, %r2;\nsetp.lt.u32 %p1, %lane, 16;\nand.b32 %r9, %lane, 15;\n"
    body += "add.s64 %rd3, %q1, %rd1;\n"
    want = []
    for k, (c, n, extra) in enumerate(forms):
        body += (
            "st.shared.v4.u32 [%r3], {0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee};\n".replace(
                "{0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee}", "{%r8, %r8, %r8, %r8}"
            )
        )
        body += "cp.async.%s.shared.global [%%r3], [%%rd2], %d%s;\n" % (c, n, extra)
        body += (
            "cp.async.commit_group;\ncp.async.wait_group 0;\n" if k % 2 else "cp.async.wait_all;\n"
        )
        body += (
            "bar.warp.sync 0xffffffff;\nxor.b32 %%r4, %%r3, 16;\nld.shared.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%r4];\nbar.warp.sync 0xffffffff;\nst.global.v4.u32 [%%rd3+%d], {%%r10, %%r11, %%r12, %%r13};\n"
            % (k * 512)
        )
        for lane in range(32):
            o = lane ^ 1
            cnt = (
                n
                if not extra
                else (
                    (o & 15)
                    if "%r9" in extra
                    else (0 if o < 16 else n) if "%p1" in extra else int(extra[2:])
                )
            )
            cell = src[o * 16 : o * 16 + cnt] + [0] * (n - cnt) + [0xEE] * (16 - n)
            want += [little(cell, i, 4) for i in range(0, 16, 4)]
    yield Free(
        "synchronization/cp-async",
        MOVE + "cp.async",
        "Copies of 4, 8, 16 bytes, with src-size (the rest is zero) or ignore-src (all zero); the neighbour lane reads after the wait.",
        ["cp.async.%s.shared.global" % c for c in ("ca", "cg")]
        + ["cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all"],
        [list_arg("u8", src), "out:%d" % (512 * len(forms))],
        [(1, "b32", want)],
        "mov.b32 %r8, 0xeeeeeeee;\n" + body,
        module=".shared .align 16 .b8 sm[512];",
    )
    # groups complete in order: with N newer ones pending the older are there
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\nmov.u32 %r1, sm;\nshl.b32 %r2, %lane, 2;\nadd.u32 %r3, %r1, %r2;\n"
    for g in range(4):
        body += "cp.async.ca.shared.global [%%r3+%d], [%%rd2+%d], 4;\ncp.async.commit_group;\n" % (
            g * 128,
            g * 128,
        )
    want = []
    for g in range(4):
        body += (
            "cp.async.wait_group %d;\nld.shared.u32 %%r4, [%%r3+%d];\nst.global.u32 [%%rd3+%d], %%r4;\n"
            % (3 - g, g * 128, g * 128)
        )
    yield Free(
        "synchronization/cp-async-groups",
        MOVE + "cp.async.wait_group",
        "Four groups in flight; wait_group N leaves the newest N.",
        ["cp.async.wait_group"],
        [list_arg("u8", src), "out:512"],
        [(1, "b32", [little(src, i, 4) for i in range(0, 512, 4)])],
        body,
        module=".shared .align 16 .b8 sm[512];",
    )


def policies():
    values = list(range(500, 532))
    rows = [
        "ld.volatile.global.L2::128B.u32",
        "ld.relaxed.gpu.global.L1::evict_last.u32",
        "ld.global.ca.L2::cache_hint.u32",
        "st.global.cg.L2::cache_hint.u32",
        "st.relaxed.gpu.global.L1::evict_first.u32",
    ]
    body = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\n"
    body += "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd4, [%q0], 128, 128;\n"
    body += "applypriority.global.L2::evict_normal [%q0], 128;\n"
    body += "ld.volatile.global.L2::128B.u32 %r1, [%rd2];\nst.relaxed.gpu.global.L1::evict_first.u32 [%rd3], %r1;\n"
    body += "ld.relaxed.gpu.global.L1::evict_last.u32 %r1, [%rd2];\nst.global.cg.L2::cache_hint.u32 [%rd3+128], %r1, %rd4;\n"
    body += "ld.global.ca.L2::cache_hint.u32 %r1, [%rd2], %rd4;\nst.global.u32 [%rd3+256], %r1;\n"
    yield Free(
        "data-movement/cache-policy",
        MOVE + "ld, st, createpolicy, applypriority",
        "Policies and priorities change no value.",
        rows + ["createpolicy.range", "applypriority.global.L2::evict_normal"],
        [list_arg("u32", values), "out:384"],
        [(1, "u32", values * 3)],
        body,
    )


def tables():
    for group in (extension, vectors, hints, policies, moves, copies):
        yield from group()
