"""cvt, cvt.pack (PTX ISA 9.7.9, Data Movement and Conversion Instructions: cvt)."""

from fractions import Fraction

from . import formats as fp
from .emit import Table, clamp, ints, limits, mask, rng, width, wrap
from .formats import BF16, E4M3, E5M2, F16, F32, F64, TF32

SECTION = "PTX ISA, Data Movement and Conversion Instructions: cvt"
INTS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
FLOATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


def float_values(fmt, n=64, seed=1):
    """Corners (zeros, subnormals, ties, limits, infinities, NaN) and random bits."""
    r = rng("%s/%d" % (fmt.name, seed))
    m, one = fmt.man, fmt.bias << fmt.man
    v = [
        0,
        fmt.sign,
        1,
        fmt.sign | 1,
        (1 << m) - 1,
        fmt.sign | (1 << m) - 1,
        1 << m,
        one,
        fmt.sign | one,
        one + 1,
        one - 1,
        fmt.max_bits,
        fmt.sign | fmt.max_bits,
        fmt.inf,
        fmt.sign | fmt.inf,
        fmt.inf | 1 << (m - 1),
        fmt.sign | fmt.inf | 1,
    ]
    v += [
        fp.bits_of(x, fmt)
        for x in (0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5, 0.75, -0.25, 127.5, -128.5, 255.5)
    ]
    while len(v) < n:
        e = r.choice(
            (
                r.randint(0, (1 << fmt.exp) - 2),
                min(fmt.bias + r.randint(-4, 18), (1 << fmt.exp) - 2),
            )
        )
        v.append(r.getrandbits(1) * fmt.sign | e << m | r.getrandbits(m))
    return v[:n]


def int_to_int():
    for src in INTS:
        t = Table(
            "data-movement/cvt-int-from-" + src,
            SECTION,
            "Truncation, or sign or zero extension; .sat clamps to the destination's range.\n"
            "An 8-bit result is extended to its 16-bit register: the 16 bits are stored.",
        )
        v = ints(src, 48)
        for dst in INTS:
            # the register's full width shows the extension of 8-bit results
            out = {"u8": "u16", "s8": "s16"}.get(dst, dst)
            if dst != src:
                t.form("cvt.%s.%s" % (dst, src), out, [(src, v)], lambda x, dst=dst: wrap(x, dst))
            lo, hi = limits(dst)
            slo, shi = limits(src)
            if lo > slo or hi < shi:
                t.form(
                    "cvt.sat.%s.%s" % (dst, src), out, [(src, v)], lambda x, dst=dst: clamp(x, dst)
                )
        yield t


