"""The instructions measured lane by lane, and their inputs: corners first, then random bits."""

import random

from device import BITS, EXP, bits_near, corners, f32_bits


def approximations(b):
    r = random.Random(1)
    v = corners("f32")
    for e in range(-149, 128):  # around every power of two
        p = f32_bits(2.0**e)
        v += [p, max(p - 1, 0), p + 1, p | 0x80000000]
    for k in range(-64, 65):  # near multiples of pi / 4, and integers and halves
        p = f32_bits(k * 0.7853981633974483)
        v += [p, p ^ 1, f32_bits(float(k)), f32_bits(k + 0.5), f32_bits(k * 2.0)]
    while len(v) < 6000:
        v.append(bits_near("f32", r, -127, 127))
    while len(v) < 9000:
        v.append(f32_bits(r.uniform(-150.0, 130.0)))
    while len(v) < 11000:
        v.append(f32_bits(r.uniform(-3.2, 3.2)))
    while len(v) < 12500:
        v.append(f32_bits(r.uniform(0.5, 2.0)))
    while len(v) < 14336:
        v.append(bits_near("f32", r, -24, 16))
    name = b.table("f32.unary", "f32", v)
    for op in ("ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "sqrt"):
        for ftz in ("", ".ftz"):
            b.add("%s.approx%s.f32" % (op, ftz), "f32", [name])
    b.add("tanh.approx.f32", "f32", [name])
    d = (corners("f64") + [bits_near("f64", r, -1022, 1023) for _ in range(2048)])[:1024]
    name = b.table("f64.unary", "f64", d)
    b.add("rcp.approx.ftz.f64", "f64", [name])
    b.add("rsqrt.approx.ftz.f64", "f64", [name])
    name = b.table("u16.all", "u16", list(range(65536)), store=False)  # index = input
    for row in ("ex2.approx.f16", "tanh.approx.f16", "ex2.approx.ftz.bf16", "tanh.approx.bf16"):
        b.add(row, "u16", [name])


def pairs(t, n, seed):
    r = random.Random(seed)
    c = corners(t)
    a, b = [x for x in c for _ in c], [x for _ in c for x in c]
    bias = (1 << EXP[t] - 1) - 1
    while len(a) < n:
        lo, hi = r.choice(((-bias - 1, bias), (-6, 6), (-bias // 2 - 3, -bias // 2 + 2)))
        a.append(bits_near(t, r, lo, hi))
        b.append(bits_near(t, r, lo, hi))
    return a[:n], b[:n]


def arithmetic(b):
    for t, n in (("f32", 3072), ("f64", 2048), ("f16", 3072), ("bf16", 3072)):
        x, y = pairs(t, n, t)
        r = random.Random(t + "c")
        c = corners(t)
        z = [
            (
                c[(i * 7 + i // 38) % 38]
                if i < 1444
                else bits_near(t, r, *r.choice(((-6, 12), (-14, 3))))
            )
            for i in range(n)
        ]
        if t == "f32":  # divisors and quotients in the awkward ranges too
            for i in range(2500, n):
                x[i], y[i] = bits_near(t, r, -127, 127), (
                    bits_near(t, r, 120, 127) if i % 2 else bits_near(t, r, -127, -120)
                )
        names = [b.table("%s.%s" % (t, k), t, v) for k, v in zip("abc", (x, y, z))]
        two, one = names[:2], names[:1]
        if t == "f32":
            for row in (
                "div.approx.f32",
                "div.approx.ftz.f32",
                "div.full.f32",
                "div.full.ftz.f32",
                "div.rn.f32",
                "add.f32",
                "mul.f32",
                "add.sat.f32",
                "min.f32",
                "max.f32",
                "min.ftz.f32",
                "max.ftz.f32",
                "min.NaN.f32",
                "max.NaN.f32",
                "min.xorsign.abs.f32",
                "max.NaN.xorsign.abs.f32",
            ):
                b.add(row, t, two)
            b.add("fma.rn.f32", t, names)
            b.add("copysign.f32", t, two)
            for row in (
                "neg.f32",
                "abs.f32",
                "neg.ftz.f32",
                "abs.ftz.f32",
                "cvt.f32.f32",
                "cvt.rni.f32.f32",
                "rcp.rn.f32",
                "sqrt.rn.f32",
            ):
                b.add(row, t, one)
        elif t == "f64":
            for row in ("add.f64", "mul.f64", "sub.f64", "div.rn.f64", "min.f64", "max.f64"):
                b.add(row, t, two)
            b.add("fma.rn.f64", t, names)
            for row in ("neg.f64", "abs.f64", "sqrt.rn.f64", "cvt.rni.f64.f64"):
                b.add(row, t, one)
        else:
            forms = [
                "add.%s",
                "sub.%s",
                "mul.%s",
                "min.%s",
                "max.%s",
                "min.NaN.%s",
                "max.NaN.%s",
                "min.xorsign.abs.%s",
                "max.NaN.xorsign.abs.%s",
            ]
            if t == "f16":
                forms += ["add.ftz.%s", "add.sat.%s", "mul.ftz.%s", "mul.sat.%s", "min.ftz.%s"]
            for row in forms:
                b.add(row % t, t, two)
            for row in ["fma.rn.%s", "fma.rn.relu.%s"] + (
                ["fma.rn.ftz.%s", "fma.rn.sat.%s"] if t == "f16" else []
            ):
                b.add(row % t, t, names)
            for row in ("neg.%s", "abs.%s"):
                b.add(row % t, t, one)
            b.add("cvt.f32.%s" % t, "f32", one)
            b.add("cvt.rn.f16.bf16" if t == "bf16" else "cvt.rn.bf16.f16", "u16", one)


def flush(b):
    """mul, add and fma whose results lie around 2^-126."""
    r = random.Random(9)
    x, y, z = [], [], []
    for i in range(2048):
        e = r.randint(-100, 30)
        p = bits_near("f32", r, e, e)
        q = bits_near("f32", r, -126 - e - r.choice((0, 1, 1, 1, 2, 24)), -126 - e)
        if i % 4 == 0:
            p, q = p & 0xFF800000 | 0x7FFFFF - r.getrandbits(4), q & 0xFF800000 | r.getrandbits(5)
        x.append(p)
        y.append(q)
        z.append(bits_near("f32", r, -129, -124) if i % 3 else bits_near("f32", r, -160, -120))
    for i in range(512):  # sums
        x[i] = bits_near("f32", r, -127, -124)
        y[i] = bits_near("f32", r, -127, -124)
    names = [b.table("f32.flush." + k, "f32", v) for k, v in zip("abc", (x, y, z))]
    for mode in ("rn", "rz", "rm", "rp"):
        b.add("mul.%s.ftz.f32" % mode, "f32", names[:2])
        b.add("add.%s.ftz.f32" % mode, "f32", names[:2])
        b.add("fma.%s.ftz.f32" % mode, "f32", names)
    b.add("fma.rn.ftz.sat.f32", "f32", names)


def conversions(b):
    dests = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
    for t in ("f16", "bf16", "f32", "f64"):
        r = random.Random(t + "cvt")
        v = corners(t)
        bias, m = (1 << EXP[t] - 1) - 1, BITS[t] - 1 - EXP[t]
        for e in (0, 6, 7, 8, 14, 15, 16, 30, 31, 32, 62, 63, 64):
            if e <= bias:
                p = e + bias << m
                v += [
                    p,
                    p - 1,
                    p + 1,
                    p | 1 << BITS[t] - 1,
                    (p | 1 << BITS[t] - 1) + 1,
                    (p | 1 << BITS[t] - 1) - 1,
                ]
        while len(v) < 192:
            v.append(bits_near(t, r, -3, min(66, bias)))
        name = b.table(t + ".toint", t, v[:192])
        for d in dests:
            if t == "bf16" and d[1:] == "8":
                continue
            for mode in ("rni", "rzi", "rmi", "rpi"):
                out = {"u8": "u16", "s8": "u16"}.get(d, "u" + d[1:])
                b.add("cvt.%s.%s.%s" % (mode, d, t), out, [name])
        if t == "f32":
            b.add("cvt.rzi.ftz.s32.f32", "u32", [name])
            b.add("cvt.rpi.ftz.u64.f32", "u64", [name])
            b.add("cvt.rzi.sat.s32.f32", "u32", [name])
    r = random.Random(77)
    v = corners("f32") + [
        bits_near("f32", r, *r.choice(((-30, 18), (-127, 127), (-12, 10), (-152, -120))))
        for _ in range(1024)
    ]
    for i in range(100, 600):  # ties of every narrower format
        v[i] = (
            v[i] & ~0x1FFF | r.choice((0x1000, 0x0FFF, 0x1001))
            if i % 2
            else v[i] & ~0xFFFF | r.choice((0x8000, 0x7FFF, 0x8001))
        )
    v = v[:1024]
    x, y = b.table("f32.narrow", "f32", v), b.table("f32.narrow.reversed", "f32", v[::-1])
    for row in (
        "cvt.rn.f16.f32",
        "cvt.rz.f16.f32",
        "cvt.rm.f16.f32",
        "cvt.rp.f16.f32",
        "cvt.rn.ftz.f16.f32",
        "cvt.rn.sat.f16.f32",
        "cvt.rn.bf16.f32",
        "cvt.rz.bf16.f32",
        "cvt.rn.relu.bf16.f32",
        "cvt.rn.relu.f16.f32",
    ):
        b.add(row, "u16", [x])
    for row in ("cvt.rna.tf32.f32", "cvt.rn.tf32.f32", "cvt.rz.tf32.f32", "cvt.rn.relu.tf32.f32"):
        b.add(row, "u32", [x])
    for row in (
        "cvt.rn.f16x2.f32",
        "cvt.rz.f16x2.f32",
        "cvt.rn.relu.f16x2.f32",
        "cvt.rn.bf16x2.f32",
        "cvt.rn.relu.bf16x2.f32",
    ):
        b.add(row, "u32", [x, y])
    for row in (
        "cvt.rn.satfinite.e4m3x2.f32",
        "cvt.rn.satfinite.e5m2x2.f32",
        "cvt.rn.satfinite.relu.e4m3x2.f32",
    ):
        b.add(row, "u16", [x, y])
    h = b.table("f16x2.narrow", "u32", [r.getrandbits(32) for _ in range(512)])
    for row in ("cvt.rn.satfinite.e4m3x2.f16x2", "cvt.rn.satfinite.e5m2x2.f16x2"):
        b.add(row, "u16", [h])
    e = b.table("fp8.all", "u16", [i | (255 - i) << 8 for i in range(256)])
    for row in ("cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2"):
        b.add(row, "u32", [e])
    d = (
        corners("f64")
        + [
            bits_near("f64", r, *r.choice(((-150, 130), (-30, 18), (-1022, 1023))))
            for _ in range(512)
        ]
    )[:512]
    d = b.table("f64.narrow", "f64", d)
    b.add("cvt.rn.f32.f64", "u32", [d])
    b.add("cvt.rn.ftz.f32.f64", "u32", [d])
    b.add("cvt.rn.f16.f64", "u16", [d])
    b.add("cvt.rn.bf16.f64", "u16", [d])
    b.add("cvt.f64.f32", "u64", [x])
    b.add("cvt.ftz.f64.f32", "u64", [x])


def integers(b):
    """What the manual leaves open: zero divisors, MININT / -1, 24-bit products of wider values."""
    r = random.Random(5)
    c = [
        0,
        1,
        2,
        0x7FFFFFFF,
        0x80000000,
        0x80000001,
        0xFFFFFFFF,
        0x00FFFFFF,
        0x01000000,
        0xFF800000,
        0x00800000,
        32,
        31,
        33,
        255,
        256,
    ]
    x = [p for p in c for _ in c] + [r.getrandbits(32) for _ in range(256)]
    y = [p for _ in c for p in c] + [r.getrandbits(r.randint(1, 32)) for _ in range(256)]
    a, d = b.table("u32.a", "u32", x), b.table("u32.b", "u32", y)
    for row in (
        "div.u32",
        "div.s32",
        "rem.u32",
        "rem.s32",
        "mul24.lo.u32",
        "mul24.hi.u32",
        "mul24.lo.s32",
        "mul24.hi.s32",
        "bmsk.clamp.b32",
        "bmsk.wrap.b32",
        "szext.clamp.s32",
        "szext.wrap.s32",
        "shl.b32",
        "shr.s32",
    ):
        b.add(row, "u32", [a, d])
    for row in ("cvt.rn.f32.u32", "cvt.rz.f32.s32"):
        b.add(row, "u32", [a])


GROUPS = (approximations, arithmetic, flush, conversions, integers)
