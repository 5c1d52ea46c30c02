"""Approximations (PTX ISA 9.7.3, 9.7.4): results within the documented error.

`ulp=K` accepts K units in the last place around the correctly rounded value. sin, cos and lg2 have an
absolute bound, so their inputs are chosen where it is a small number of units.
"""

import math

from . import formats as fp
from .emit import Table, rng
from .floating import corners
from .formats import BF16, F16, F32, F64

SECTION = "PTX ISA, Floating-Point Instructions: "


def rounded(f, fmt):
    """The correctly rounded value of a real function, through a double (error far below one unit)."""

    def g(b):
        if fmt.is_nan(b):
            return "nan"
        x = float("-inf" if fmt.neg(b) else "inf") if fmt.is_inf(b) else float(fmt.value(b))
        if x == 0 and fmt.neg(b):
            x = -0.0
        y = f(x)
        r = fp.bits_of(y, fmt)
        return "nan" if fmt.is_nan(r) else r

    return g


def exp2(x):
    return math.inf if x > 1023 else 0.0 if x < -1070 else 2.0**x


def log2(x):
    return math.nan if x < 0 else -math.inf if x == 0 else x if math.isinf(x) else math.log2(x)


def recip(x):
    return math.copysign(math.inf, x) if x == 0 else 1 / x


def rsqrt(x):
    return math.copysign(math.inf, x) if x == 0 else math.nan if x < 0 else 1 / math.sqrt(x)


def root(x):
    return x if x == 0 else math.nan if x < 0 else math.sqrt(x)


def flush(g):
    return lambda b: (lambda r: r if r == "nan" else F32.ftz(r))(g(F32.ftz(b)))


def single():
    plan = (
        (
            "ex2",
            exp2,
            2,
            lambda r: fp.bits_of(r.uniform(-130, 128), F32),
            "Maximal relative error 2^-22 (2 units).",
        ),
        (
            "lg2",
            log2,
            4,
            lambda r: fp.bits_of(r.choice((r.uniform(2, 100), r.uniform(0.01, 0.5))), F32),
            "Relative error 2^-22 outside (0.5, 2).",
        ),
        (
            "rcp",
            recip,
            1,
            lambda r: r.getrandbits(1) << 31 | r.randint(3, 252) << 23 | r.getrandbits(23),
            "Maximal error 1 unit.",
        ),
        (
            "rsqrt",
            rsqrt,
            3,
            lambda r: r.randint(1, 253) << 23 | r.getrandbits(23),
            "Maximal relative error 2^-22.9.",
        ),
        (
            "sqrt",
            root,
            2,
            lambda r: r.randint(1, 253) << 23 | r.getrandbits(23),
            "Maximal relative error 2^-23.",
        ),
    )
    for name, f, ulp, draw, note in plan:
        r = rng(name)
        v = corners(F32) + [draw(r) for _ in range(80)]
        exact = [0x3F800000, 0x40000000, 0x40800000, 0x3F000000]
        v = v[: len(corners(F32))] + exact + v[len(corners(F32)) :]
        if name == "lg2":
            v = [
                x
                for x in v
                if F32.is_nan(x)
                or F32.is_inf(x)
                or not 0.5 < abs(float(F32.value(x))) < 2
                or x == 0x3F800000
            ]
        t = Table("floating-point/%s-approx" % name, SECTION + name, note)
        g = rounded(f, F32)
        t.form("%s.approx.f32" % name, "f32", [("f32", v)], g, tol=" ulp=%d" % ulp)
        t.form("%s.approx.ftz.f32" % name, "f32", [("f32", v)], flush(g), tol=" ulp=%d" % ulp)
        yield t
    for name, f, centre in (("sin", math.sin, (0.6, 2.5)), ("cos", math.cos, (-1.0, 1.0))):
        r = rng(name)
        v = [fp.bits_of(r.choice((1, -1)) * r.uniform(*centre), F32) for _ in range(64)]
        t = Table(
            "floating-point/%s-approx" % name,
            SECTION + name,
            "Maximal absolute error 2^-20.5 in [-pi, pi]: 12 units where the magnitude is at least 1/2. Infinity and NaN give NaN.",
        )
        g = rounded(lambda x: math.nan if math.isinf(x) else f(x), F32)
        v += [0x7F800000, 0xFF800000, 0x7FC00000] + (
            [0, 0x80000000] if name == "sin" else [0, 0x80000000, 1]
        )
        t.form("%s.approx.f32" % name, "f32", [("f32", v)], g, tol=" ulp=12")
        t.form("%s.approx.ftz.f32" % name, "f32", [("f32", v)], flush(g), tol=" ulp=12")
        yield t
    t = Table(
        "floating-point/tanh-approx",
        SECTION + "tanh",
        "Maximal relative error 2^-11: 8192 units of f32.",
    )
    r = rng("tanh")
    v = [x for x in corners(F32) if not F32.is_sub(x)] + [
        fp.bits_of(r.uniform(-6, 6), F32) for _ in range(64)
    ]
    t.form("tanh.approx.f32", "f32", [("f32", v)], rounded(math.tanh, F32), tol=" ulp=8192")
    yield t


