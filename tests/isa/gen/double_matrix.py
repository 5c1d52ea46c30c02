"""mma.sync of f64 and of 8-bit integers, wmma of f64 (PTX ISA 9.7.15). As in matrix.py every sum is exact;
the fragment layouts are the manual's."""

from fractions import Fraction

from . import formats as fp
from .emit import Free, list_arg, rng
from .formats import F64
from .matrix import SECTION, braces, product

ELEMENT = "mad.lo.u32 %%r39, %%r20, %d, 0;\nmad.lo.u32 %%r39, %%r21, %d, %%r39;\nadd.u32 %%r39, %%r39, %d;\ncvt.u64.u32 %%rd20, %%r39;\nadd.s64 %%rd20, %%q%d, %%rd20;\n"


def address(param, element, stride, size):
    row, col = element
    by_group, by_quad, plus = ((row[i] * stride + col[i]) * size for i in range(3))
    return ELEMENT % (by_group, by_quad, plus, param)


def double_layout(m, k):
    a = [((1, 0, 8 * (i & 1)), (0, 1, 4 * (i // 2))) for i in range(k // 2)]
    if m == 8:
        a = a[:1]
    b = [((0, 1, 4 * i), (1, 0, 0)) for i in range(k // 4)]
    c = [((1, 0, 8 * (i // 2)), (0, 2, i & 1)) for i in range(m // 4)]
    return a, b, c


def byte_layout(m, k):
    n = m * k // 32  # bytes of A a lane
    if m == 8:
        a = [((1, 0, 0), (0, 4, i)) for i in range(n)]
    else:
        a = [((1, 0, 8 * (i // 4 & 1)), (0, 4, (i & 3) + 16 * (i // 8))) for i in range(n)]
    b = [((0, 4, (i & 3) + 16 * (i // 4)), (1, 0, 0)) for i in range(k // 4)]
    c = [((1, 0, 8 * (i // 2)), (0, 2, i & 1)) for i in range(m // 4)]
    return a, b, c


def f64(x):
    return fp.bits_of(Fraction(x), F64)


def doubles():
    for m, k in ((8, 4), (16, 4), (16, 8), (16, 16)):
        r = rng("mma-f64-%d-%d" % (m, k))
        a, b, c = ([Fraction(r.randint(-64, 64), 8) for _ in range(n)] for n in (m * k, k * 8, m * 8))
        d = product(a, b, c, m, 8, k)
        row = "mma.sync.aligned.m%dn8k%d.row.col.f64.f64.f64.f64" % (m, k)
        body, regs = "shr.u32 %r20, %lane, 2;\nand.b32 %r21, %lane, 3;\n", []
        for param, (elements, stride) in enumerate(zip(double_layout(m, k), (k, 8, 8))):
            first = sum(len(x) for x in regs)
            regs.append(["%%fd%d" % (first + i) for i in range(len(elements))])
            for reg, element in zip(regs[param], elements):
                body += address(param, element, stride, 8) + "ld.global.f64 %s, [%%rd20];\n" % reg
        out = regs[2]  # D may be C
        body += "%s %s, %s, %s, %s;\n" % (row, braces(out), braces(regs[0]), braces(regs[1]), braces(out))
        for reg, element in zip(out, double_layout(m, k)[2]):
            body += address(3, element, 8, 8) + "st.global.f64 [%%rd20], %s;\n" % reg
        yield Free(
            "warp-matrix/mma-m%dn8k%d-f64" % (m, k),
            SECTION + "mma, Matrix Fragments for mma.m%dn8k%d" % (m, k),
            "D = A B + C with A, B, C and D row-major in memory. All sums are exact.",
            [row],
            [list_arg("f64", [f64(x) for x in v]) for v in (a, b, c)] + ["out:%d" % (m * 64)],
            [(3, "f64", [f64(x) for x in d])],
            body,
            target="sm_80" if m == 8 else "sm_90",
        )


def integers():
    for m, k in ((8, 16), (16, 16), (16, 32)):
        for ta, tb in (("s8", "s8"), ("u8", "s8")):
            r = rng("mma-%s-%s-%d-%d" % (ta, tb, m, k))
            low = lambda t: (0, 255) if t == "u8" else (-128, 127)
            a = [r.randint(*low(ta)) for _ in range(m * k)]
            b = [r.randint(*low(tb)) for _ in range(k * 8)]
            c = [r.randint(-(1 << 20), 1 << 20) for _ in range(m * 8)]
            d = product(a, b, c, m, 8, k)
            row = "mma.sync.aligned.m%dn8k%d.row.col.s32.%s.%s.s32" % (m, k, ta, tb)
            body, regs = "shr.u32 %r20, %lane, 2;\nand.b32 %r21, %lane, 3;\n", []
            la, lb, lc = byte_layout(m, k)
            for param, (elements, stride, first) in enumerate(((la, k, 0), (lb, 8, 8))):
                regs.append(["%%r%d" % (first + i) for i in range(len(elements) // 4)])
                for i, element in enumerate(elements):
                    reg = regs[param][i // 4]
                    body += "mov.b32 %s, 0;\n" % reg if i % 4 == 0 else ""
                    body += address(param, element, stride, 1)
                    body += "ld.global.u8 %%r38, [%%rd20];\nbfi.b32 %s, %%r38, %s, %d, 8;\n" % (reg, reg, i % 4 * 8)
            out = ["%%r%d" % (24 + i) for i in range(len(lc))]
            for reg, element in zip(out, lc):
                body += address(2, element, 8, 4) + "ld.global.u32 %s, [%%rd20];\n" % reg
            body += "%s %s, %s, %s, %s;\n" % (row, braces(out), braces(regs[0]), braces(regs[1]), braces(out))
            for reg, element in zip(out, lc):
                body += address(3, element, 8, 4) + "st.global.u32 [%%rd20], %s;\n" % reg
            yield Free(
                "warp-matrix/mma-m%dn8k%d-%s-%s" % (m, k, ta, tb),
                SECTION + "mma, Matrix Fragments for mma.m%dn8k%d" % (m, k),
                "D = A B + C with A, B, C and D row-major in memory.",
                [row],
                [list_arg(ta, a), list_arg(tb, b), list_arg("s32", c), "out:%d" % (m * 32)],
                [(3, "s32", d)],
                body,
            )


def wmma():
    for order in (("row", "col", "row", "row"), ("col", "row", "col", "row")):
        r = rng("wmma-f64" + order[0])
        a, b, c = ([Fraction(r.randint(-64, 64), 8) for _ in range(n)] for n in (32, 32, 64))
        d = product(a, b, c, 8, 8, 4)

        def memory(v, rows, cols, o):
            return [f64(v[i * cols + j]) for i in range(rows) for j in range(cols)] if o == "row" else [
                f64(v[i * cols + j]) for j in range(cols) for i in range(rows)
            ]

        rows = ["wmma.load.%s.sync.aligned.%s.m8n8k4.global.f64" % (x, o) for x, o in zip("abc", order)]
        rows.append("wmma.mma.sync.aligned.%s.%s.m8n8k4.rn.f64.f64.f64.f64" % order[:2])
        rows.append("wmma.store.d.sync.aligned.%s.m8n8k4.global.f64" % order[3])
        stride = [cols if o == "row" else n for o, cols, n in zip(order, (4, 8, 8), (8, 4, 8))]
        yield Free(
            "warp-matrix/wmma-m8n8k4-f64-" + order[0],
            SECTION + "wmma.load, wmma.mma, wmma.store",
            "D = A B + C; A %s, B %s, C %s, D %s major in memory. All sums are exact." % order,
            rows,
            [
                list_arg("f64", memory(a, 8, 4, order[0])),
                list_arg("f64", memory(b, 4, 8, order[1])),
                list_arg("f64", memory(c, 8, 8, order[2])),
                "out:512",
            ],
            [(3, "f64", memory(d, 8, 8, order[3]))],
            "%s {%%fd0}, [%%q0], %d;\n%s {%%fd1}, [%%q1], %d;\n%s {%%fd2, %%fd3}, [%%q2], %d;\n"
            % (rows[0], stride[0], rows[1], stride[1], rows[2], stride[2])
            + "%s {%%fd4, %%fd5}, {%%fd0}, {%%fd1}, {%%fd2, %%fd3};\n%s [%%q3], {%%fd4, %%fd5}, 8;"
            % (rows[3], rows[4]),
        )


def tables():
    for group in (doubles, integers, wmma):
        yield from group()
