"""f16, f16x2, bf16, bf16x2 arithmetic and comparison (PTX ISA 9.7.4, 9.7.7)."""

from . import formats as fp
from .convert import any_nan, float_values
from .emit import Table
from .floating import COMPARISONS, corners, triples
from .formats import BF16, F16

SECTION = "PTX ISA, Half Precision Floating-Point Instructions: "


def both(f):
    """f on the low and on the high half."""

    def g(*v):
        return f(*[x >> 16 for x in v]) << 16 | f(*[x & 0xFFFF for x in v])

    return g


def packed(values, step):
    return [x | values[(i + step) % len(values)] << 16 for i, x in enumerate(values)]


def arithmetic():
    plan = {
        "add": ("", ".ftz", ".sat", ".ftz.sat", ".rn"),
        "sub": ("", ".ftz", ".sat", ".rn"),
        "mul": ("", ".ftz", ".sat", ".rn"),
        "fma": (".rn", ".rn.ftz", ".rn.sat", ".rn.ftz.sat", ".rn.relu", ".rn.ftz.relu"),
    }
    for name, mods in plan.items():
        op = getattr(fp, name)
        for fmt in (F16, BF16):
            ty = fmt.name
            target = "sm_90" if fmt is BF16 and name != "fma" else "sm_80"
            t = Table(
                "half-precision/%s-%s" % (name, ty),
                SECTION + name,
                "Rounded once to nearest even; NaN is 0x7fff. .sat clamps to [0, 1], .relu to +0.",
                target=target,
            )
            a, b, c = triples(fmt, 160)
            lists = [a, b, c] if name == "fma" else [a, b]
            for k in mods:
                if fmt is BF16 and ("ftz" in k or "sat" in k):
                    continue

                def f(*v, k=k):
                    r = op(*v, fmt, "rn", "ftz" in k, "sat" in k)
                    return fp.relu(r, fmt) if "relu" in k else r

                t.form("%s%s.%s" % (name, k, ty), ty, [(ty, v) for v in lists], f)
                t.form(
                    "%s%s.%sx2" % (name, k, ty),
                    "b32",
                    [("b32", packed(v, 29)) for v in lists],
                    both(f),
                )
            yield t


def signs_and_order():
    for fmt in (F16, BF16):
        ty = fmt.name
        a, b, _ = triples(fmt, 160, 4)
        t = Table(
            "half-precision/min-max-" + ty,
            SECTION + "min, max",
            "-0 < +0; one NaN gives the other operand unless .NaN; .xorsign.abs compares magnitudes.",
            target="sm_86",
        )
        for name in ("min", "max"):
            mods = ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] + (
                [".ftz", ".ftz.NaN", ".ftz.NaN.xorsign.abs"] if fmt is F16 else []
            )
            for k in mods:
                f = lambda x, y, k=k, name=name: fp.minmax(
                    x, y, fmt, name == "max", "ftz" in k, "NaN" in k, "xorsign" in k
                )
                t.form("%s%s.%s" % (name, k, ty), ty, [(ty, a), (ty, b)], f)
                t.form(
                    "%s%s.%sx2" % (name, k, ty),
                    "b32",
                    [("b32", packed(a, 31)), ("b32", packed(b, 31))],
                    both(f),
                )
        yield t
        t = Table(
            "half-precision/abs-neg-" + ty,
            SECTION + "abs, neg",
            "NaN is left out of the packed forms: its bits are open.",
        )
        v = corners(fmt) + float_values(fmt, 80, 3)
        clean = [0x1234 if fmt.is_nan(x) else x for x in v]
        for name, g in (("abs", lambda x: x & ~fmt.sign), ("neg", lambda x: x ^ fmt.sign)):
            for k in ("", ".ftz") if fmt is F16 else ("",):
                f = lambda x, k=k, g=g: g(fmt.ftz(x) if k else x)
                t.form("%s%s.%s" % (name, k, ty), ty, [(ty, v)], any_nan(f, fmt))
                t.form("%s%s.%sx2" % (name, k, ty), "b32", [("b32", packed(clean, 7))], both(f))
        yield t