def division():
    t = Table(
        "floating-point/div-approx-full",
        SECTION + "div",
        "2 units for b within 2^-126 ... 2^126 (.approx) and for all b (.full).",
    )
    r = rng("div")
    a = [
        r.getrandbits(1) << 31 | r.randint(90, 160) << 23 | r.getrandbits(23) for _ in range(96)
    ] + [0x3F800000, 0x80000000, 0x7F800000, 0x3F800000, 0, 0x7FC00000]
    b = [
        r.getrandbits(1) << 31 | r.randint(90, 160) << 23 | r.getrandbits(23) for _ in range(96)
    ] + [0, 0x3F800000, 0x40000000, 0x7F800000, 0, 0x3F800000]
    f = lambda x, y: (lambda q: "nan" if F32.is_nan(q) else q)(fp.div(x, y, F32))
    for k in ("approx", "approx.ftz", "full", "full.ftz"):
        t.form("div.%s.f32" % k, "f32", [("f32", a), ("f32", b)], f, tol=" ulp=2")
    yield t


def double_and_half():
    t = Table(
        "floating-point/rcp-rsqrt-approx-f64",
        SECTION + "rcp.approx.ftz.f64, rsqrt.approx.ftz.f64",
        "The upper 32 bits approximate with relative error 2^-20 ... the low 32 bits of the result are 0: 2^33 units.",
    )
    r = rng("f64 approx")
    v = [0, F64.sign, F64.inf, F64.inf | 1 << 51] + [
        r.randint(800, 1200) << 52 | r.getrandbits(52) for _ in range(60)
    ]
    g = rounded(recip, F64)
    t.form("rcp.approx.ftz.f64", "f64", [("f64", v)], g, tol=" ulp=%d" % (1 << 33))
    t.form(
        "rsqrt.approx.ftz.f64", "f64", [("f64", v)], rounded(rsqrt, F64), tol=" ulp=%d" % (1 << 33)
    )
    yield t
    section = "PTX ISA, Half Precision Floating-Point Instructions: "
    for fmt in (F16, BF16):
        ty = fmt.name
        r = rng(ty + "approx")
        target = "sm_90"
        t = Table(
            "half-precision/ex2-tanh-%s" % ty,
            section + "tanh, ex2",
            "ex2: error 2^-9.9 (f16) or 2^-7 (bf16), tanh: 2^-10.987 absolute (f16) or 2^-8 (bf16). Inputs where that is a few units.",
            target=target,
        )
        e = [fmt.inf, fmt.sign | fmt.inf, 0] + [
            fp.bits_of(r.uniform(-12, 14), fmt) for _ in range(61)
        ]
        h = [fmt.inf, fmt.sign | fmt.inf, 0, fmt.sign] + [
            fp.bits_of(r.choice((1, -1)) * r.uniform(0.6, 4), fmt) for _ in range(60)
        ]
        ex = "ex2.approx.f16" if fmt is F16 else "ex2.approx.ftz.bf16"
        ge, gh = rounded(exp2, fmt), rounded(math.tanh, fmt)
        t.form(ex, ty, [(ty, e)], ge, tol=" ulp=2")
        t.form("tanh.approx." + ty, ty, [(ty, h)], gh, tol=" ulp=2")
        for row, values, f in ((ex, e, ge), ("tanh.approx." + ty, h, gh)):
            # the two halves of the packed form, each stored on its own
            p = [x | values[(i + 9) % len(values)] << 16 for i, x in enumerate(values)]
            for half, shift in (("low", 0), ("high", 16)):
                t.form(
                    row + "x2",
                    ty,
                    [("b32", p)],
                    lambda x, shift=shift, f=f: f(x >> shift & 0xFFFF),
                    "{ .reg .b32 %%r; .reg .b16 %%lo, %%hi;\n%sx2 %%r, $a;\nmov.b32 {%%lo, %%hi}, %%r;\nmov.b16 $d, %s; }"
                    % (row, "%lo" if half == "low" else "%hi"),
                    tol=" ulp=2",
                )
        yield t


def tables():
    for group in (single, division, double_and_half):
        yield from group()
