#!/usr/bin/env python3
"""Measures instruction results on this machine's NVIDIA GPU: bench/results/measure.py OUTDIR

Writes OUTDIR/{index.tsv,data.bin,head.json} as README.md beside this file describes. Inputs come
from fixed seeds. Needs the driver, and nvcc for mma.cu.
"""

import array
import ctypes
import datetime
import os
import random
import subprocess
import sys

import elementwise
from device import BITS, CODE, HERE, Batch, Gpu, Writer, bits_near, corners, kernel

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
    for k, (mode, amount, c) in enumerate(
        (
            ("idx", 20, 31),
            ("down", 8, 31),
            ("bfly", 16, 31),
            ("up", 4, 0),
            ("idx", 3, 31),
            ("down", 12, 31),
        )
    ):
        forms.append(
            "shfl.sync.%s.b32 %%d|%%q, %%v, %d, %d, 0x0000ffff;" % (mode, amount, c)
            + put % (k * 256, k * 256 + 4)
        )
    module = gpu.load(SHFL.replace("BODY", "\n".join(forms)))
    out = gpu.launch(module, "k", [bytes(8)], 256 * len(forms), 1, 32)
    w.put(
        "shfl.inactive",
        "u32",
        out,
        " ".join(f.split(";")[0] for f in forms) + " : 32 pairs (d, p) each",
    )


def warp_reductions(w, gpu):
    r = random.Random(3)
    v = [r.getrandbits(32) for _ in range(512)]
    v[:64] = [0xFFFFFFFF] * 32 + [0x80000000, 0x7FFFFFFF] * 16
    masks = [
        0xFFFFFFFF if i // 32 < 4 else 0x0000FFFF if i % 32 < 16 else 0xFFFF0000 for i in range(512)
    ]
    rows = [
        "redux.sync.%s" % o
        for o in (
            "add.u32",
            "add.s32",
            "min.u32",
            "min.s32",
            "max.u32",
            "max.s32",
            "and.b32",
            "or.b32",
            "xor.b32",
        )
    ]
    w.put("redux.values", "u32", v)
    w.put("redux.masks", "u32", masks)
    head = ".version 8.3\n.target sm_90\n.address_size 64\n"
    module = gpu.load(
        head
        + "\n".join(
            kernel(k, row + " $d, $a, $b;", "u32", ["u32", "u32"]) for k, row in enumerate(rows)
        )
    )
    raw = [array.array("I", x).tobytes() for x in (v, masks)]
    for k, row in enumerate(rows):
        w.put(
            row,
            "u32",
            gpu.launch(module, "k%d" % k, raw + raw[:1], 2048, 16, 32),
            row,
            ("redux.values", "redux.masks"),
        )


MMA = (
    ("m16n8k16.f32.f16", "f16", 16, "f32"),
    ("m16n8k16.f16.f16", "f16", 16, "f16"),
    ("m16n8k8.f32.f16", "f16", 8, "f32"),
    ("m16n8k16.f32.bf16", "bf16", 16, "f32"),
    ("m16n8k8.f32.bf16", "bf16", 8, "f32"),
    ("m16n8k8.f32.tf32", "f32", 8, "f32"),
    ("m16n8k4.f32.tf32", "f32", 4, "f32"),
)


def mma_values(t, k, acc, trial, r):
    """A (16 x k), B (k x 8), C (16 x 8), row-major bits; the trial picks the kind of difficulty."""
    family = trial % 8
    emax = {"f16": 15, "bf16": 127, "f32": 127}[t]
    spread = {
        0: (-2, 2),
        1: (-emax // 2, emax // 2 - 2),
        2: (-8, 8),
        3: (-2, 2),
        4: (-13, -1),
        5: (-emax - 1, -emax + 4),
        6: (-2, 2),
        7: (emax // 2 - 3, emax // 2 + 2),
    }[family]

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
    lo, hi = {
        0: (-2, 4),
        1: (-20, 20),
        2: (-24, 0),
        3: (18, 30),
        4: (-40, -10),
        5: (-149, -100),
        6: (-2, 2),
        7: (emax - 4, emax),
    }[family]
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
    c = [
        0 if r.random() < 0.5 else r.getrandbits(1) << 31 | r.getrandbits(r.randint(1, 23))
        for _ in range(128)
    ]
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
        w.put(
            "mma." + name,
            acc,
            out,
            "mma.sync.aligned, %d trials; a 16 x %d, b %d x 8, c and d 16 x 8, row-major"
            % (trials, k, k),
            ["mma.%s.%s" % (name, q) for q in "abc"],
        )


def main():
    folder = sys.argv[1]
    gpu = Gpu()
    w = Writer()
    smi = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version,vbios_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
    )
    head = {
        "schema": 1,
        "card": smi.stdout.strip(),
        "arch": gpu.arch,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat()[:19] + "Z",
    }
    version = ctypes.c_int()
    gpu.call("cuDriverGetVersion", ctypes.byref(version))
    head["cuda_driver_api"] = version.value
    b = Batch(w, gpu)
    for group in elementwise.GROUPS:
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