def int_to_float():
    for name, fmt in FLOATS.items():
        t = Table(
            "data-movement/cvt-%s-from-int" % name,
            SECTION,
            "Rounded once; results beyond the range overflow as the rounding says.",
            target="sm_90" if name == "bf16" else "sm_80",
        )
        for src in INTS:
            if name == "bf16" and width(src) == 8:
                continue  # ptxas knows no such conversion
            v = ints(src, 64, 2)
            w = width(src)
            if w > fmt.man + 1:  # ties around the last bit
                s = w - fmt.man - 2
                v += [
                    wrap(x, src)
                    for k in range(1, s + 1, max(1, s // 6))
                    for x in (
                        (1 << fmt.man + 1 + k - 1) + (1 << k - 1),
                        (1 << fmt.man + k) + (3 << k - 1),
                        (1 << fmt.man + k) + (1 << k - 1) + 1,
                    )
                ]
            for mode in ("rn", "rz", "rm", "rp"):
                t.form(
                    "cvt.%s.%s.%s" % (mode, name, src),
                    name,
                    [(src, v)],
                    lambda x, mode=mode: fp.encode(Fraction(x), fmt, mode),
                )
        yield t


def float_to_int():
    for name, fmt in FLOATS.items():
        t = Table(
            "data-movement/cvt-int-from-" + name,
            SECTION,
            "Rounded to an integer, then clamped to the destination's range (float to integer clamps with and\n"
            "without .sat). NaN is tested by cvt-int-from-nan.",
            target="sm_90" if name == "bf16" else "sm_80",
        )
        v = [x for x in float_values(fmt, 96) if not fmt.is_nan(x)]
        for e in (7, 8, 15, 16, 31, 32, 63, 64):  # around the limits of the destinations
            if e < fmt.bias:
                b = fp.bits_of(Fraction(2) ** e, fmt)
                v += [b, b - 1, b + 1, fmt.sign | b, fmt.sign | b + 1, fmt.sign | b - 1]
        for dst in INTS:
            if name == "bf16" and width(dst) == 8:
                continue  # ptxas knows no such conversion
            out = {"u8": "u16", "s8": "s16"}.get(dst, dst)

            def ref(x, mode, dst=dst):
                lo, hi = limits(dst)
                if fmt.is_inf(x):
                    return lo if fmt.neg(x) else hi
                return clamp(fp.round_int(fmt.value(x), mode), dst)

            for mode in ("rni", "rzi", "rmi", "rpi"):
                t.form(
                    "cvt.%s.%s.%s" % (mode, dst, name),
                    out,
                    [(name, v)],
                    lambda x, mode=mode, ref=ref: ref(x, mode),
                )
            if name == "f32":
                t.form(
                    "cvt.rpi.ftz.%s.f32" % dst,
                    out,
                    [(name, v)],
                    lambda x, ref=ref: ref(F32.ftz(x), "rpi"),
                    "cvt.rpi.ftz.%s.f32 $d, $a;" % dst,
                )
            if dst in ("s32", "u16") and name != "bf16":
                t.form(
                    "cvt.rzi.sat.%s.%s" % (dst, name),
                    out,
                    [(name, v)],
                    lambda x, ref=ref: ref(x, "rzi"),
                )
        yield t


def nan_to_int():
    t = Table(
        "data-movement/cvt-int-from-nan",
        SECTION,
        "NaN becomes 0 where neither the source is f64 nor the destination 64-bit, else the top bit of the destination.",
    )
    for name in ("f16", "f32", "f64"):
        fmt = FLOATS[name]
        v = [
            fmt.inf | 1,
            fmt.sign | fmt.inf | 1 << fmt.man - 1,
            fmt.inf | (1 << fmt.man) - 1,
            fmt.sign | fmt.inf | 2,
        ] * 8
        for dst in INTS:
            out = {"u8": "u16", "s8": "s16"}.get(dst, dst)
            w = width(dst)
            r = wrap(1 << w - 1, dst) if name == "f64" or w == 64 else 0
            for mode in ("rni", "rzi"):
                t.form("cvt.%s.%s.%s" % (mode, dst, name), out, [(name, v)], lambda x, r=r: r)
    yield t


def round_to_integral():
    t = Table(
        "data-movement/cvt-round-integral",
        SECTION,
        "Integer rounding between equal float types; the sign of zero stays.",
    )
    bf16 = Table(
        "data-movement/cvt-round-integral-bf16",
        SECTION,
        "Integer rounding of bf16; the sign of zero stays.",
        target="sm_90",
    )
    for name in ("f16", "f32", "f64", "bf16"):
        fmt = FLOATS[name]
        v = float_values(fmt, 80)
        for mode in ("rni", "rzi", "rmi", "rpi"):

            def ref(x, mode=mode, fmt=fmt):
                if fmt.is_nan(x):
                    return "nan"
                if fmt.is_inf(x):
                    return x
                return fp.encode(
                    Fraction(fp.round_int(fmt.value(x), mode)), fmt, negative=fmt.neg(x)
                )

            table = bf16 if name == "bf16" else t
            table.form("cvt.%s.%s.%s" % (mode, name, name), name, [(name, v)], ref)
    yield bf16
    v = float_values(F32, 80)

    def sat(x):
        if F32.is_nan(x) or F32.neg(x):
            return 0
        if F32.is_inf(x):
            return 0x3F800000
        return fp.saturate(fp.encode(Fraction(fp.round_int(F32.value(x), "rpi")), F32), F32)

    t.form("cvt.rpi.sat.f32.f32", "f32", [("f32", v)], sat)
    t.form(
        "cvt.rpi.ftz.f32.f32",
        "f32",
        [("f32", v)],
        lambda x: (
            "nan"
            if F32.is_nan(x)
            else (
                x
                if F32.is_inf(x)
                else fp.encode(
                    Fraction(fp.round_int(F32.value(F32.ftz(x)), "rpi")), F32, negative=F32.neg(x)
                )
            )
        ),
    )
    yield t


def any_nan(f, fmt):
    """NaN results: any NaN bits are accepted (the manual leaves the payload open)."""

    def g(*a):
        r = f(*a)
        return "nan" if r != "nan" and fmt.is_nan(r) else r

    return g


def float_to_float():
    t = Table("data-movement/cvt-float", SECTION, "Widening is exact, narrowing rounds once.")
    widen = (("f16", "f32"), ("f16", "f64"), ("f32", "f64"))
    for a, b in widen:
        t.form(
            "cvt.%s.%s" % (b, a),
            b,
            [(a, float_values(FLOATS[a], 96))],
            any_nan(lambda x, a=a, b=b: fp.convert(x, FLOATS[a], FLOATS[b]), FLOATS[b]),
        )
    t.form(
        "cvt.f32.bf16",
        "f32",
        [("bf16", float_values(BF16, 96))],
        any_nan(lambda x: fp.convert(x, BF16, F32), F32),
    )
    for a, b in (("f32", "f16"), ("f64", "f16"), ("f64", "f32")):
        src, dst = FLOATS[a], FLOATS[b]
        v = narrowing(src, dst)
        for mode in ("rn", "rz", "rm", "rp"):
            t.form(
                "cvt.%s.%s.%s" % (mode, b, a),
                b,
                [(a, v)],
                any_nan(lambda x, src=src, dst=dst, mode=mode: fp.convert(x, src, dst, mode), dst),
            )
    v = narrowing(F64, F32)
    t.form("cvt.rn.sat.f32.f64", "f32", [("f64", v)], lambda x: fp.convert(x, F64, F32, sat=True))
    t.form(
        "cvt.rn.ftz.f32.f64",
        "f32",
        [("f64", v)],
        any_nan(lambda x: fp.convert(x, F64, F32, ftz=True), F32),
    )
    t.form(
        "cvt.sat.f32.f32",
        "f32",
        [("f32", float_values(F32, 96))],
        lambda x: fp.convert(x, F32, F32, sat=True),
    )
    for name in ("f16", "f32", "f64"):
        t.form(
            "cvt.sat.f64.%s" % name,
            "f64",
            [(name, float_values(FLOATS[name], 96))],
            lambda x, name=name: fp.convert(x, FLOATS[name], F64, sat=True),
        )
    t.form(
        "cvt.ftz.f64.f32",
        "f64",
        [("f32", float_values(F32, 96))],
        any_nan(lambda x: fp.convert(x, F32, F64, ftz=True), F64),
    )
    yield t
    t = Table(
        "data-movement/cvt-to-bf16",
        SECTION,
        "f32 to bf16 and f16, with .relu (negative and NaN rules) and .rz.",
    )
    for b in ("f16", "bf16"):
        dst = FLOATS[b]
        v = narrowing(F32, dst)
        for mode in ("rn", "rz"):
            for relu in (False, True):
                row = "cvt.%s%s.%s.f32" % (mode, ".relu" if relu else "", b)
                f = lambda x, dst=dst, mode=mode, relu=relu: fp.convert(
                    x, F32, dst, mode, relu_=relu
                )
                t.form(row, b, [("f32", v)], f)
                w = v[::-1]
                row = "cvt.%s%s.%sx2.f32" % (mode, ".relu" if relu else "", b)
                t.form(row, "b32", [("f32", v), ("f32", w)], lambda x, y, f=f: f(x) << 16 | f(y))
    yield t
    t = Table(
        "data-movement/cvt-sm90-narrow",
        SECTION,
        "Conversions between f16 and bf16, and from f64, exist from sm_90 on.",
        target="sm_90",
    )
    for a, b in (("f64", "bf16"), ("bf16", "f16"), ("f16", "bf16")):
        src, dst = FLOATS[a], FLOATS[b]
        v = narrowing(src, dst) if src.bits > dst.bits else float_values(src, 96)
        for mode in ("rn", "rz", "rm", "rp"):
            t.form(
                "cvt.%s.%s.%s" % (mode, b, a),
                b,
                [(a, v)],
                any_nan(lambda x, src=src, dst=dst, mode=mode: fp.convert(x, src, dst, mode), dst),
            )
    t.form(
        "cvt.f64.bf16",
        "f64",
        [("bf16", float_values(BF16, 96))],
        any_nan(lambda x: fp.convert(x, BF16, F64), F64),
    )
    yield t


def narrowing(src, dst, n=112):
    """Values of src around dst's rounding ties, subnormals and overflow."""
    r = rng(src.name + dst.name)
    v = float_values(src, 40)
    half = Fraction(2) ** (dst.min_exp - dst.man - 1)
    edge = [
        half,
        half * 3,
        half / 2,
        dst.max_value + Fraction(2) ** (dst.bias - dst.man - 1),
        dst.max_value + Fraction(2) ** (dst.bias - dst.man - 2),
        Fraction(2) ** dst.min_exp - half,
    ]
    edge += [half + half / 1024, half * 3 - half / 1024]
    for x in edge:
        b = fp.encode(x, src, "rz")
        v += [b, src.sign | b]
    shift = src.man - dst.man
    while len(v) < n:
        e = (
            r.randint(max(dst.min_exp - dst.man - 2, src.min_exp), min(dst.bias + 1, src.bias))
            + src.bias
        )
        f = r.getrandbits(dst.man) << shift | r.choice(
            (0, 1 << shift - 1, (1 << shift - 1) + 1, (1 << shift - 1) - 1, r.getrandbits(shift))
        )
        v.append(r.getrandbits(1) * src.sign | e << src.man | f & (1 << src.man) - 1)
    return v


def tf32_fp8():
    t = Table(
        "data-movement/cvt-tf32",
        SECTION,
        "tf32 keeps 8 exponent and 10 fraction bits; .rna rounds ties away from zero. The low 13 bits of the result are 0.",
    )
    v = [x for x in narrowing(F32, TF32) if not F32.is_nan(x)]
    f = lambda x, mode: fp.convert(x, F32, TF32, mode) << 13
    t.form("cvt.rna.tf32.f32", "b32", [("f32", v)], lambda x: f(x, "rna"))
    yield t
    t = Table(
        "data-movement/cvt-tf32-sm90", SECTION, "cvt.rn and .rz to tf32, and .relu.", target="sm_90"
    )
    for mode in ("rn", "rz"):
        t.form("cvt.%s.tf32.f32" % mode, "b32", [("f32", v)], lambda x, mode=mode: f(x, mode))
        t.form(
            "cvt.%s.relu.tf32.f32" % mode,
            "b32",
            [("f32", v)],
            lambda x, mode=mode: 0 if F32.neg(x) else f(x, mode),
        )
    yield t
    t = Table(
        "data-movement/cvt-fp8",
        SECTION,
        "Packed e4m3 and e5m2: a goes to the high byte; .satfinite clamps to the largest finite value, NaN stays NaN (0x7f).\n"
        "e5m2's NaN is written 0x7f.",
        target="sm_90",
    )
    for name, fmt in (("e4m3", E4M3), ("e5m2", E5M2)):
        v = narrowing(F32, fmt)
        w = v[::-1]
        for relu in (False, True):
            k = ".relu" if relu else ""
            g = lambda x, src=F32, fmt=fmt, relu=relu: fp.convert(
                x, src, fmt, satfinite=True, relu_=relu
            )
            t.form(
                "cvt.rn.satfinite%s.%sx2.f32" % (k, name),
                "b16",
                [("f32", v), ("f32", w)],
                lambda x, y, g=g: g(x) << 8 | g(y),
            )
            h = narrowing(F16, fmt)
            packed = [x << 16 | y for x, y in zip(h, h[::-1])]
            t.form(
                "cvt.rn.satfinite%s.%sx2.f16x2" % (k, name),
                "b16",
                [("b32", packed)],
                lambda x, g=g: g(x >> 16, F16) << 8 | g(x & 0xFFFF, F16),
            )
            every = [i | (255 - i) << 8 for i in range(112)] + [0x7F80, 0x80FF]
            up = lambda x, fmt=fmt, relu=relu: fp.convert(x, fmt, F16, relu_=relu)
            t.form(
                "cvt.rn%s.f16x2.%sx2" % (k, name),
                "b32",
                [("b16", every)],
                lambda x, up=up: up(x >> 8) << 16 | up(x & 255),
            )
    yield t


def pack():
    t = Table(
        "data-movement/cvt-pack",
        "PTX ISA, Data Movement and Conversion Instructions: cvt.pack",
        "a and b are clamped and placed side by side, b lowest; the rest of d comes from c.",
    )
    a, b = ints("s32", 64, 3), ints("s32", 64, 4)[::-1]
    for dst in ("u16", "s16"):
        t.form(
            "cvt.pack.sat.%s.s32" % dst,
            "b32",
            [("s32", a), ("s32", b)],
            lambda x, y, dst=dst: (clamp(x, dst) & 0xFFFF) << 16 | clamp(y, dst) & 0xFFFF,
        )
    c = ints("u32", 64, 5)
    for dst in ("u8", "s8", "u4", "s4", "u2", "s2"):
        w = width(dst)

        def ref(x, y, z, dst=dst, w=w):
            return (
                (z << 2 * w) | (clamp(x, dst) & mask(dst)) << w | clamp(y, dst) & mask(dst)
            ) & 0xFFFFFFFF

        t.form("cvt.pack.sat.%s.s32.b32" % dst, "b32", [("s32", a), ("s32", b), ("b32", c)], ref)
    yield t


def tables():
    for group in (
        int_to_int,
        int_to_float,
        float_to_int,
        nan_to_int,
        round_to_integral,
        float_to_float,
        tf32_fp8,
        pack,
    ):
        yield from group()
