"""Exact binary floating-point arithmetic for the expected values of tests/isa.

Values are fractions.Fraction, results are rounded once; nothing here shares code with src/fp, so that
a mistake has to be made twice to go unnoticed. Rules: IEEE 754-2019, and PTX ISA "Floating Point
Instructions" for canonical NaN, .ftz, .sat and .relu.
"""

from fractions import Fraction
from math import isqrt


class Fmt:
    """A binary interchange format. finite=True: e4m3, which has no infinities."""

    def __init__(self, name, bits, man, nan, e4m3=False):
        self.name, self.bits, self.man, self.nan, self.e4m3 = name, bits, man, nan, e4m3
        self.exp = bits - 1 - man
        self.bias = (1 << (self.exp - 1)) - 1
        self.sign = 1 << (bits - 1)
        self.inf = ((1 << self.exp) - 1) << man
        self.min_exp = 1 - self.bias
        if e4m3:
            self.inf = None
            self.max_bits = 0x7E
        else:
            self.max_bits = self.inf - 1
        self.max_value = None
        self.max_value = self.value(self.max_bits)

    def is_nan(self, b):
        m = b & (self.sign - 1)
        return m == 0x7F if self.e4m3 else m > self.inf

    def is_inf(self, b):
        return not self.e4m3 and (b & (self.sign - 1)) == self.inf

    def neg(self, b):
        return (b & self.sign) != 0

    def is_sub(self, b):
        m = b & (self.sign - 1)
        return 0 < m < (1 << self.man)

    def value(self, b):
        """The exact value of finite bits b."""
        m = b & (self.sign - 1)
        e, f = m >> self.man, m & ((1 << self.man) - 1)
        if e == 0:
            v = Fraction(f) * Fraction(2) ** (self.min_exp - self.man)
        else:
            v = Fraction(f + (1 << self.man)) * Fraction(2) ** (e - self.bias - self.man)
        return -v if b & self.sign else v

    def ftz(self, b):
        return b & self.sign if self.is_sub(b) else b


F16 = Fmt("f16", 16, 10, 0x7FFF)
BF16 = Fmt("bf16", 16, 7, 0x7FFF)
F32 = Fmt("f32", 32, 23, 0x7FFFFFFF)
F64 = Fmt("f64", 64, 52, 0x7FF8000000000000)
TF32 = Fmt("tf32", 19, 10, 0x3FFFF)
E4M3 = Fmt("e4m3", 8, 3, 0x7F, e4m3=True)
E5M2 = Fmt("e5m2", 8, 2, 0x7F)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}


def round_int(x, mode):
    """Fraction -> integer."""
    lo = x.numerator // x.denominator
    frac = x - lo
    if frac == 0:
        return lo
    if mode in ("rm", "rmi"):
        return lo
    if mode in ("rp", "rpi"):
        return lo + 1
    if mode in ("rz", "rzi"):
        return lo if x > 0 else lo + 1
    if frac != Fraction(1, 2):
        return lo + (frac > Fraction(1, 2))
    if mode == "rna":
        return lo + (x > 0)
    return lo + (lo & 1)


