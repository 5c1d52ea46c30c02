"""Runs generated kernels on the GPU and collects their results: what measure.py builds on."""

import array
import ctypes
import json
import os
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
        self.rows.append(
            (name, t, len(raw) * 8 // width(t), len(self.data), what, ",".join(inputs))
        )
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


def kernel(k, text, dst, srcs):
    """A kernel k: out[i] = text over in[i]; registers $d, $a, $b, $c."""
    out = [
        ".visible .entry k%d(.param .u64 p, .param .u64 q0, .param .u64 q1, .param .u64 q2) {" % k,
        ".reg .b64 %at, %i8; .reg .b32 %i, %t, %n; .reg .pred %p;",
        "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;",
    ]
    for j, t in enumerate(srcs):
        w = width(t)
        out.append(".reg .b%d %%s%d;" % (max(16, w), j))
        out.append(
            "mul.wide.u32 %%i8, %%i, %d; ld.param.u64 %%at, [q%d]; add.s64 %%at, %%at, %%i8; ld.global.%s%d %%s%d, [%%at];"
            % (w // 8, j, "u" if w == 8 else "b", w, j)
        )
    w = width(dst)
    out.append(".reg .b%d %%d;" % max(16, w))
    for j, key in enumerate("abc"[: len(srcs)]):
        text = text.replace("$" + key, "%%s%d" % j)
    out.append(text.replace("$d", "%d").replace("$p", "%p"))
    out.append(
        "mul.wide.u32 %%i8, %%i, %d; ld.param.u64 %%at, [p]; add.s64 %%at, %%at, %%i8; st.global.b%d [%%at], %%d; ret; }"
        % (w // 8, w)
    )
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
        text = text or "%s %s;" % (row, ", ".join(["$d"] + ["$" + k for k in "abc"[: len(inputs)]]))
        self.records.append((row, dst, inputs, text))

    def run(self):
        head = ".version 8.3\n.target sm_90\n.address_size 64\n"
        parts = [
            kernel(k, text, dst, [self.tables[i][0] for i in inputs])
            for k, (row, dst, inputs, text) in enumerate(self.records)
        ]
        module = self.gpu.load(head + "\n".join(parts))
        for k, (row, dst, inputs, text) in enumerate(self.records):
            n = len(self.tables[inputs[0]][1])
            raw = [
                array.array(CODE[width(self.tables[i][0])], self.tables[i][1]).tobytes()
                for i in inputs
            ]
            raw += [raw[0]] * (3 - len(raw))
            out = self.gpu.launch(module, "k%d" % k, raw, n * width(dst) // 8, n // 64, 64)
            self.writer.put(row + "(" + ",".join(inputs) + ")", dst, out, text, inputs)
        print("%d elementwise records" % len(self.records))


def corners(t):
    w, e = BITS[t], EXP[t]
    m = w - 1 - e
    sign, inf, one = 1 << w - 1, (1 << e) - 1 << m, (1 << e - 1) - 1 << m
    v = [
        0,
        1,
        2,
        (1 << m) - 1,
        1 << m,
        (1 << m) + 1,
        one,
        one - 1,
        one + 1,
        one + (1 << m),
        one - (1 << m),
        one | 1 << m - 1,
        inf - 1,
        inf,
        inf | 1,
        inf | 1 << m - 1,
        inf | (1 << m) - 1,
        inf | 0x15,
        inf | 1 << m - 1 | 0x2A,
    ]
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
