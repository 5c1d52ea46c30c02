"""Reads the one-file PTX tests of tests/isa: the launch options and the `want` lines.

Only what these tests use: one kernel, `--entry --grid --block --cluster --shared --arg`, and
`want N TYPE [ulp=K]: V V*COUNT …`. In a `want` list `nan` matches every NaN, 0x… matches bits.
"""

import re
import struct

SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
SPECIAL = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
EXP = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def size_of(t):
    return SIZES.get(t) or int(t[1:]) // 8


def parse_value(text, t):
    """A literal as an unsigned bit pattern of type t."""
    mask = (1 << 8 * size_of(t)) - 1
    if text.startswith(("0x", "-0x")) or t not in SIZES:
        return int(text, 0) & mask
    x = SPECIAL[text] if text in SPECIAL else float(text)
    if t == "f64":
        return struct.unpack("<Q", struct.pack("<d", x))[0]
    if t == "f16":
        return struct.unpack("<H", struct.pack("<e", x))[0]
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    if t == "bf16":
        assert bits & 0xFFFF == 0 or x != x, "not a bf16 value: " + text
        return bits >> 16
    return bits


def expand(items):
    for item in items:
        text, _, count = item.partition("*")
        for _ in range(int(count) if count else 1):
            yield text


def pack(items, t):
    return b"".join(parse_value(v, t).to_bytes(size_of(t), "little") for v in expand(items))


def is_nan(bits, t):
    e, m = EXP[t]
    return bits >> m & (1 << e) - 1 == (1 << e) - 1 and bits & (1 << m) - 1 != 0


def ordered(bits, t):
    top = 1 << 8 * size_of(t) - 1
    return top - (bits & top - 1) if bits & top else top + bits


class Want:
    def __init__(self, param, t, ulp, values):
        self.param, self.type, self.ulp, self.values = param, t, ulp, values

    def differences(self, data):
        """Yields (index, wanted text, bits found) for each value that does not match."""
        n = size_of(self.type)
        for i, text in enumerate(self.values):
            got = int.from_bytes(data[i * n : (i + 1) * n], "little")
            if text == "nan" and self.type in SIZES:
                ok = is_nan(got, self.type)
            else:
                want = parse_value(text, self.type)
                ok = got == want
                if (
                    not ok
                    and self.ulp
                    and not is_nan(got, self.type)
                    and not is_nan(want, self.type)
                ):
                    ok = abs(ordered(got, self.type) - ordered(want, self.type)) <= self.ulp
            if not ok:
                yield i, text, got


class Test:
    def __init__(self, path):
        self.path, self.args, self.wants, self.rows, self.expect = path, [], [], [], []
        self.entry, self.grid, self.block, self.shared, self.cluster = (
            None,
            (1, 1, 1),
            (1, 1, 1),
            0,
            None,
        )
        self.text = open(path).read()
        options = []
        for line in self.text.splitlines():
            m = re.match(r"// (launch|want|row|expect): ?(.*)$|// (want) (.*)$", line)
            if not m:
                continue
            kind = m.group(1) or m.group(3)
            body = (m.group(2) if m.group(1) else m.group(4)).strip()
            if kind == "launch":
                options += body.split()
            elif kind == "want":
                self.add_want(body)
            elif kind == "row":
                self.rows.append(body)
            else:
                self.expect.append(body)
        self.read_options(options)

    def add_want(self, body):
        head, _, values = body.partition(":")
        parts = head.split()
        ulp = next((int(p[4:]) for p in parts[2:] if p.startswith("ulp=")), 0)
        self.wants.append(Want(int(parts[0]), parts[1], ulp, list(expand(values.split()))))

    def read_options(self, options):
        it = iter(options)
        for o in it:
            v = next(it)
            if o == "--entry":
                self.entry = v
            elif o == "--arg":
                self.args.append(v)
            elif o in ("--grid", "--block", "--cluster"):
                dims = [int(x) for x in v.split(",")]
                setattr(self, o[2:], tuple(dims + [1] * (3 - len(dims))))
            elif o == "--shared":
                self.shared = int(v)
            else:
                raise ValueError("%s: option %s" % (self.path, o))
        if self.entry is None:
            self.entry = re.search(r"\.entry\s+([\w$]+)", self.text).group(1)

    def target(self):
        return re.search(r"^\.target\s+(\w+)", self.text, re.M).group(1)


def buffer_of(spec):
    """(bytes for a buffer, or None; bytes of a scalar, or None) of one --arg SPEC."""
    kind, _, rest = spec.partition(":")
    if kind in ("list", "inlist"):
        m = re.match(r"(\w+)\[(.*)\]$", rest)
        return pack(m.group(2).split(","), m.group(1)), None
    if kind == "out":
        size, _, fill = rest.partition(":")
        return bytes([int(fill, 0) if fill else 0xFF]) * int(size), None
    if kind == "zeros":
        m = re.match(r"(\w+)\[([\d,]+)\]$", rest)
        n = 1
        for d in m.group(2).split(","):
            n *= int(d)
        return bytes(n * size_of(m.group(1))), None
    if kind == "null":
        return None, bytes(8)
    if kind == "bytes":
        return None, bytes.fromhex(rest)
    return None, pack([rest], kind)
