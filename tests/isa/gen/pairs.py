"""Pairs of f32 in 64 bits: add, sub, mul, fma (PTX ISA 9.7.3); comparisons of f16 that store integers
after a BoolOp (9.7.7); cvt.ftz between f32 and bf16 (9.7.9); redux of f32 (9.7.13)."""

from . import formats as fp
from .emit import Free, Table, list_arg
from .floating import corners, triples
from .formats import BF16, F16, F32
from .half import packed
from .memory import SYNC


def pair(f):
    def g(*v):
        return f(*[x >> 32 for x in v]) << 32 | f(*[x & 0xFFFFFFFF for x in v])

    return g


def arithmetic():
    lists = [[x | v[(i + 11) % len(v)] << 32 for i, x in enumerate(v)] for v in triples(F32, 96)]
    for name in ("add", "sub", "mul", "fma"):
        t = Table(
            "floating-point/%s-f32x2" % name,
            "PTX ISA, Floating Point Instructions: " + name,
            "Each half on its own, rounded once.",
            target="sm_100",
            version="8.6",
        )
        op = getattr(fp, name)
        for mode in ("rn", "rz", "rm", "rp"):
            for ftz in ("", ".ftz"):
                t.form(
                    "%s.%s%s.f32x2" % (name, mode, ftz),
                    "b64",
                    [("b64", v) for v in (lists if name == "fma" else lists[:2])],
                    pair(lambda *v, op=op, mode=mode, ftz=ftz: op(*v, F32, mode, bool(ftz))),
                )
        yield t


def set_bool():
    a, b, _ = triples(F16, 96, 6)
    flag = [i // 3 & 1 for i in range(96)]
    boolean = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y}
    t = Table(
        "comparison/set-bool-f16",
        "PTX ISA, Half Precision Comparison Instructions: set",
        "(a cmp b) BoolOp c, all ones where true; x2 forms combine each half with the same c.",
    )
    for op, name in (("lt", "and"), ("geu", "or"), ("nan", "xor")):
        g = lambda x, y, z, op=op, f=boolean[name]: f(fp.compare(x, y, F16, op), bool(z))
        for ty in ("u16", "s32"):
            row = "set.%s.%s.%s.f16" % (op, name, ty)
            ones = 0xFFFF if ty == "u16" else -1
            t.form(
                row,
                ty,
                [("f16", a), ("f16", b), ("u32", flag)],
                lambda x, y, z, g=g, ones=ones: ones if g(x, y, z) else 0,
                "{ .reg .pred %%z;\nsetp.ne.u32 %%z, $c, 0;\n%s $d, $a, $b, %%z; }" % row,
            )
        row = "set.%s.%s.u32.f16x2" % (op, name)
        t.form(
            row,
            "u32",
            [("b32", packed(a, 31)), ("b32", packed(b, 17)), ("u32", flag)],
            lambda x, y, z, g=g: (0xFFFF0000 if g(x >> 16, y >> 16, z) else 0)
            | (0xFFFF if g(x & 0xFFFF, y & 0xFFFF, z) else 0),
            "{ .reg .pred %%z;\nsetp.ne.u32 %%z, $c, 0;\n%s $d, $a, $b, %%z; }" % row,
        )
    yield t


def conversions():
    t = Table(
        "data-movement/cvt-ftz-bf16",
        "PTX ISA, Data Movement and Conversion Instructions: cvt",
        ".ftz flushes subnormal f32 inputs and results.",
        target="sm_90",
        version="8.6",
    )
    wide = corners(F32)
    narrow = corners(BF16)
    for mode in ("rn", "rz", "rm", "rp"):
        t.form(
            "cvt.%s.ftz.bf16.f32" % mode,
            "bf16",
            [("f32", wide)],
            lambda x, mode=mode: fp.convert(x, F32, BF16, mode, ftz=True),
        )
    t.form("cvt.ftz.f32.bf16", "f32", [("bf16", narrow)], lambda x: fp.convert(x, BF16, F32, ftz=True))
    yield t


def redux():
    values = [fp.bits_of((i * 7 % 32 - 13) / 4, F32) for i in range(32)]
    values[9] = fp.bits_of(-0.0, F32)
    with_nan = values[:20] + [F32.nan] + values[21:]
    forms = [(op, a, n) for op in ("min", "max") for a in ("", ".abs") for n in ("", ".NaN")]
    rows, body, want = [], "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd4, %q2, %rd1;\n", []
    for k, data in enumerate((values, with_nan)):
        body += "add.s64 %%rd2, %%q%d, %%rd1;\nld.global.f32 %%f1, [%%rd2];\n" % k
        for op, magnitude, nan in forms:
            row = "redux.sync.%s%s%s.f32" % (op, magnitude, nan)
            if row not in rows:
                rows.append(row)
            body += "%s %%f2, %%f1, 0xffffffff;\nst.global.f32 [%%rd4+%d], %%f2;\n" % (row, 4 * len(want))
            result = None
            for x in data:
                x = x & 0x7FFFFFFF if magnitude and not F32.is_nan(x) else x
                result = x if result is None else fp.minmax(result, x, F32, op == "max", nan=bool(nan))
            want += [result] * 32
    yield Free(
        "synchronization/redux-f32",
        SYNC + "redux.sync",
        "Least and greatest of the warp, of magnitudes with .abs; a NaN counts only with .NaN.",
        rows,
        [list_arg("f32", values), list_arg("f32", with_nan), "out:%d" % (4 * len(want))],
        [(2, "f32", ["nan" if F32.is_nan(w) else w for w in want])],
        body,
        target="sm_100a",
        version="8.6",
    )


def tables():
    for group in (arithmetic, set_bool, conversions, redux):
        yield from group()
