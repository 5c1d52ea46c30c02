"""Warp-level matrix instructions (PTX ISA 9.7.15): mma, wmma, ldmatrix, stmatrix, movmatrix.

Values are small integers and quarters, so that every sum is exact whatever the order and precision of
the accumulation; the fragment layouts are the manual's.
"""

from fractions import Fraction

from . import formats as fp
from .emit import Free, list_arg, rng
from .formats import BF16, F16, F32

SECTION = "PTX ISA, Warp Level Matrix Multiply-Accumulate Instructions: "
FMT = {"f16": F16, "bf16": BF16, "tf32": F32, "f32": F32}


def number(x, ty):
    return fp.bits_of(Fraction(x), FMT[ty])


def values(r, n, quarters=True):
    return [
        Fraction(r.randint(-8, 8), 4) if quarters else Fraction(r.randint(-4, 4)) for _ in range(n)
    ]


def product(a, b, c, m, n, k):
    return [
        sum(a[i * k + q] * b[q * n + j] for q in range(k)) + c[i * n + j]
        for i in range(m)
        for j in range(n)
    ]


def fragment(param, elements, stride, size, regs):
    """Loads a lane's elements, packing two where they are 16 bits wide. An element is (row, column),
    each (times group, times quad, plus); %r20 is the group, %r21 the quad's lane."""
    body = ""
    for e, (row, col) in enumerate(elements):
        by_group, by_quad, plus = ((row[i] * stride + col[i]) * size for i in range(3))
        body += (
            "mul.lo.u32 %%r39, %%r20, %d;\nmad.lo.u32 %%r39, %%r21, %d, %%r39;\nadd.u32 %%r39, %%r39, %d;\n"
            % (by_group, by_quad, plus)
        )
        body += "cvt.u64.u32 %%rd20, %%r39;\nadd.s64 %%rd20, %%q%d, %%rd20;\n" % param
        if size == 4:
            body += "ld.global.b32 %s, [%%rd20];\n" % regs[e]
            continue
        body += "ld.global.b16 %%h%d, [%%rd20];\n" % (e % 2)
        if e % 2:
            body += "mov.b32 %s, {%%h0, %%h1};\n" % regs[e // 2]
    return body


def braces(regs):
    return "{" + ", ".join(regs) + "}"


def layout(ty, k):
    """(A, B, C) elements of a lane; each coordinate is (times group, times quad, plus)."""
    c = [((1, 0, 8 * (i // 2)), (0, 2, i & 1)) for i in range(4)]
    if ty == "tf32":
        a = [((1, 0, 8 * (i & 1)), (0, 1, 4 * (i // 2))) for i in range(k // 2)]
        b = [((0, 1, 4 * i), (1, 0, 0)) for i in range(k // 4)]
        return a, b, c
    a = [((1, 0, 8 * (i // 2 & 1)), (0, 2, (i & 1) + 8 * (i // 4))) for i in range(k // 2)]
    b = [((0, 2, (i & 1) + 8 * (i // 2)), (1, 0, 0)) for i in range(k // 4)]
    return a, b, c


def mma():
    plan = [
        ("f16", 16, "f32"),
        ("f16", 16, "f16"),
        ("f16", 8, "f32"),
        ("f16", 8, "f16"),
        ("bf16", 16, "f32"),
        ("bf16", 8, "f32"),
        ("tf32", 8, "f32"),
        ("tf32", 4, "f32"),
    ]
    for ty, k, acc in plan:
        r = rng("mma%s%d%s" % (ty, k, acc))
        a, b, c = (
            values(r, 16 * k, acc == "f32"),
            values(r, 8 * k, acc == "f32"),
            values(r, 128, acc == "f32"),
        )
        d = product(a, b, c, 16, 8, k)
        row = "mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s" % (k, acc, ty, ty, acc)
        la, lb, lc = layout(ty, k)
        size, acc_size = (4 if ty == "tf32" else 2), (4 if acc == "f32" else 2)
        ra = ["%%r%d" % i for i in range(len(la) * size // 4)]
        rb = ["%%r%d" % (10 + i) for i in range(len(lb) * size // 4)]
        rc = ["%%f%d" % i for i in range(4)] if acc == "f32" else ["%r22", "%r23"]
        rd = ["%%f%d" % i for i in range(4, 8)] if acc == "f32" else ["%r24", "%r25"]
        body = "shr.u32 %r20, %lane, 2;\nand.b32 %r21, %lane, 3;\n"
        body += (
            fragment(0, la, k, size, ra)
            + fragment(1, lb, 8, size, rb)
            + fragment(2, lc, 8, acc_size, rc)
        )
        body += "%s %s, %s, %s, %s;\n" % (row, braces(rd), braces(ra), braces(rb), braces(rc))
        body += (
            "mul.lo.u32 %%r39, %%r20, %d;\nmad.lo.u32 %%r39, %%r21, %d, %%r39;\ncvt.u64.u32 %%rd20, %%r39;\nadd.s64 %%rd20, %%q3, %%rd20;\n"
            % (8 * acc_size, 2 * acc_size)
        )
        if acc == "f32":
            body += "st.global.v2.f32 [%%rd20], %s;\nst.global.v2.f32 [%%rd20+256], %s;" % (
                braces(rd[:2]),
                braces(rd[2:]),
            )
        else:
            body += "st.global.b32 [%%rd20], %s;\nst.global.b32 [%%rd20+128], %s;" % tuple(rd)
        lt = "f32" if ty == "tf32" else ty
        yield Free(
            "warp-matrix/mma-m16n8k%d-%s-%s" % (k, ty, acc),
            SECTION + "mma, Matrix Fragments for mma.m16n8k%d" % k,
            "D = A B + C with A, B, C and D row-major in memory. All sums are exact.",
            [row],
            [
                list_arg(lt, [number(x, ty) for x in a]),
                list_arg(lt, [number(x, ty) for x in b]),
                list_arg(acc, [number(x, acc) for x in c]),
                "out:%d" % (128 * acc_size),
            ],
            [(3, acc, [number(x, acc) for x in d])],
            body,
        )


WMMA = (
    ("f16", 16, 16, 16, "f32", "f32"),
    ("f16", 16, 16, 16, "f16", "f16"),
    ("f16", 32, 8, 16, "f32", "f32"),
    ("f16", 8, 32, 16, "f16", "f16"),
    ("f16", 16, 16, 16, "f16", "f32"),
    ("f16", 32, 8, 16, "f32", "f16"),
    ("bf16", 16, 16, 16, "f32", "f32"),
    ("bf16", 8, 32, 16, "f32", "f32"),
    ("bf16", 32, 8, 16, "f32", "f32"),
    ("tf32", 16, 16, 8, "f32", "f32"),
)


def stored(matrix, rows, columns, order):
    """The elements of a row-major matrix as they lie in memory, and the leading dimension."""
    if order == "row":
        return matrix, columns
    return [matrix[i * columns + j] for j in range(columns) for i in range(rows)], rows


def accumulator(ty, first):
    """Registers of a 256-element accumulator fragment."""
    if ty == "f32":
        return braces(["%%f%d" % (first * 8 + i) for i in range(8)])
    return braces(["%%r%d" % (20 + first * 4 + i) for i in range(4)])


def wmma():
    for index, (ty, m, n, k, ctype, dtype) in enumerate(WMMA):
        r = rng("wmma%s%d%d%s%s" % (ty, m, n, ctype, dtype))
        quarters = "f16" not in (ctype, dtype)
        a, b, c = (values(r, size, quarters) for size in (m * k, n * k, m * n))
        d = product(a, b, c, m, n, k)
        order = [("row", "col")[index >> bit & 1] for bit in range(4)]
        order[3] = ("col", "row")[index & 1]
        (a, lda), (b, ldb) = stored(a, m, k, order[0]), stored(b, k, n, order[1])
        (c, ldc), (d, ldd) = stored(c, m, n, order[2]), stored(d, m, n, order[3])
        shape = "m%dn%dk%d" % (m, n, k)
        nr = {"f16": (8, 8), "bf16": {16: (4, 4), 8: (2, 8), 32: (8, 2)}[m], "tf32": (4, 4)}[ty]
        ra = braces(["%%r%d" % i for i in range(nr[0])])
        rb = braces(["%%r%d" % (10 + i) for i in range(nr[1])])
        rc, rd = accumulator(ctype, 0), accumulator(dtype, 1)
        types = "%s.%s" % (dtype, ctype) if ty == "f16" else "f32.%s.%s.f32" % (ty, ty)
        rows = [
            "wmma.load.a.sync.aligned.%s.%s.global.%s" % (order[0], shape, ty),
            "wmma.load.b.sync.aligned.%s.%s.global.%s" % (order[1], shape, ty),
            "wmma.load.c.sync.aligned.%s.%s.global.%s" % (order[2], shape, ctype),
            "wmma.mma.sync.aligned.%s.%s.%s.%s" % (order[0], order[1], shape, types),
            "wmma.store.d.sync.aligned.%s.%s.global.%s" % (order[3], shape, dtype),
        ]
        body = "mov.u32 %%r39, %d;\n%s %s, [%%q0], %%r39;\n" % (lda, rows[0], ra)
        body += "%s %s, [%%q1], %d;\n%s %s, [%%q2], %d;\n" % (rows[1], rb, ldb, rows[2], rc, ldc)
        body += "%s %s, %s, %s, %s;\n%s [%%q3], %s, %d;" % (rows[3], rd, ra, rb, rc, rows[4], rd, ldd)
        lt = "f32" if ty == "tf32" else ty
        yield Free(
            "warp-matrix/wmma-%s-%s-%s-%s" % (shape, ty, ctype, dtype),
            SECTION + "wmma.load, wmma.mma, wmma.store",
            "D = A B + C; A %s, B %s, C %s, D %s major in memory. All sums are exact." % tuple(order),
            rows,
            [
                list_arg(lt, [number(x, ty) for x in a]),
                list_arg(lt, [number(x, ty) for x in b]),
                list_arg(ctype, [number(x, ctype) for x in c]),
                "out:%d" % (m * n * (4 if dtype == "f32" else 2)),
            ],
            [(3, dtype, [number(x, dtype) for x in d])],
            body,
        )


def moves():
    src = [i * 3 + 1 for i in range(256)]  # four 8x8 matrices of b16
    pair = lambda lo, hi: lo | hi << 16

    def piece(lane, matrix, trans, data):
        row, col = lane // 4, lane % 4 * 2
        at = lambda i, j: data[matrix * 64 + (j * 8 + i if trans else i * 8 + j)]
        return pair(at(row, col), at(row, col + 1))

    for generic in (False, True):
        rows, want = [], []
        body = "shl.b32 %r1, %lane, 4;\ncvt.u64.u32 %rd1, %r1;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\nld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2];\n"
        body += "mov.u32 %r6, sm;\nadd.u32 %r7, %r6, %r1;\nst.shared.v4.u32 [%r7], {%r2, %r3, %r4, %r5};\nbar.sync 0;\n"
        body += "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\nmov.u32 %r10, 0;\nmov.u32 %r11, 0;\n"
        if generic:
            body += "cvt.u64.u32 %rd4, %r7;\ncvta.shared.u64 %rd4, %rd4;\n"
        state = [[0] * 4 for _ in range(32)]  # registers keep what a smaller load leaves
        k = 0
        for num in (1, 2, 4):
            for trans in ("", ".trans"):
                row = "ldmatrix.sync.aligned.m8n8.x%d%s%s.b16" % (
                    num,
                    trans,
                    "" if generic else ".shared",
                )
                rows.append(row)
                body += (
                    "%s {%s}, [%s];\nst.global.v4.u32 [%%rd3+%d], {%%r8, %%r9, %%r10, %%r11};\n"
                    % (
                        row,
                        ", ".join("%%r%d" % (8 + i) for i in range(num)),
                        "%rd4" if generic else "%r7",
                        512 * k,
                    )
                )
                k += 1
                for lane in range(32):
                    for i in range(num):
                        state[lane][i] = piece(lane, i, bool(trans), src)
                    want += state[lane]
        yield Free(
            "warp-matrix/ldmatrix%s" % ("-generic" if generic else ""),
            SECTION + "ldmatrix",
            "Lane 8m + r gives the address of row r of matrix m; lane l gets elements 2(l%4), 2(l%4)+1 of row l/4, of the transposed matrix with .trans.",
            rows,
            [list_arg("u16", src), "out:%d" % (512 * k)],
            [(1, "b32", want)],
            body,
            module=".shared .align 16 .b8 sm[512];",
        )
    rows, want = [], []
    body = "shl.b32 %r1, %lane, 4;\ncvt.u64.u32 %rd1, %r1;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\nld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2];\nmov.u32 %r6, sm;\nadd.u32 %r7, %r6, %r1;\nmov.u32 %r8, 0x55555555;\n"
    k = 0
    regs = [
        [pair(src[lane * 8 + 2 * i], src[lane * 8 + 2 * i + 1]) for i in range(4)]
        for lane in range(32)
    ]
    for num in (1, 2, 4):
        for trans in ("", ".trans"):
            row = "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16" % (num, trans)
            rows.append(row)
            body += (
                "st.shared.v4.u32 [%%r7], {%%r8, %%r8, %%r8, %%r8};\nbar.warp.sync 0xffffffff;\n%s [%%r7], {%s};\nbar.warp.sync 0xffffffff;\nld.shared.v4.u32 {%%r9, %%r10, %%r11, %%r12}, [%%r7];\nst.global.v4.u32 [%%rd3+%d], {%%r9, %%r10, %%r11, %%r12};\n"
                % (row, ", ".join("%%r%d" % (2 + i) for i in range(num)), 512 * k)
            )
            k += 1
            mem = [0x5555] * 256
            for m in range(num):
                for lane in range(32):
                    for h in range(2):
                        i, j = lane // 4, lane % 4 * 2 + h
                        mem[m * 64 + (j * 8 + i if trans else i * 8 + j)] = (
                            regs[lane][m] >> 16 * h & 0xFFFF
                        )
            want += [pair(mem[i], mem[i + 1]) for i in range(0, 256, 2)]
    yield Free(
        "warp-matrix/stmatrix",
        SECTION + "stmatrix",
        "The inverse of ldmatrix; rows not addressed keep their bytes.",
        rows,
        [list_arg("u16", src), "out:%d" % (512 * k)],
        [(1, "b32", want)],
        body,
        module=".shared .align 16 .b8 sm[512];",
        target="sm_90",
    )
    frag = [pair(src[lane * 2], src[lane * 2 + 1]) for lane in range(32)]
    yield Free(
        "warp-matrix/movmatrix",
        SECTION + "movmatrix",
        "Transposes an 8x8 matrix held as one fragment.",
        ["movmatrix.sync.aligned.m8n8.trans.b16"],
        [list_arg("b32", frag), "out:128"],
        [(1, "b32", [piece(l, 0, True, src) for l in range(32)])],
        "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %q0, %rd1;\nadd.s64 %rd3, %q1, %rd1;\nld.global.b32 %r1, [%rd2];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\nst.global.b32 [%rd3], %r2;",
    )


def tables():
    for group in (mma, wmma, moves):
        yield from group()