def comparison():
    section = "PTX ISA, Half Precision Comparison Instructions: "
    for fmt in (F16, BF16):
        ty = fmt.name
        target = "sm_90" if fmt is BF16 else "sm_80"
        a, b, _ = triples(fmt, 128, 6)
        for i in range(0, 110, 7):
            b[i] = a[i]
        t = Table(
            "comparison/setp-" + ty,
            section + "setp",
            "As for f32; x2 forms set p from the low halves and q from the high ones.",
            target=target,
        )
        for op in COMPARISONS:
            t.form(
                "setp.%s.%s" % (op, ty),
                "u32",
                [(ty, a), (ty, b)],
                lambda x, y, op=op: int(fp.compare(x, y, fmt, op)),
                "setp.%s.%s $p, $a, $b;\nselp.b32 $d, 1, 0, $p;" % (op, ty),
            )
            g = (
                lambda x, y, op=op: int(fp.compare(x & 0xFFFF, y & 0xFFFF, fmt, op))
                | int(fp.compare(x >> 16, y >> 16, fmt, op)) << 1
            )
            t.form(
                "setp.%s.%sx2" % (op, ty),
                "u32",
                [("b32", packed(a, 31)), ("b32", packed(b, 17))],
                g,
                "{ .reg .pred %%x, %%y; .reg .b32 %%u, %%v;\nsetp.%s.%sx2 %%x|%%y, $a, $b;\nselp.b32 %%u, 1, 0, %%x;\n"
                "selp.b32 %%v, 2, 0, %%y;\nor.b32 $d, %%u, %%v; }" % (op, ty),
            )
        yield t
        t = Table(
            "comparison/set-" + ty,
            section + "set",
            "x2 forms give 1.0 or all ones for each half.",
            target=target,
        )
        one = fmt.bias << fmt.man
        for op in ("eq", "ltu", "ge", "nan"):
            t.form(
                "set.%s.%s.%s" % (op, ty, ty),
                ty,
                [(ty, a), (ty, b)],
                lambda x, y, op=op: one if fp.compare(x, y, fmt, op) else 0,
            )
            t.form(
                "set.%s.u32.%s" % (op, ty),
                "u32",
                [(ty, a), (ty, b)],
                lambda x, y, op=op: 0xFFFFFFFF if fp.compare(x, y, fmt, op) else 0,
            )
            t.form(
                "set.%s.u16.%s" % (op, ty),
                "u16",
                [(ty, a), (ty, b)],
                lambda x, y, op=op: 0xFFFF if fp.compare(x, y, fmt, op) else 0,
            )
            args = [("b32", packed(a, 31)), ("b32", packed(b, 17))]
            t.form(
                "set.%s.%sx2.%sx2" % (op, ty, ty),
                "b32",
                args,
                both(lambda x, y, op=op: one if fp.compare(x, y, fmt, op) else 0),
            )
            t.form(
                "set.%s.u32.%sx2" % (op, ty),
                "u32",
                args,
                both(lambda x, y, op=op: 0xFFFF if fp.compare(x, y, fmt, op) else 0),
            )
        yield t


def comparison_bool():
    section = "PTX ISA, Half Precision Comparison Instructions: "
    boolean = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y}
    for fmt in (F16, BF16):
        ty = fmt.name
        a, b, _ = triples(fmt, 128, 6)
        flag = [i // 3 & 1 for i in range(128)]
        one = fmt.bias << fmt.man
        t = Table(
            "comparison/bool-" + ty,
            section + "setp, set",
            "(a cmp b) BoolOp c; x2 forms combine each half with the same c.",
            target="sm_90" if fmt is BF16 else "sm_80",
        )
        load = "{ .reg .pred %x, %y, %z; .reg .b32 %u, %v;\nsetp.ne.u32 %z, $c, 0;\n"
        pa, pb = packed(a, 31), packed(b, 17)
        for op in ("lt", "geu", "neu"):
            for bop, f in boolean.items():

                def one_half(x, y, z, op=op, f=f):
                    return int(f(fp.compare(x, y, fmt, op), bool(z)))

                halves = lambda x, y, z, g=one_half: (
                    g(x & 0xFFFF, y & 0xFFFF, z),
                    g(x >> 16, y >> 16, z),
                )
                word = "%s.%s" % (op, bop)
                scalar = [(ty, a), (ty, b), ("u32", flag)]
                pairs = [("b32", pa), ("b32", pb), ("u32", flag)]
                text = load + "setp.%s.%s %%x, $a, $b, %%z;\nselp.b32 $d, 1, 0, %%x; }" % (word, ty)
                t.form("setp.%s.%s" % (word, ty), "u32", scalar, one_half, text)
                text = (
                    load
                    + "setp.%s.%sx2 %%x|%%y, $a, $b, %%z;\nselp.b32 %%u, 1, 0, %%x;\n" % (word, ty)
                    + "selp.b32 %v, 2, 0, %y;\nor.b32 $d, %u, %v; }"
                )
                t.form(
                    "setp.%s.%sx2" % (word, ty),
                    "u32",
                    pairs,
                    lambda x, y, z, h=halves: h(x, y, z)[0] | h(x, y, z)[1] << 1,
                    text,
                )
                if op == "geu":
                    text = load + "set.%s.%s.%s $d, $a, $b, %%z; }" % (word, ty, ty)
                    t.form(
                        "set.%s.%s.%s" % (word, ty, ty),
                        ty,
                        scalar,
                        lambda x, y, z, g=one_half: one * g(x, y, z),
                        text,
                    )
                    text = load + "set.%s.%sx2.%sx2 $d, $a, $b, %%z; }" % (word, ty, ty)
                    t.form(
                        "set.%s.%sx2.%sx2" % (word, ty, ty),
                        "b32",
                        pairs,
                        lambda x, y, z, h=halves: one * h(x, y, z)[0] | one * h(x, y, z)[1] << 16,
                        text,
                    )
        yield t


def tables():
    for group in (arithmetic, signs_and_order, comparison, comparison_bool):
        yield from group()
