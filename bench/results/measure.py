#!/usr/bin/env python3
"""Measures instruction results on this machine's NVIDIA GPU: bench/results/measure.py OUTDIR

Writes OUTDIR/{index.tsv,data.bin,head.json} as README.md beside this file describes. Inputs come
from fixed seeds. Needs the driver alone; mma.cu and exhaustive.cu are compiled with nvcc if present.
"""

import array
import ctypes
import datetime
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "gpu"))
import run_isa  # noqa: E402

BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
EXP = {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}
CODE = {8: "B", 16: "H", 32: "I", 64: "Q"}


def width(t):
    return BITS.get(t) or int(t.lstrip("busf"))


class Writer:
    """Collects named arrays, each at a multiple of 8 bytes."""

    def __init__(self):
        self.rows, self.data = [], bytearray()

    def put(self, name, t, values, what="", inputs=()):
        raw = values if isinstance(values, bytes) else array.array(CODE[width(t)], values).tobytes()
        while len(self.data) % 8:
            self.data.append(0)
        self.rows.append((name, t, len(raw) * 8 // width(t), len(self.data), what, ",".join(inputs)))
        self.data += raw

    def save(self, folder, head):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "index.tsv"), "w") as f:
            f.write("name\ttype\tcount\toffset\tptx\tinputs\n")
            for row in self.rows:
                f.write("\t".join(str(x) for x in row) + "\n")
        open(os.path.join(folder, "data.bin"), "wb").write(bytes(self.data))
        json.dump(head, open(os.path.join(folder, "head.json"), "w"), indent=1)


class Gpu(run_isa.Driver):
    def launch(self, module, entry, buffers, out_size, grid, block):
        """Runs entry(out, buffers...); returns the out bytes."""
        f = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(f), module, entry.encode())
        pointers = []
        for data in [bytes([0xFF]) * out_size] + buffers:
            p = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(len(data)))
            self.call("cuMemcpyHtoD_v2", p, data, ctypes.c_size_t(len(data)))
            pointers.append(p)
        args = (ctypes.c_void_p * len(pointers))(*[ctypes.addressof(p) for p in pointers])
        self.call("cuLaunchKernel", f, grid, 1, 1, block, 1, 1, 0, None, args, None)
        self.call("cuCtxSynchronize")
        host = ctypes.create_string_buffer(out_size)
        self.call("cuMemcpyDtoH_v2", host, pointers[0], ctypes.c_size_t(out_size))
        for p in pointers:
            self.call("cuMemFree_v2", p)
        return host.raw