def floor_log2(x):
    """Largest e with 2^e <= x, x > 0."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def encode(x, fmt, mode="rn", negative=False, ftz=False, satfinite=False):
    """Round Fraction x once into fmt. `negative` gives the sign where x is zero."""
    if x == 0:
        return fmt.sign if negative else 0
    sign = fmt.sign if x < 0 else 0
    mag = abs(x)
    mode = {"rm": "rp", "rp": "rm"}.get(mode, mode) if x < 0 else mode
    e = floor_log2(mag)
    if ftz:  # tiny after rounding with unbounded exponent
        q = Fraction(2) ** (e - fmt.man)
        if round_int(mag / q, mode) * q < Fraction(2) ** fmt.min_exp:
            return sign
    q = Fraction(2) ** (max(e, fmt.min_exp) - fmt.man)
    r = round_int(mag / q, mode) * q
    if r > fmt.max_value:
        if satfinite or mode in ("rz", "rm"):
            return sign | fmt.max_bits
        return sign | (fmt.nan if fmt.e4m3 else fmt.inf)
    if r == 0:
        return sign
    e = floor_log2(r)
    if e < fmt.min_exp:
        return sign | int(r / Fraction(2) ** (fmt.min_exp - fmt.man))
    return sign | ((e + fmt.bias) << fmt.man) + int(r / Fraction(2) ** (e - fmt.man)) - (
        1 << fmt.man
    )


def sqrt_fraction(x):
    """A Fraction on the same side of every rounding boundary (up to f64) as sqrt(x)."""
    scale = 200 - floor_log2(x) // 2
    n = x * Fraction(2) ** (2 * scale) if scale >= 0 else x / Fraction(2) ** (-2 * scale)
    whole = n.numerator // n.denominator
    r = isqrt(whole)
    exact = r * r == whole and n.denominator == 1
    return (Fraction(r) if exact else Fraction(2 * r + 1, 2)) / Fraction(2) ** scale


def saturate(b, fmt):
    """.sat: clamp to [0, 1], NaN becomes +0."""
    if fmt.is_nan(b) or fmt.neg(b):
        return 0
    one = fmt.bias << fmt.man
    return min(b, one)


def relu(b, fmt):
    """.relu: negative becomes +0, NaN stays canonical."""
    if fmt.is_nan(b):
        return fmt.nan
    return 0 if fmt.neg(b) else b


def fma(a, b, c, fmt, mode="rn", ftz=False, sat=False):
    """a * b + c rounded once."""
    if ftz:
        a, b, c = fmt.ftz(a), fmt.ftz(b), fmt.ftz(c)
    r = _fma(a, b, c, fmt, mode, ftz)
    return saturate(r, fmt) if sat else r


def _fma(a, b, c, fmt, mode, ftz):
    if fmt.is_nan(a) or fmt.is_nan(b) or fmt.is_nan(c):
        return fmt.nan
    psign = fmt.neg(a) != fmt.neg(b)
    za, zb = a & (fmt.sign - 1) == 0, b & (fmt.sign - 1) == 0
    if fmt.is_inf(a) or fmt.is_inf(b):
        if za or zb or (fmt.is_inf(c) and fmt.neg(c) != psign):
            return fmt.nan
        return fmt.inf | (fmt.sign if psign else 0)
    if fmt.is_inf(c):
        return c
    product, addend = fmt.value(a) * fmt.value(b), fmt.value(c)
    total = product + addend
    if total == 0:
        # exact zeros of one sign keep it; a cancellation is -0 only toward minus infinity
        negative = psign if (product == 0 and addend == 0 and psign == fmt.neg(c)) else mode == "rm"
        return fmt.sign if negative else 0
    return encode(total, fmt, mode, ftz=ftz)


def add(a, b, fmt, mode="rn", ftz=False, sat=False):
    one = fmt.bias << fmt.man
    return fma(a, one, b, fmt, mode, ftz, sat)


def sub(a, b, fmt, mode="rn", ftz=False, sat=False):
    return add(a, b if fmt.is_nan(b) else b ^ fmt.sign, fmt, mode, ftz, sat)


def mul(a, b, fmt, mode="rn", ftz=False, sat=False):
    if ftz:
        a, b = fmt.ftz(a), fmt.ftz(b)
    r = _mul(a, b, fmt, mode, ftz)
    return saturate(r, fmt) if sat else r


def _mul(a, b, fmt, mode, ftz):
    # a zero addend with the product's sign leaves the product alone
    zero = fmt.sign if fmt.neg(a) != fmt.neg(b) else 0
    return _fma(a, b, zero, fmt, mode, ftz)


def div(a, b, fmt, mode="rn", ftz=False):
    if ftz:
        a, b = fmt.ftz(a), fmt.ftz(b)
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.nan
    sign = fmt.sign if fmt.neg(a) != fmt.neg(b) else 0
    za, zb = a & (fmt.sign - 1) == 0, b & (fmt.sign - 1) == 0
    if fmt.is_inf(a):
        return fmt.nan if fmt.is_inf(b) else fmt.inf | sign
    if fmt.is_inf(b):
        return sign
    if zb:
        return fmt.nan if za else fmt.inf | sign
    if za:
        return sign
    return encode(fmt.value(a) / fmt.value(b), fmt, mode, ftz=ftz)


def rcp(a, fmt, mode="rn", ftz=False):
    return div(fmt.bias << fmt.man, a, fmt, mode, ftz)


def sqrt(a, fmt, mode="rn", ftz=False):
    if ftz:
        a = fmt.ftz(a)
    if fmt.is_nan(a):
        return fmt.nan
    if a & (fmt.sign - 1) == 0:
        return a
    if fmt.neg(a):
        return fmt.nan
    if fmt.is_inf(a):
        return a
    return encode(sqrt_fraction(fmt.value(a)), fmt, mode, ftz=ftz)


def order(b, fmt):
    """A key that sorts non-NaN bits, -0 below +0."""
    m = b & (fmt.sign - 1)
    return -m - 1 if fmt.neg(b) else m


def minmax(a, b, fmt, largest, ftz=False, nan=False, xorsign=False):
    if ftz:
        a, b = fmt.ftz(a), fmt.ftz(b)
    if xorsign:
        sign = (a ^ b) & fmt.sign
        a, b = a & ~fmt.sign, b & ~fmt.sign
    if fmt.is_nan(a) or fmt.is_nan(b):
        if nan or (fmt.is_nan(a) and fmt.is_nan(b)):
            return fmt.nan
        r = b if fmt.is_nan(a) else a
    else:
        r = (max if largest else min)(a, b, key=lambda v: order(v, fmt))
    return r | sign if xorsign else r


def compare(a, b, fmt, op, ftz=False):
    """setp's comparisons: eq ne lt le gt ge, their unordered forms, num and nan."""
    if ftz:
        a, b = fmt.ftz(a), fmt.ftz(b)
    unordered = fmt.is_nan(a) or fmt.is_nan(b)
    if op == "num":
        return not unordered
    if op == "nan":
        return unordered
    base = op[:2]
    if unordered:
        return op.endswith("u")
    zero = lambda v: v & (fmt.sign - 1) == 0
    x, y = (0 if zero(a) else order(a, fmt)), (0 if zero(b) else order(b, fmt))
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[base]


def convert(b, src, dst, mode="rn", ftz=False, sat=False, relu_=False, satfinite=False):
    """Float to float."""
    if ftz and src.name == "f32":
        b = src.ftz(b)
    if src.is_nan(b):
        return 0 if sat else dst.nan
    sign = dst.sign if src.neg(b) else 0
    if src.is_inf(b):
        r = sign | (dst.max_bits if satfinite else (dst.nan if dst.e4m3 else dst.inf))
    else:
        r = encode(
            src.value(b),
            dst,
            mode,
            negative=src.neg(b),
            satfinite=satfinite,
            ftz=ftz and dst.name == "f32",
        )
    if sat:
        r = saturate(r, dst)
    if relu_:
        r = relu(r, dst)
    return r


def bits_of(x, fmt):
    """A Python float, int or Fraction as bits, rounded to nearest."""
    if isinstance(x, float):
        if x != x:
            return fmt.nan
        if x in (float("inf"), float("-inf")):
            return fmt.inf | (fmt.sign if x < 0 else 0)
        negative = str(x)[0] == "-"
        return encode(Fraction(x), fmt, negative=negative)
    return encode(Fraction(x), fmt)
