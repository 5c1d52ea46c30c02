"""Integer arithmetic (PTX ISA 9.7.1)."""

from .emit import Table, clamp, int_pairs, int_triples, ints, limits, mask, rng, width, wrap

ARITH = "PTX ISA, Integer Arithmetic Instructions: "
ALL = ("u16", "u32", "u64", "s16", "s32", "s64")
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def unsigned(v, t):
    return v & mask(t)


def signed(v, bits):
    return wrap(v, "s%d" % bits)


def simd(op, t):
    """Applies op to both 16-bit halves of t = u16x2 or s16x2."""
    half = t[:3]

    def f(*args):
        lo = op(*[wrap(x, half) for x in args])
        hi = op(*[wrap(x >> 16, half) for x in args])
        return (lo & 0xFFFF) | (hi & 0xFFFF) << 16

    return f


def packed_pairs(n=64, seed=5):
    c = (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x1234, 0xFFFE)
    a = [c[i % 8] | c[(i * 5 + 3) % 8] << 16 for i in range(n)]
    b = [c[i // 8 % 8] | c[(i // 8 * 3 + i) % 8] << 16 for i in range(n)]
    return a, b


def add_sub():
    for name, op in (("add", lambda x, y: x + y), ("sub", lambda x, y: x - y)):
        t = Table(
            "integer-arithmetic/" + name,
            ARITH + name,
            "The result wraps; .sat.s32 clamps to MININT..MAXINT.",
        )
        for ty in ALL:
            a, b = int_pairs(ty)
            t.form(
                "%s.%s" % (name, ty), ty, [(ty, a), (ty, b)], lambda x, y, ty=ty: wrap(op(x, y), ty)
            )
        a, b = int_pairs("s32")
        t.form(
            name + ".sat.s32", "s32", [("s32", a), ("s32", b)], lambda x, y: clamp(op(x, y), "s32")
        )
        yield t
    t = Table(
        "integer-arithmetic/add-x2",
        ARITH + "add",
        "Both 16-bit halves wrap on their own.",
        target="sm_90",
    )
    a, b = packed_pairs()
    for ty in ("u16x2", "s16x2"):
        t.form("add." + ty, ty, [(ty, a), (ty, b)], simd(lambda x, y: x + y, ty))
    yield t


def mul_mad():
    t = Table(
        "integer-arithmetic/mul",
        ARITH + "mul",
        ".lo and .hi are halves of the exact product, .wide all of it.",
    )
    for ty in ALL:
        a, b = int_pairs(ty)
        w = width(ty)
        t.form("mul.lo." + ty, ty, [(ty, a), (ty, b)], lambda x, y, ty=ty: wrap(x * y, ty))
        t.form(
            "mul.hi." + ty, ty, [(ty, a), (ty, b)], lambda x, y, ty=ty, w=w: wrap(x * y >> w, ty)
        )
        if ty in WIDE:
            t.form(
                "mul.wide." + ty,
                WIDE[ty],
                [(ty, a), (ty, b)],
                lambda x, y, ty=ty: wrap(x * y, WIDE[ty]),
            )
    yield t
    t = Table(
        "integer-arithmetic/mad",
        ARITH + "mad",
        "mad.hi adds to the high half; .sat is of mad.hi.s32 alone.",
    )
    for ty in ALL:
        a, b, c = int_triples(ty)
        w = width(ty)
        args = [(ty, a), (ty, b), (ty, c)]
        t.form("mad.lo." + ty, ty, args, lambda x, y, z, ty=ty: wrap(x * y + z, ty))
        t.form("mad.hi." + ty, ty, args, lambda x, y, z, ty=ty, w=w: wrap((x * y >> w) + z, ty))
        if ty in WIDE:
            wt = WIDE[ty]
            c = int_triples(ty, None, wt)[2]
            t.form(
                "mad.wide." + ty,
                wt,
                [(ty, a), (ty, b), (wt, c)],
                lambda x, y, z, wt=wt: wrap(x * y + z, wt),
            )
    a, b, c = int_triples("s32")
    t.form(
        "mad.hi.sat.s32",
        "s32",
        [("s32", a), ("s32", b), ("s32", c)],
        lambda x, y, z: clamp((x * y >> 32) + z, "s32"),
    )
    yield t


def mul24_mad24():
    """Sources hold 24-bit values, the low 24 bits of the register, so that no upper bit matters."""
    r = rng("mul24")

    def values(ty, n, k):
        lo, hi = (-(1 << 23), (1 << 23) - 1) if ty == "s32" else (0, (1 << 24) - 1)
        corners = [0, 1, lo, hi, hi - 1, lo + 1, 0x123456 & hi, 4096]
        v = [corners[i % 8] if k == 0 else corners[i // 8 % 8] for i in range(64)]
        return v + [r.randint(lo, hi) for _ in range(n - 64)]

    t = Table(
        "integer-arithmetic/mul24",
        ARITH + "mul24",
        "Sources are 24-bit values in 32-bit registers. The 48-bit product gives bits 31..0 (.lo) or 47..16 (.hi).",
    )
    m = Table(
        "integer-arithmetic/mad24",
        ARITH + "mad24",
        "As mul24, plus c; mad24.hi.sat.s32 clamps the sum.",
    )
    for ty in ("u32", "s32"):
        a, b, c = values(ty, 96, 0), values(ty, 96, 1), ints(ty, 96, 9)
        t.form("mul24.lo." + ty, ty, [(ty, a), (ty, b)], lambda x, y, ty=ty: wrap(x * y, ty))
        t.form("mul24.hi." + ty, ty, [(ty, a), (ty, b)], lambda x, y, ty=ty: wrap(x * y >> 16, ty))
        args = [(ty, a), (ty, b), (ty, c)]
        m.form("mad24.lo." + ty, ty, args, lambda x, y, z, ty=ty: wrap(x * y + z, ty))
        m.form("mad24.hi." + ty, ty, args, lambda x, y, z, ty=ty: wrap((x * y >> 16) + z, ty))
        if ty == "s32":
            m.form("mad24.hi.sat.s32", ty, args, lambda x, y, z: clamp((x * y >> 16) + z, "s32"))
    yield t
    yield m


def div_rem_sad():
    def quotient(x, y):
        q = abs(x) // abs(y)
        return q if (x < 0) == (y < 0) else -q

    for name in ("div", "rem"):
        t = Table(
            "integer-arithmetic/" + name,
            ARITH + name,
            "Toward zero; the remainder has the sign of the dividend. Divisors of zero (unspecified) and\n"
            "MININT / -1 (does not fit) are left out.",
        )
        for ty in ALL:
            a, b = int_pairs(ty)
            fixed = [
                (x, y if y and not (y == -1 and x == limits(ty)[0]) else 3) for x, y in zip(a, b)
            ]
            a, b = [p[0] for p in fixed], [p[1] for p in fixed]
            if name == "div":
                f = quotient
            else:
                f = lambda x, y: x - quotient(x, y) * y
            t.form(
                "%s.%s" % (name, ty),
                ty,
                [(ty, a), (ty, b)],
                lambda x, y, f=f, ty=ty: wrap(f(x, y), ty),
            )
        yield t
    t = Table("integer-arithmetic/sad", ARITH + "sad", "c + |a - b|, wrapping.")
    for ty in ALL:
        a, b, c = int_triples(ty)
        t.form(
            "sad." + ty,
            ty,
            [(ty, a), (ty, b), (ty, c)],
            lambda x, y, z, ty=ty: wrap(z + abs(x - y), ty),
        )
    yield t


def min_max_unary():
    for name, op in (("min", min), ("max", max)):
        t = Table("integer-arithmetic/" + name, ARITH + name)
        for ty in ALL:
            a, b = int_pairs(ty)
            t.form("%s.%s" % (name, ty), ty, [(ty, a), (ty, b)], op)
        yield t
        t = Table(
            "integer-arithmetic/%s-x2-relu" % name,
            ARITH + name,
            ".relu clamps a negative result to 0; x2 forms work on both halves.",
            target="sm_90",
        )
        a, b = packed_pairs()
        for ty in ("u16x2", "s16x2"):
            t.form("%s.%s" % (name, ty), ty, [(ty, a), (ty, b)], simd(op, ty))
        t.form(
            "%s.relu.s16x2" % name,
            "s16x2",
            [("s16x2", a), ("s16x2", b)],
            simd(lambda x, y: max(op(x, y), 0), "s16x2"),
        )
        a, b = int_pairs("s32")
        t.form("%s.relu.s32" % name, "s32", [("s32", a), ("s32", b)], lambda x, y: max(op(x, y), 0))
        yield t
    for name, op in (("abs", abs), ("neg", lambda x: -x)):
        t = Table("integer-arithmetic/" + name, ARITH + name, "MININT stays MININT.")
        for ty in ("s16", "s32", "s64"):
            t.form("%s.%s" % (name, ty), ty, [(ty, ints(ty))], lambda x, ty=ty: wrap(op(x), ty))
        yield t


def bits():
    def bfind(x, ty, shift):
        w = width(ty)
        if x < 0:
            x = ~x
        n = x.bit_length() - 1
        return 0xFFFFFFFF if n < 0 else (w - 1 - n if shift else n)

    t = Table(
        "integer-arithmetic/popc-clz-brev-bfind",
        ARITH + "popc, clz, bfind, brev",
        "clz(0) is the width; bfind gives 0xffffffff where no bit differs from the sign.",
    )
    for w in (32, 64):
        ty = "b%d" % w
        v = ints("u%d" % w, 64) + [1 << i for i in range(0, w, 5)]
        t.form("popc." + ty, "u32", [(ty, v)], lambda x: bin(x).count("1"))
        t.form("clz." + ty, "u32", [(ty, v)], lambda x, w=w: w - x.bit_length())
        t.form("brev." + ty, ty, [(ty, v)], lambda x, w=w: int(format(x, "0%db" % w)[::-1], 2))
        for k in "us":
            kt = "%s%d" % (k, w)
            x = [wrap(q, kt) for q in v]
            t.form("bfind." + kt, "u32", [(kt, x)], lambda q, kt=kt: bfind(q, kt, False))
            t.form("bfind.shiftamt." + kt, "u32", [(kt, x)], lambda q, kt=kt: bfind(q, kt, True))
    yield t

    t = Table(
        "integer-arithmetic/fns", ARITH + "fns", "base is 0..31; larger values are undefined."
    )
    r = rng("fns")
    m, b, o = [], [], []
    for i in range(128):
        m.append((0xAAAAAAAA, 0xFFFFFFFF, 0, 0x80000001, r.getrandbits(32))[i % 5])
        b.append(r.choice((0, 1, 2, 3, 15, 30, 31)))
        o.append(r.choice((0, 1, -1, 2, -2, 3, -5, 16, -16, 31, 32, -32, 33, -40)))

    def fns(m, base, off):
        if off == 0:
            return base if m >> base & 1 else 0xFFFFFFFF
        order = range(base, 32) if off > 0 else range(base, -1, -1)
        hits = [p for p in order if m >> p & 1]
        return hits[abs(off) - 1] if len(hits) >= abs(off) else 0xFFFFFFFF

    t.form("fns.b32", "b32", [("b32", m), ("u32", b), ("s32", o)], fns)
    yield t


def bit_fields():
    lengths = (0, 1, 5, 8, 16, 31, 32, 33, 63, 64, 65, 200, 254, 255)

    def places(n, seed):
        r = rng(seed)
        pos = [r.choice(lengths) if i % 3 == 0 else r.randint(0, 40) for i in range(n)]
        return pos, [r.choice(lengths) if i % 3 == 1 else r.randint(0, 40) for i in range(n)]

    def bfe(a, b, c, ty):
        w, s = width(ty), ty[0] == "s"
        pos, length, a = b & 255, c & 255, unsigned(a, ty)
        sbit = 0 if not s or length == 0 else a >> min(pos + length - 1, w - 1) & 1
        d = 0
        for i in range(w):
            bit = a >> (pos + i) & 1 if i < length and pos + i < w else sbit
            d |= bit << i
        return wrap(d, ty)

    def bfi(a, b, c, d, ty):
        pos, length = c & 255, d & 255
        for i in range(length):
            if pos + i < width(ty):
                b = b & ~(1 << pos + i) | (a >> i & 1) << pos + i
        return b

    t = Table(
        "integer-arithmetic/bfe",
        ARITH + "bfe",
        "Position and length are 0..255; bits beyond the source are copies of the sign bit (.s) or 0.",
    )
    for ty in ("u32", "s32", "u64", "s64"):
        pos, length = places(128, ty)
        a = ints(ty, 128, 3)
        a = a[8:] + a[:8]
        t.form(
            "bfe." + ty,
            ty,
            [(ty, a), ("u32", pos), ("u32", length)],
            lambda x, y, z, ty=ty: bfe(x, y, z, ty),
        )
    yield t
    t = Table(
        "integer-arithmetic/bfi",
        ARITH + "bfi",
        "Position and length are 0..255; what would fall beyond the destination is dropped.",
    )
    for ty in ("b32", "b64"):
        pos, length = places(128, ty)
        ut = "u" + ty[1:]
        a, b = ints(ut, 128, 3), ints(ut, 128, 4)[::-1]
        t.form(
            "bfi." + ty,
            ty,
            [(ty, a), (ty, b), ("u32", pos), ("u32", length)],
            lambda x, y, z, q, ty=ty: bfi(x, y, z, q, ty),
        )
    yield t

    pos, length = places(128, "mask")
    full = 0xFFFFFFFF

    def bmsk(a, b, clamped):
        if clamped:
            if a >= 32:
                return 0
            return (full << a & full) & (full if b >= 32 else ~(full << min(a + b, 32)))
        a, b = a & 31, b & 31
        return (full << a & full) & ~(full << a + b)

    def szext(a, b, clamped, s):
        if clamped and b >= 32:
            return a
        b &= 31
        if b == 0:
            return 0
        low = a & (1 << b) - 1
        return wrap(low - (1 << b), "s32") if s and low >> (b - 1) else low

    t = Table(
        "integer-arithmetic/bmsk",
        ARITH + "bmsk",
        ".clamp limits position and width to 32, .wrap takes them modulo 32.",
    )
    for mode in ("clamp", "wrap"):
        t.form(
            "bmsk.%s.b32" % mode,
            "b32",
            [("u32", pos), ("u32", length)],
            lambda x, y, m=mode: bmsk(x, y, m == "clamp"),
        )
    yield t
    t = Table(
        "integer-arithmetic/szext",
        ARITH + "szext",
        "N = 0 gives 0; N >= 32 is limited to 32 (.clamp) or taken modulo 32 (.wrap).",
    )
    for mode in ("clamp", "wrap"):
        for ty in ("u32", "s32"):
            t.form(
                "szext.%s.%s" % (mode, ty),
                ty,
                [(ty, ints(ty, 128, 6)), ("u32", length)],
                lambda x, y, m=mode, ty=ty: szext(x, y, m == "clamp", ty == "s32"),
            )
    yield t


def dot_products():
    def parts(v, w, s):
        return [wrap(v >> i, ("s%d" if s else "u%d") % w) for i in range(0, 32, w)]

    t = Table(
        "integer-arithmetic/dp4a-dp2a",
        ARITH + "dp4a, dp2a",
        "The sum wraps. dp2a.lo takes the two low bytes of b, .hi the two high ones.",
    )
    r = rng("dp")
    a = [0, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x80007FFF] + [r.getrandbits(32) for _ in range(59)]
    b = [0xFFFFFFFF, 0xFFFFFFFF, 0x80808080, 0x80807F7F, 0x01020304] + [
        r.getrandbits(32) for _ in range(59)
    ]
    for x in "us":
        for y in "us":
            ct = "u32" if x + y == "uu" else "s32"
            c = ints(ct, 64, 7)
            types = [("b32", a), ("b32", b), (ct, c)]
            t.form(
                "dp4a.%s32.%s32" % (x, y),
                ct,
                types,
                lambda p, q, z, x=x, y=y, ct=ct: wrap(
                    z + sum(i * j for i, j in zip(parts(p, 8, x == "s"), parts(q, 8, y == "s"))), ct
                ),
            )
            for k, half in enumerate(("lo", "hi")):
                t.form(
                    "dp2a.%s.%s32.%s32" % (half, x, y),
                    ct,
                    types,
                    lambda p, q, z, x=x, y=y, ct=ct, k=k: wrap(
                        z
                        + sum(
                            i * j
                            for i, j in zip(parts(p, 16, x == "s"), parts(q, 8, y == "s")[2 * k :])
                        ),
                        ct,
                    ),
                )
    yield t


def tables():
    for group in (
        add_sub,
        mul_mad,
        mul24_mad24,
        div_rem_sad,
        min_max_unary,
        bits,
        bit_fields,
        dot_products,
    ):
        yield from group()