def elementwise(k, text, dst, srcs):
    """A kernel k: out[i] = text over in[i]; registers $d, $a, $b, $c."""
    out = [".visible .entry k%d(.param .u64 p, .param .u64 q0, .param .u64 q1, .param .u64 q2) {" % k,
           ".reg .b64 %at, %i8; .reg .b32 %i, %t, %n; .reg .pred %p;",
           "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;"]
    for j, t in enumerate(srcs):
        w = width(t)
        out.append(".reg .b%d %%s%d;" % (max(16, w), j))
        out.append("mul.wide.u32 %%i8, %%i, %d; ld.param.u64 %%at, [q%d]; add.s64 %%at, %%at, %%i8; ld.global.%s%d %%s%d, [%%at];"
                   % (w // 8, j, "u" if w == 8 else "b", w, j))
    w = width(dst)
    out.append(".reg .b%d %%d;" % max(16, w))
    for j, key in enumerate("abc"[:len(srcs)]):
        text = text.replace("$" + key, "%%s%d" % j)
    out.append(text.replace("$d", "%d").replace("$p", "%p"))
    out.append("mul.wide.u32 %%i8, %%i, %d; ld.param.u64 %%at, [p]; add.s64 %%at, %%at, %%i8; st.global.b%d [%%at], %%d; ret; }" % (w // 8, w))
    return "\n".join(out)


class Batch:
    """Elementwise records over named input tables, compiled as one module."""

    def __init__(self, writer, gpu):
        self.writer, self.gpu, self.tables, self.records = writer, gpu, {}, []

    def table(self, name, t, values, store=True):
        assert len(values) % 64 == 0, name
        self.tables[name] = (t, values)
        if store:
            self.writer.put(name, t, values)
        return name

    def add(self, row, dst, inputs, text=None, regs=None):
        """regs: register types where they differ from the table's."""
        text = text or "%s %s;" % (row, ", ".join(["$d"] + ["$" + k for k in "abc"[:len(inputs)]]))
        self.records.append((row, dst, inputs, text))

    def run(self):
        head = ".version 8.3\n.target sm_90\n.address_size 64\n"
        parts = [elementwise(k, text, dst, [self.tables[i][0] for i in inputs])
                 for k, (row, dst, inputs, text) in enumerate(self.records)]
        module = self.gpu.load(head + "\n".join(parts))
        for k, (row, dst, inputs, text) in enumerate(self.records):
            n = len(self.tables[inputs[0]][1])
            raw = [array.array(CODE[width(self.tables[i][0])], self.tables[i][1]).tobytes() for i in inputs]
            raw += [raw[0]] * (3 - len(raw))
            out = self.gpu.launch(module, "k%d" % k, raw, n * width(dst) // 8, n // 64, 64)
            self.writer.put(row + "(" + ",".join(inputs) + ")", dst, out, text, inputs)
        print("%d elementwise records" % len(self.records))


def corners(t):
    w, e = BITS[t], EXP[t]
    m = w - 1 - e
    sign, inf, one = 1 << w - 1, (1 << e) - 1 << m, (1 << e - 1) - 1 << m
    v = [0, 1, 2, (1 << m) - 1, 1 << m, (1 << m) + 1, one, one - 1, one + 1, one + (1 << m), one - (1 << m),
         one | 1 << m - 1, inf - 1, inf, inf | 1, inf | 1 << m - 1, inf | (1 << m) - 1, inf | 0x15, inf | 1 << m - 1 | 0x2A]
    return v + [x | sign for x in v]


def bits_near(t, r, lo, hi):
    """Random bits of t with an unbiased exponent in lo..hi."""
    w, e = BITS[t], EXP[t]
    m = w - 1 - e
    bias = (1 << e - 1) - 1
    x = max(0, min((1 << e) - 2, r.randint(lo, hi) + bias))
    return r.getrandbits(1) << w - 1 | x << m | r.getrandbits(m)


def f32_bits(x):
    return int.from_bytes(array.array("f", [x]).tobytes(), "little")


def approximations(b):
    r = random.Random(1)
    v = corners("f32")
    for e in range(-149, 128):  # around every power of two
        p = f32_bits(2.0 ** e)
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
        z = [c[(i * 7 + i // 38) % 38] if i < 1444 else bits_near(t, r, *r.choice(((-6, 12), (-14, 3)))) for i in range(n)]
        if t == "f32":  # divisors and quotients in the awkward ranges too
            for i in range(2500, n):
                x[i], y[i] = bits_near(t, r, -127, 127), bits_near(t, r, 120, 127) if i % 2 else bits_near(t, r, -127, -120)
        names = [b.table("%s.%s" % (t, k), t, v) for k, v in zip("abc", (x, y, z))]
        two, one = names[:2], names[:1]
        if t == "f32":
            for row in ("div.approx.f32", "div.approx.ftz.f32", "div.full.f32", "div.full.ftz.f32", "div.rn.f32",
                        "add.f32", "mul.f32", "add.sat.f32", "min.f32", "max.f32", "min.ftz.f32", "max.ftz.f32",
                        "min.NaN.f32", "max.NaN.f32", "min.xorsign.abs.f32", "max.NaN.xorsign.abs.f32"):
                b.add(row, t, two)
            b.add("fma.rn.f32", t, names)
            b.add("copysign.f32", t, two)
            for row in ("neg.f32", "abs.f32", "neg.ftz.f32", "abs.ftz.f32", "cvt.f32.f32", "cvt.rni.f32.f32", "rcp.rn.f32", "sqrt.rn.f32"):
                b.add(row, t, one)
        elif t == "f64":
            for row in ("add.f64", "mul.f64", "sub.f64", "div.rn.f64", "min.f64", "max.f64"):
                b.add(row, t, two)
            b.add("fma.rn.f64", t, names)
            for row in ("neg.f64", "abs.f64", "sqrt.rn.f64", "cvt.rni.f64.f64"):
                b.add(row, t, one)
        else:
            forms = ["add.%s", "sub.%s", "mul.%s", "min.%s", "max.%s", "min.NaN.%s", "max.NaN.%s", "min.xorsign.abs.%s", "max.NaN.xorsign.abs.%s"]
            if t == "f16":
                forms += ["add.ftz.%s", "add.sat.%s", "mul.ftz.%s", "mul.sat.%s", "min.ftz.%s"]
            for row in forms:
                b.add(row % t, t, two)
            for row in ["fma.rn.%s", "fma.rn.relu.%s"] + (["fma.rn.ftz.%s", "fma.rn.sat.%s"] if t == "f16" else []):
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
                v += [p, p - 1, p + 1, p | 1 << BITS[t] - 1, (p | 1 << BITS[t] - 1) + 1, (p | 1 << BITS[t] - 1) - 1]
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
    v = corners("f32") + [bits_near("f32", r, *r.choice(((-30, 18), (-127, 127), (-12, 10), (-152, -120)))) for _ in range(1024)]
    for i in range(100, 600):  # ties of every narrower format
        v[i] = v[i] & ~0x1FFF | r.choice((0x1000, 0x0FFF, 0x1001)) if i % 2 else v[i] & ~0xFFFF | r.choice((0x8000, 0x7FFF, 0x8001))
    v = v[:1024]
    x, y = b.table("f32.narrow", "f32", v), b.table("f32.narrow.reversed", "f32", v[::-1])
    for row in ("cvt.rn.f16.f32", "cvt.rz.f16.f32", "cvt.rm.f16.f32", "cvt.rp.f16.f32", "cvt.rn.ftz.f16.f32", "cvt.rn.sat.f16.f32",
                "cvt.rn.bf16.f32", "cvt.rz.bf16.f32", "cvt.rn.relu.bf16.f32", "cvt.rn.relu.f16.f32"):
        b.add(row, "u16", [x])
    for row in ("cvt.rna.tf32.f32", "cvt.rn.tf32.f32", "cvt.rz.tf32.f32", "cvt.rn.relu.tf32.f32"):
        b.add(row, "u32", [x])
    for row in ("cvt.rn.f16x2.f32", "cvt.rz.f16x2.f32", "cvt.rn.relu.f16x2.f32", "cvt.rn.bf16x2.f32", "cvt.rn.relu.bf16x2.f32"):
        b.add(row, "u32", [x, y])
    for row in ("cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32", "cvt.rn.satfinite.relu.e4m3x2.f32"):
        b.add(row, "u16", [x, y])
    h = b.table("f16x2.narrow", "u32", [r.getrandbits(32) for _ in range(512)])
    for row in ("cvt.rn.satfinite.e4m3x2.f16x2", "cvt.rn.satfinite.e5m2x2.f16x2"):
        b.add(row, "u16", [h])
    e = b.table("fp8.all", "u16", [i | (255 - i) << 8 for i in range(256)])
    for row in ("cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2"):
        b.add(row, "u32", [e])
    d = (corners("f64") + [bits_near("f64", r, *r.choice(((-150, 130), (-30, 18), (-1022, 1023)))) for _ in range(512)])[:512]
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
    c = [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x00FFFFFF, 0x01000000, 0xFF800000, 0x00800000, 32, 31, 33, 255, 256]
    x = [p for p in c for _ in c] + [r.getrandbits(32) for _ in range(256)]
    y = [p for _ in c for p in c] + [r.getrandbits(r.randint(1, 32)) for _ in range(256)]
    a, d = b.table("u32.a", "u32", x), b.table("u32.b", "u32", y)
    for row in ("div.u32", "div.s32", "rem.u32", "rem.s32", "mul24.lo.u32", "mul24.hi.u32", "mul24.lo.s32", "mul24.hi.s32",
                "bmsk.clamp.b32", "bmsk.wrap.b32", "szext.clamp.s32", "szext.wrap.s32", "shl.b32", "shr.s32"):
        b.add(row, "u32", [a, d])
    for row in ("cvt.rn.f32.u32", "cvt.rz.f32.s32"):
        b.add(row, "u32", [a])


SHFL = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
.reg .b32 %l, %v, %d, %f, %s, %o; .reg .b64 %at, %w; .reg .pred %p, %q;
mov.u32 %l, %tid.x; add.u32 %v, %l, 100; ld.param.u64 %at, [p]; mul.wide.u32 %w, %l, 8; add.s64 %at, %at, %w;
setp.ge.u32 %p, %l, 16;
@%p bra DONE;
BODY
DONE: bar.warp.sync 0xffffffff; ret; }"""


def shuffles(w, gpu):
    """Lanes 0..15 shuffle, 16..31 wait at a later barrier or are in the mask no more; -1 rows are untouched."""
    put = "selp.u32 %%f, 1, 0, %%q; st.global.u32 [%%at+%d], %%d; st.global.u32 [%%at+%d], %%f;"
    forms = []
    for k, (mode, amount, c) in enumerate((("idx", 20, 31), ("down", 8, 31), ("bfly", 16, 31), ("up", 4, 0), ("idx", 3, 31), ("down", 12, 31))):
        forms.append("shfl.sync.%s.b32 %%d|%%q, %%v, %d, %d, 0x0000ffff;" % (mode, amount, c) + put % (k * 256, k * 256 + 4))
    module = gpu.load(SHFL.replace("BODY", "\n".join(forms)))
    out = gpu.launch(module, "k", [bytes(8)], 256 * len(forms), 1, 32)
    w.put("shfl.inactive", "u32", out, " ".join(f.split(";")[0] for f in forms) + " : 32 pairs (d, p) each")


def warp_reductions(w, gpu):
    r = random.Random(3)
    v = [r.getrandbits(32) for _ in range(512)]
    v[:64] = [0xFFFFFFFF] * 32 + [0x80000000, 0x7FFFFFFF] * 16
    masks = [0xFFFFFFFF if i // 32 < 4 else 0x0000FFFF if i % 32 < 16 else 0xFFFF0000 for i in range(512)]
    rows = ["redux.sync.%s" % o for o in ("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32")]
    w.put("redux.values", "u32", v)
    w.put("redux.masks", "u32", masks)
    head = ".version 8.3\n.target sm_90\n.address_size 64\n"
    module = gpu.load(head + "\n".join(elementwise(k, row + " $d, $a, $b;", "u32", ["u32", "u32"]) for k, row in enumerate(rows)))
    raw = [array.array("I", x).tobytes() for x in (v, masks)]
    for k, row in enumerate(rows):
        w.put(row, "u32", gpu.launch(module, "k%d" % k, raw + raw[:1], 2048, 16, 32), row, ("redux.values", "redux.masks"))


MMA = (("m16n8k16.f32.f16", "f16", 16, "f32"), ("m16n8k16.f16.f16", "f16", 16, "f16"), ("m16n8k8.f32.f16", "f16", 8, "f32"),
       ("m16n8k16.f32.bf16", "bf16", 16, "f32"), ("m16n8k8.f32.bf16", "bf16", 8, "f32"),
       ("m16n8k8.f32.tf32", "f32", 8, "f32"), ("m16n8k4.f32.tf32", "f32", 4, "f32"))


def mma_values(t, k, acc, trial, r):
    """A (16 x k), B (k x 8), C (16 x 8), row-major bits; the trial picks the kind of difficulty."""
    family = trial % 8
    emax = {"f16": 15, "bf16": 127, "f32": 127}[t]
    spread = {0: (-2, 2), 1: (-emax // 2, emax // 2 - 2), 2: (-8, 8), 3: (-2, 2), 4: (-13, -1), 5: (-emax - 1, -emax + 4),
              6: (-2, 2), 7: (emax // 2 - 3, emax // 2 + 2)}[family]

    def element(u):
        if family == 5 and r.random() < 0.4:
            return r.getrandbits(1) << BITS[u] - 1 if r.random() < 0.5 else bits_near(u, r, -4, 2)
        return bits_near(u, r, *spread)

    a, b = [element(t) for _ in range(16 * k)], [element(t) for _ in range(8 * k)]
    if family == 2:  # products in pairs that cancel but for a last bit
        for i in range(0, len(b), 16):
            for j in range(8):
                b[i + 8 + j if i + 8 + j < len(b) else i + j] = b[i + j] ^ 1 << BITS[t] - 1
        for i in range(0, len(a), 2):
            a[i + 1] = a[i] ^ r.getrandbits(1)
    lo, hi = {0: (-2, 4), 1: (-20, 20), 2: (-24, 0), 3: (18, 30), 4: (-40, -10), 5: (-149, -100), 6: (-2, 2), 7: (emax - 4, emax)}[family]
    if acc == "f16":
        lo = max(-15, min(lo, 15))
        hi = max(lo, min(hi, 15))
        if family == 3:
            lo, hi = 8, 15
    c = [bits_near(acc, r, lo, hi) if r.random() < 0.9 else 0 for _ in range(128)]
    if family == 6:  # infinities and NaN
        for v, u in ((a, t), (b, t), (c, acc)):
            special = corners(u)
            for _ in range(2):
                v[r.randrange(len(v))] = special[r.randrange(len(special))]
    return a, b, c


def floor_values(t, k, r):
    """Products of 2^-160 to 2^-135 and small or no c: whether zero terms or a floor join the alignment."""
    def operand(lo, hi):
        return bits_near(t, r, lo, hi)

    a = [operand(-78, -70) for _ in range(16 * k)]
    b = [operand(-80, -66) for _ in range(8 * k)]
    c = [0 if r.random() < 0.5 else r.getrandbits(1) << 31 | r.getrandbits(r.randint(1, 23)) for _ in range(128)]
    return a, b, c


def matrices(w, gpu):
    source = os.path.join(HERE, "mma.cu")
    ptx = os.path.join(HERE, "mma.ptx")
    if not os.path.exists(ptx):
        subprocess.check_call(["nvcc", "-arch=sm_90", "-ptx", "-o", "/tmp/mma.ptx", source])
        ptx = "/tmp/mma.ptx"
    module = gpu.load(open(ptx).read())
    small = [row for row in MMA if row[0] in ("m16n8k16.f32.bf16", "m16n8k8.f32.tf32")]
    for name, t, k, acc, floor in [m + (False,) for m in MMA] + [m + (True,) for m in small]:
        r = random.Random(name + ("floor" if floor else ""))
        a, b, c, trials = [], [], [], 8 if floor else 32
        for trial in range(trials):
            x, y, z = floor_values(t, k, r) if floor else mma_values(t, k, acc, trial, r)
            a, b, c = a + x, b + y, c + z
        raw = [array.array(CODE[BITS[u]], v).tobytes() for u, v in ((t, a), (t, b), (acc, c))]
        entry = name.replace(".", "_")
        name = "floor." + name if floor else name
        out = gpu.launch(module, entry, raw, len(raw[2]), trials, 32)
        for key, u, v in zip("abc", (t, t, acc), (a, b, c)):
            w.put("mma.%s.%s" % (name, key), u, v)
        w.put("mma." + name, acc, out, "mma.sync.aligned, %d trials; a 16 x %d, b %d x 8, c and d 16 x 8, row-major" % (trials, k, k),
              ["mma.%s.%s" % (name, q) for q in "abc"])


def main():
    folder = sys.argv[1]
    gpu = Gpu()
    w = Writer()
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,vbios_version", "--format=csv,noheader"], capture_output=True, text=True)
    head = {"schema": 1, "card": smi.stdout.strip(), "arch": gpu.arch, "date": datetime.datetime.now(datetime.timezone.utc).isoformat()[:19] + "Z"}
    version = ctypes.c_int()
    gpu.call("cuDriverGetVersion", ctypes.byref(version))
    head["cuda_driver_api"] = version.value
    b = Batch(w, gpu)
    for group in (approximations, arithmetic, flush, conversions, integers):
        group(b)
    b.run()
    for group in (shuffles, warp_reductions, matrices):
        try:
            group(w, gpu)
        except RuntimeError as e:
            print("%s: %s" % (group.__name__, e))
    w.save(folder, head)
    print("%d records, %d bytes" % (len(w.rows), len(w.data)))


if __name__ == "__main__":
    main()
