"""f32 and f64 arithmetic and comparison (PTX ISA 9.7.3, 9.7.6)."""

from . import formats as fp
from .convert import FLOATS, any_nan, float_values
from .emit import Table, rng
from .formats import F32, F64

SECTION = "PTX ISA, Floating-Point Instructions: "
MODES = ("rn", "rz", "rm", "rp")


def corners(fmt):
    m, one = fmt.man, fmt.bias << fmt.man
    v = [
        0,
        1,
        (1 << m) - 1,
        1 << m,
        one,
        one + 1,
        one | 1 << m - 1,
        fmt.max_bits,
        fmt.inf,
        fmt.inf | 1 << m - 1 | 5,
        fmt.inf | 1,
    ]
    return v + [x | fmt.sign for x in v[:-1]]


def triples(fmt, n=160, seed=1):
    """Corner pairs in a fixed mixing, then values whose sums and products need rounding."""
    r, c = rng("%s/t%d" % (fmt.name, seed)), corners(fmt)
    k = len(c)
    a, b, d = [], [], []
    for i in range(n):
        if i < 110:
            a.append(c[i % k])
            b.append(c[(i * 5 + i // k * 2 + 1) % k])
            d.append(c[(i * 3 + i // k * 4 + 2) % k])
            continue
        kind = i % 5
        e = fmt.bias + r.randint(-3, 3)
        lo, hi = (1, 3) if kind == 1 else (max(1, fmt.bias - 2), fmt.bias + 2)

        def val(e):
            return (
                r.getrandbits(1) * fmt.sign
                | max(0, min(e, (1 << fmt.exp) - 2)) << fmt.man
                | r.getrandbits(fmt.man)
            )

        if kind == 0:
            a.append(val(e)), b.append(val(e + 1)), d.append(val(e))
        elif kind == 1:  # around the smallest normal
            a.append(val(r.randint(0, 2))), b.append(val(r.randint(0, 2))), d.append(
                val(r.randint(0, 2))
            )
        elif kind == 2:  # product around the smallest normal
            x = r.randint(2, 2 * fmt.bias - 2)
            a.append(val(x)), b.append(val(fmt.bias - x + r.randint(-2, 2) + 1)), d.append(
                val(r.randint(0, 2))
            )
        elif kind == 3:  # product near overflow
            x = r.randint(fmt.bias, 2 * fmt.bias)
            a.append(val(x)), b.append(val(3 * fmt.bias - x)), d.append(val(2 * fmt.bias))
        else:  # cancellation of the product by c
            x, y = val(e), val(e)
            a.append(x), b.append(y), d.append(fp.mul(x, y, fmt) ^ fmt.sign)
    return a, b, d


def nan_ok(f, fmt):
    """f64 leaves NaN payloads to the operands; f32's NaN is canonical."""
    return any_nan(f, fmt) if fmt is F64 else f


def arithmetic():
    notes = {
        "add": "Rounded once; an exact zero sum is +0 but for .rm.",
        "sub": "a + (-b).",
        "mul": "Rounded once.",
        "fma": "One rounding after the exact a * b + c.",
    }
    for name in ("add", "sub", "mul", "fma"):
        op = getattr(fp, name)
        for ty in ("f32", "f64"):
            fmt = FLOATS[ty]
            a, b, c = triples(fmt)
            args = [(ty, a), (ty, b)] + ([(ty, c)] if name == "fma" else [])
            t = Table(
                "floating-point/%s-%s" % (name, ty),
                SECTION + name,
                notes[name]
                + (
                    "\n.ftz flushes subnormal inputs, and results that are tiny after rounding, to zero of the same sign;"
                    "\n.sat clamps to [0, 1], NaN to +0; NaN is 0x7fffffff."
                    if ty == "f32"
                    else ""
                ),
            )
            forms = [(m, False, False) for m in MODES]
            if ty == "f32":
                forms += [(m, True, False) for m in MODES] + [
                    ("rn", False, True),
                    ("rz", True, True),
                ]
            if name != "fma":
                t.form("%s.%s" % (name, ty), ty, args, nan_ok(lambda *v: op(*v, fmt), fmt))
                if ty == "f32":
                    t.form(
                        "%s.ftz.sat.f32" % name, ty, args, lambda *v: op(*v, fmt, "rn", True, True)
                    )
            for mode, ftz, sat in forms:
                row = "%s.%s%s%s.%s" % (name, mode, ".ftz" * ftz, ".sat" * sat, ty)
                t.form(
                    row,
                    ty,
                    args,
                    nan_ok(
                        lambda *v, mode=mode, ftz=ftz, sat=sat: op(*v, fmt, mode, ftz, sat), fmt
                    ),
                )
            yield t
    t = Table("floating-point/mad", SECTION + "mad", "On sm_20 and later mad.rnd is fma.rnd.")
    for ty in ("f32", "f64"):
        fmt = FLOATS[ty]
        args = list(zip((ty,) * 3, triples(fmt)))
        for mode in ("rn", "rz"):
            t.form(
                "mad.%s.%s" % (mode, ty),
                ty,
                args,
                nan_ok(lambda *v, mode=mode: fp.fma(*v, fmt, mode), fmt),
            )
    t.form(
        "mad.rn.ftz.sat.f32",
        "f32",
        list(zip(("f32",) * 3, triples(F32))),
        lambda *v: fp.fma(*v, F32, "rn", True, True),
    )
    yield t


def division():
    for ty in ("f32", "f64"):
        fmt = FLOATS[ty]
        a, b, _ = triples(fmt, 160, 2)
        t = Table("floating-point/div-" + ty, SECTION + "div", "Correctly rounded.")
        for ftz in ((False, True) if ty == "f32" else (False,)):
            for mode in MODES:
                t.form(
                    "div.%s%s.%s" % (mode, ".ftz" * ftz, ty),
                    ty,
                    [(ty, a), (ty, b)],
                    nan_ok(lambda x, y, mode=mode, ftz=ftz: fp.div(x, y, fmt, mode, ftz), fmt),
                )
        yield t
        for name, op in (("rcp", fp.rcp), ("sqrt", fp.sqrt)):
            t = Table(
                "floating-point/%s-%s" % (name, ty),
                SECTION + name,
                "Correctly rounded. sqrt(-0) = -0.",
            )
            v = corners(fmt) + float_values(fmt, 100, 7)
            v += [x & ~fmt.sign for x in float_values(fmt, 60, 8)]
            for ftz in ((False, True) if ty == "f32" else (False,)):
                for mode in MODES:
                    t.form(
                        "%s.%s%s.%s" % (name, mode, ".ftz" * ftz, ty),
                        ty,
                        [(ty, v)],
                        nan_ok(lambda x, mode=mode, ftz=ftz: op(x, fmt, mode, ftz), fmt),
                    )
            yield t


def signs_and_order():
    for ty in ("f32", "f64"):
        fmt = FLOATS[ty]
        v = corners(fmt) + float_values(fmt, 80, 3)
        a, b, _ = triples(fmt, 128, 4)
        t = Table(
            "floating-point/abs-neg-%s" % ty,
            SECTION + "abs, neg",
            "The result for NaN is a NaN, its bits are open.",
        )
        for ftz in ((False, True) if ty == "f32" else (False,)):
            k = ".ftz" * ftz
            t.form(
                "abs%s.%s" % (k, ty),
                ty,
                [(ty, v)],
                any_nan(lambda x, f=ftz: (fmt.ftz(x) if f else x) & ~fmt.sign, fmt),
            )
            t.form(
                "neg%s.%s" % (k, ty),
                ty,
                [(ty, v)],
                any_nan(lambda x, f=ftz: (fmt.ftz(x) if f else x) ^ fmt.sign, fmt),
            )
        yield t
        t = Table(
            "floating-point/min-max-%s" % ty,
            SECTION + "min, max",
            (
                "-0 < +0. One NaN gives the other operand, two the canonical NaN; .NaN gives it for one. .xorsign.abs compares\n"
                "magnitudes and takes the xor of the signs."
                if ty == "f32"
                else "-0 < +0. One NaN gives the other operand."
            ),
            target="sm_86" if ty == "f32" else "sm_80",
        )
        for name in ("min", "max"):
            mods = [""]
            if ty == "f32":
                mods += [
                    ".ftz",
                    ".NaN",
                    ".ftz.NaN",
                    ".xorsign.abs",
                    ".NaN.xorsign.abs",
                    ".ftz.xorsign.abs",
                ]
            for k in mods:
                t.form(
                    "%s%s.%s" % (name, k, ty),
                    ty,
                    [(ty, a), (ty, b)],
                    nan_ok(
                        lambda x, y, k=k, name=name: fp.minmax(
                            x, y, fmt, name == "max", "ftz" in k, "NaN" in k, "xorsign" in k
                        ),
                        fmt,
                    ),
                )
        yield t
    t = Table(
        "floating-point/copysign-testp",
        SECTION + "copysign, testp",
        "copysign takes the sign of a and the magnitude of b. testp counts zeros as normal.",
    )
    for ty in ("f32", "f64"):
        fmt = FLOATS[ty]
        a, b, _ = triples(fmt, 128, 5)
        a = [0 if fmt.is_nan(x) else x for x in a]
        t.form(
            "copysign." + ty,
            ty,
            [(ty, a), (ty, b)],
            any_nan(lambda x, y: x & fmt.sign | y & ~fmt.sign, fmt),
        )
        tests = {
            "finite": lambda x: not fmt.is_nan(x) and not fmt.is_inf(x),
            "infinite": fmt.is_inf,
            "number": lambda x: not fmt.is_nan(x),
            "notanumber": fmt.is_nan,
            "normal": lambda x: not (fmt.is_nan(x) or fmt.is_inf(x) or fmt.is_sub(x)),
            "subnormal": fmt.is_sub,
        }
        for op, f in tests.items():
            t.form(
                "testp.%s.%s" % (op, ty),
                "u32",
                [(ty, b)],
                lambda x, f=f: int(f(x)),
                "testp.%s.%s $p, $a;\nselp.b32 $d, 1, 0, $p;" % (op, ty),
            )
    yield t


COMPARISONS = (
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "equ",
    "neu",
    "ltu",
    "leu",
    "gtu",
    "geu",
    "num",
    "nan",
)


def comparison():
    section = "PTX ISA, Comparison and Selection Instructions: "
    for ty in ("f32", "f64"):
        fmt = FLOATS[ty]
        a, b, _ = triples(fmt, 128, 6)
        for i in range(0, 110, 7):
            b[i] = a[i]
        t = Table(
            "comparison/setp-" + ty,
            section + "setp",
            "Ordered comparisons are false for NaN, unordered (...u) true; num and nan test for it. -0 = +0.",
        )
        for op in COMPARISONS:
            for ftz in ((False, True) if ty == "f32" else (False,)):
                t.form(
                    "setp.%s%s.%s" % (op, ".ftz" * ftz, ty),
                    "u32",
                    [(ty, a), (ty, b)],
                    lambda x, y, op=op, ftz=ftz: int(fp.compare(x, y, fmt, op, ftz)),
                    "setp.%s%s.%s $p, $a, $b;\nselp.b32 $d, 1, 0, $p;" % (op, ".ftz" * ftz, ty),
                )
        yield t
    t = Table(
        "comparison/setp-f32-bool",
        section + "setp",
        "p = (a cmp b) BoolOp c, q = !(a cmp b) BoolOp c, also where NaN makes the comparison false.",
    )
    a, b, _ = triples(F32, 128, 6)
    flag = [i // 3 & 1 for i in range(128)]
    for op in ("lt", "geu", "neu", "num"):
        for bop, f in (
            ("and", lambda x, y: x and y),
            ("or", lambda x, y: x or y),
            ("xor", lambda x, y: x != y),
        ):

            def ref(x, y, z, op=op, f=f):
                hit = fp.compare(x, y, F32, op)
                return int(f(hit, bool(z))) | int(f(not hit, bool(z))) << 1

            t.form(
                "setp.%s.%s.f32" % (op, bop),
                "u32",
                [("f32", a), ("f32", b), ("u32", flag)],
                ref,
                "{ .reg .pred %%x, %%y, %%z; .reg .b32 %%u, %%v;\nsetp.ne.u32 %%z, $c, 0;\nsetp.%s.%s.f32 %%x|%%y, $a, $b, %%z;\n"
                "selp.b32 %%u, 1, 0, %%x;\nselp.b32 %%v, 2, 0, %%y;\nor.b32 $d, %%u, %%v; }"
                % (op, bop),
            )
    yield t
    t = Table("comparison/set-float", section + "set", "All ones or 1.0 where true, else 0.")
    for ty in ("f32", "f64"):
        fmt = FLOATS[ty]
        a, b, _ = triples(fmt, 128, 6)
        for op in ("eq", "ltu", "ge", "nan"):
            t.form(
                "set.%s.u32.%s" % (op, ty),
                "u32",
                [(ty, a), (ty, b)],
                lambda x, y, op=op: 0xFFFFFFFF if fp.compare(x, y, fmt, op) else 0,
            )
            t.form(
                "set.%s.f32.%s" % (op, ty),
                "f32",
                [(ty, a), (ty, b)],
                lambda x, y, op=op: 0x3F800000 if fp.compare(x, y, fmt, op) else 0,
            )
    a, b, _ = triples(F32, 128, 6)
    t.form(
        "set.lt.ftz.u32.f32",
        "u32",
        [("f32", a), ("f32", b)],
        lambda x, y: 0xFFFFFFFF if fp.compare(x, y, F32, "lt", True) else 0,
    )
    yield t


def tables():
    for group in (arithmetic, division, signs_and_order, comparison):
        yield from group()
