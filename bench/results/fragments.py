#!/usr/bin/env python3
"""Measures mma.sync of f64 and 8-bit integers by lane: random registers in, registers out.

    bench/results/fragments.py OUTDIR       NVIDIA driver needed; writes index.tsv, data.bin, head.json

A record `mma.SHAPE.TYPE` holds the registers of D, `….a`, `….b`, `….c` those of the operands: for each trial,
each register, 32 lanes. So the fragment layouts are measured with the values.
"""

import array
import random
import sys

from device import Gpu, Writer

SHAPES = [
    ("m8n8k4", "f64", "f64", 1, 1, 2),
    ("m16n8k4", "f64", "f64", 2, 1, 4),
    ("m16n8k8", "f64", "f64", 4, 2, 4),
    ("m16n8k16", "f64", "f64", 8, 4, 4),
    ("m8n8k16", "s8", "u8", 1, 1, 2),
    ("m16n8k16", "s8", "u8", 2, 1, 4),
    ("m16n8k32", "s8", "u8", 4, 2, 4),
    ("m16n8k32", "u8", "s8", 4, 2, 4),
]
TRIALS = 8


def names(letter, n):
    return ["%%%s%d" % (letter, i) for i in range(n)]


def kernel(k, statement, bits, counts):
    out = [
        ".visible .entry k%d(.param .u64 p, .param .u64 q0, .param .u64 q1, .param .u64 q2) {" % k,
        ".reg .b64 %at, %off; .reg .b32 %t, %i;",
        "mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x;",
    ]

    def address(param, count, r):
        return (
            "mad.lo.u32 %%o, %%i, %d, %d; mad.lo.u32 %%o, %%o, 32, %%t; mul.wide.u32 %%off, %%o, %d;"
            " ld.param.u64 %%at, [%s]; add.s64 %%at, %%at, %%off;" % (count, r, bits // 8, param)
        )

    out.append(".reg .b32 %o;")
    for letter, count, param in zip("abc", counts, ("q0", "q1", "q2")):
        for r, name in enumerate(names(letter, count)):
            out.append(".reg .b%d %s;" % (bits, name))
            out.append(address(param, count, r) + " ld.global.b%d %s, [%%at];" % (bits, name))
    d = names("d", counts[2])
    out += [".reg .b%d %s;" % (bits, name) for name in d]
    groups = ["{%s}" % ", ".join(g) for g in [d] + [names(x, n) for x, n in zip("abc", counts)]]
    out.append("%s %s;" % (statement, ", ".join(groups)))
    for r, name in enumerate(d):
        out.append(address("p", counts[2], r) + " st.global.b%d [%%at], %s;" % (bits, name))
    return "\n".join(out + ["ret; }"])


def values(r, n, bits):
    if bits == 32:
        return [r.getrandbits(32) for _ in range(n)]
    floats = [r.uniform(-2, 2) * 2.0 ** r.randint(-20, 20) for _ in range(n)]
    raw = array.array("Q")
    raw.frombytes(array.array("d", floats).tobytes())
    return list(raw)


def main(folder):
    gpu, writer = Gpu(), Writer()
    parts, plans = [], []
    for k, (shape, a, b, na, nb, nc) in enumerate(SHAPES):
        bits, acc = (64, "f64") if a == "f64" else (32, "s32")
        # Integers wrap without .satfinite; the accumulators below make some of them do so.
        statement = "mma.sync.aligned.%s.row.col.%s.%s.%s.%s" % (shape, acc, a, b, acc)
        parts.append(kernel(k, statement, bits, (na, nb, nc)))
        plans.append((statement, bits, "mma.%s.%s.%s" % (shape, a, b), (na, nb, nc)))
    module = gpu.load(".version 8.3\n.target sm_90\n.address_size 64\n" + "\n".join(parts))
    for k, (statement, bits, name, counts) in enumerate(plans):
        r = random.Random(name)
        code, t = ("Q", "u64") if bits == 64 else ("I", "u32")
        tables = [values(r, TRIALS * n * 32, bits) for n in counts]
        raw = [array.array(code, table).tobytes() for table in tables]
        out = gpu.launch(module, "k%d" % k, raw, len(raw[2]), TRIALS, 32)
        for letter, table in zip("abc", tables):
            writer.put(name + "." + letter, t, table)
        writer.put(name, t, out, statement, [name + "." + x for x in "abc"])
    writer.save(folder, {"schema": 1, "trials": TRIALS})
    print("%d shapes" % len(plans))


if __name__ == "__main__":
    main(sys.argv[1])
