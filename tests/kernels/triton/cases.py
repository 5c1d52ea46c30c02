"""The cases of generate.py: kernels with their arguments, launches and references in double precision."""
import dataclasses
import math

import numpy as np

u = 2.0**-24  # half a unit in the last place of fp32 at 1
u16 = 2.0**-11  # of fp16


@dataclasses.dataclass
class Argument:
    name: str
    kind: str  # in, out, inout, scratch, scalar
    dtype: str
    shape: list = dataclasses.field(default_factory=list)  # of buffers
    value: str = ""  # of scalars
    divisible: bool = True  # by 16, as PyTorch's allocations are
    more: dict = dataclasses.field(default_factory=dict)  # further keys of the case file

    @property
    def triton(self):
        word = {"f16": "fp16", "f32": "fp32", "s32": "i32", "u8": "u8", "u32": "u32"}[self.dtype]
        return word if self.kind == "scalar" else "*" + word


def scalar(name, value, dtype="s32", divisible=False):
    return Argument(name, "scalar", dtype, value=value, divisible=divisible)


def buffer(name, kind, dtype, *shape, **more):
    return Argument(name, kind, dtype, list(shape), more=more)


@dataclasses.dataclass
class Twin:
    """The same PTX without one barrier."""

    name: str
    barrier: tuple  # mark of the Python line that causes it, which of its barriers
    kinds: list  # findings, as in `// expect:`
    shape: dict = dataclasses.field(default_factory=dict)  # smaller ones than the case has
    capabilities: tuple = (80, 90)


@dataclasses.dataclass
class Case:
    title: str
    folder: str
    name: str
    kernel: str
    grid: list
    shape: dict
    arguments: list
    constants: dict
    reference: object
    num_warps: object = 4
    num_stages: int = 3
    expect: str = ""
    twins: list = dataclasses.field(default_factory=list)
    capabilities: tuple = (80, 90)

    def warps(self, capability):
        return self.num_warps[capability] if isinstance(self.num_warps, dict) else self.num_warps

    def options(self, capability):
        return {"num_warps": self.warps(capability), "num_stages": self.num_stages}

    def number(self, expression):
        names = dict(self.shape, ceildiv=lambda a, b: -(-a // b), min=min, max=max)
        return eval(str(expression).replace("/", "//"), {"__builtins__": {}}, names)

    def extents(self, argument):
        return [self.number(e) for e in argument.shape]

    def value(self, argument):
        if argument.dtype == "f32":
            return float(np.float32(float(argument.value)))
        return self.number(argument.value)


def softmax(x, cols, **_):
    x = x.astype(np.float64)[:, :cols]
    e = np.exp(x - x.max(1, keepdims=True))
    y = e / e.sum(1, keepdims=True)
    # Every exponential: x - max and its product with log2(e) are rounded, at most 2 u |x - max| each; ex2.approx
    # is off by 2 units (docs/arithmetic.md), division by 2, the sum by u a level and a term (16 + 10).
    span = (x.max(1) - x.min(1)).max()
    return {"y_ptr": (y, y.max() * u * (4 * span + 4 + 4 + 26))}


def softmax_y(x_ptr, cols, **rest):
    return softmax(x_ptr, cols)


def layer_norm_forward(x_ptr, weight_ptr, bias_ptr, cols, eps, **_):
    x = x_ptr.astype(np.float64)
    mean = x.mean(1, keepdims=True)
    var = ((x - mean) ** 2).mean(1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    xhat = (x - mean) * rstd
    y = xhat * weight_ptr + bias_ptr
    terms = cols / 128 + 10  # additions in a row of one sum
    mean_error = (terms + 2) * u * np.abs(x).mean(1, keepdims=True)
    # (x - mean) is off by the mean's error and its own rounding; squares add up relative errors.
    rstd_error = rstd * ((terms + 8) * u + (rstd * mean_error) ** 2 + 4 * u)
    size = np.abs(xhat) + 1
    y_error = (np.abs(weight_ptr) * (size * rstd_error / rstd + rstd * mean_error + 4 * u * size) + 2 * u * np.abs(y)).max()
    return {"y_ptr": (y, y_error), "mean_ptr": (mean[:, 0], mean_error.max()),
            "rstd_ptr": (rstd[:, 0], rstd_error.max())}


def row_gradients(dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, cols):
    x, dy, w = x_ptr.astype(np.float64), dy_ptr.astype(np.float64), weight_ptr.astype(np.float64)
    rstd = rstd_ptr.astype(np.float64)[:, None]
    xhat = (x - mean_ptr.astype(np.float64)[:, None]) * rstd
    wdy = w * dy
    c1 = (xhat * wdy).sum(1, keepdims=True) / cols
    c2 = wdy.sum(1, keepdims=True) / cols
    dx = (wdy - (xhat * c1 + c2)) * rstd
    terms = cols / 128 + 10
    # xhat has two roundings, each product one more; the sums `terms`.
    c1_error = (terms + 5) * u * np.abs(xhat * wdy).sum(1, keepdims=True) / cols
    c2_error = (terms + 3) * u * np.abs(wdy).sum(1, keepdims=True) / cols
    dx_error = rstd * (np.abs(xhat) * c1_error + c2_error + 6 * u * (np.abs(wdy) + np.abs(xhat * c1) + np.abs(c2)))
    return dx, dx_error.max(), dy * xhat, dy


def grouped(rows, groups):
    """Sums of the rows r, r + groups, …, and how far any order of adding them may be off."""
    total = np.zeros((groups, rows.shape[1]))
    size = np.zeros_like(total)
    for r, row in enumerate(rows):
        total[r % groups] += row
        size[r % groups] += np.abs(row)
    return total, (size * u * (len(rows) / groups + 4)).max()


def layer_norm_backward_locked(dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, cols, dw_ptr=None, **_):
    dx, dx_error, dw, db = row_gradients(dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, cols)
    groups = LOCK_GROUPS
    return {"dx_ptr": (dx, dx_error), "dw_ptr": grouped(dw, groups), "db_ptr": grouped(db, groups)}


def layer_norm_backward(dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, cols, **_):
    dx, dx_error, dw, db = row_gradients(dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, cols)
    return {"dx_ptr": (dx, dx_error), "dw_ptr": grouped(dw, PROGRAMS), "db_ptr": grouped(db, PROGRAMS)}


def sum_partials(dw_ptr, db_ptr, groups, **_):
    def total(x):
        return x.astype(np.float64).sum(0), (np.abs(x).sum(0) * u * (groups / 16 + 5)).max()

    return {"out_dw_ptr": total(dw_ptr), "out_db_ptr": total(db_ptr)}


def matmul(a_ptr, b_ptr, K, **_):
    a, b = a_ptr.astype(np.float64), b_ptr.astype(np.float64)
    c = a @ b
    # The tensor core truncates instead of rounding, a unit for each of the K products; fp16 rounds
    # at the end, here as there.
    return {"c_ptr": (c, (np.abs(a) @ np.abs(b)).max() * 2 * u * (K + 1) + 2 * np.abs(c).max() * u16)}


def attention(q_ptr, k_ptr, v_ptr, length, scale, causal=True, **_):
    q, k, v = (t.astype(np.float64) for t in (q_ptr, k_ptr, v_ptr))
    s = np.einsum("hmd,hnd->hmn", q, k) * scale
    if causal:
        s = np.where(np.arange(length)[None, :] <= np.arange(length)[:, None], s, -np.inf)
    top = s.max(2, keepdims=True)
    p = np.exp2(s - top)
    total = p.sum(2, keepdims=True)
    out = p @ v / total
    # A score is off by 2 u a product; so is its exponential, relatively. p is rounded to fp16 for the
    # second product, its sum is not; sums and tensor core as in matmul.
    size = np.abs(q).max() * np.abs(k).max() * q.shape[2] * abs(scale)
    relative = 2 * u * (q.shape[2] + 8) * size + u16 + 2 * u * (length + 16)
    return {"out_ptr": (out, np.abs(v).max() * (2 * relative + 2 * u16)),
            "lse_ptr": ((top + np.log2(total))[:, :, 0], 2 * relative + 8 * u * (np.abs(top).max() + 12))}


def scan(x_ptr, n, **_):
    return {"y_ptr": (np.cumsum(x_ptr, dtype=np.int32), 0)}


def histogram(x_ptr, n, **_):
    return {"counts_ptr": (np.bincount(x_ptr[:n], minlength=256).astype(np.int32), 0)}


def philox_uniform(seed, i):
    """The first number of Philox 4x32, ten rounds, as tl.rand makes it: key = seed, counter = (i, 0, 0, 0)."""
    c = [i.astype(np.uint64), np.zeros(len(i), np.uint64), np.zeros(len(i), np.uint64), np.zeros(len(i), np.uint64)]
    mask = np.uint64(0xFFFFFFFF)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        shift = np.uint64(32)
        c = [(b >> shift) ^ c[1] ^ np.uint64(k0), b & mask, (a >> shift) ^ c[3] ^ np.uint64(k1), a & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    bits = c[0].astype(np.uint32).view(np.int32)
    magnitude = np.where(bits < 0, -bits - 1, bits).astype(np.float32)
    return magnitude * np.float32(4.6566127342e-10)


def dropout(x_ptr, n, p, seed, **_):
    keep = philox_uniform(seed, np.arange(n)) > np.float32(p)
    y = np.where(keep, x_ptr.astype(np.float64) / float(np.float32(1) - np.float32(p)), 0.0)
    kept = np.add.reduceat(keep.astype(np.int32), np.arange(0, n, 512))
    return {"y_ptr": (y, np.abs(y).max() * 4 * u), "kept_ptr": (kept, 0)}  # division: two units


def column_sums(x_ptr, weight_ptr, **_):
    x, w = x_ptr.astype(np.float64), weight_ptr.astype(np.float64)
    return {"out_ptr": (w @ x, (np.abs(w) @ np.abs(x)).max() * u * (len(w) + 1))}


LOCK_GROUPS = 8
PROGRAMS = 8


def backward_arguments():
    return [buffer("x_ptr", "in", "f32", "rows", "cols", family="normal"),
            buffer("weight_ptr", "in", "f32", "cols", family="normal"),
            buffer("mean_ptr", "in", "f32", "rows", domain="[-0.1, 0.1)"),
            buffer("rstd_ptr", "in", "f32", "rows", domain="[0.9, 1.1)")]


def locked(name, title, rows, expect, twins=(), barrier=True):
    # Two rows share each lock where rows = 2 LOCK_GROUPS: a + b = b + a, and nothing depends on who comes
    # first. With four, floating-point sums do.
    return Case(title, "layer_norm", name, "backward_locked", ["rows"],
                {"rows": rows, "cols": 320},
                [buffer("dx_ptr", "out", "f32", "rows", "cols"), buffer("dy_ptr", "in", "f32", "rows", "cols", family="normal"),
                 buffer("dw_ptr", "out", "f32", LOCK_GROUPS, "cols", fill=0), buffer("db_ptr", "out", "f32", LOCK_GROUPS, "cols", fill=0),
                 *backward_arguments(),
                 buffer("lock_ptr", "scratch", "s32", 2 * LOCK_GROUPS, fill=0),
                 scalar("cols", "cols", divisible=True)],
                {"BARRIER": barrier, "GROUPS": LOCK_GROUPS, "BLOCK": 512}, layer_norm_backward_locked, expect=expect, twins=list(twins))


CASES = [
    Case("Row-wise softmax", "softmax", "softmax", "softmax", ["programs"],
         {"rows": 16, "cols": 1000, "programs": 5},
         [buffer("x_ptr", "in", "f32", "rows", "cols", family="normal"), buffer("y_ptr", "out", "f32", "rows", "cols"),
          scalar("rows", "rows"), scalar("cols", "cols"), scalar("x_stride", "cols"), scalar("y_stride", "cols")],
         {"BLOCK": 1024}, softmax_y, num_stages=2,
         twins=[Twin("no_barrier", ("SUM", 1), ["race shared @SUM"])]),
    Case("Layer normalisation, forward", "layer_norm", "forward", "forward", ["rows"],
         {"rows": 12, "cols": 700},
         [buffer("x_ptr", "in", "f32", "rows", "cols", family="normal"), buffer("y_ptr", "out", "f32", "rows", "cols"),
          buffer("weight_ptr", "in", "f32", "cols", family="normal"), buffer("bias_ptr", "in", "f32", "cols", family="normal"),
          buffer("mean_ptr", "out", "f32", "rows"), buffer("rstd_ptr", "out", "f32", "rows"),
          scalar("cols", "cols"), scalar("eps", "1e-5", "f32")],
         {"BLOCK": 512}, layer_norm_forward,
         twins=[Twin("no_barrier", ("MEAN", 0), ["race shared @MEAN"])]),
    locked("backward_locked", "Layer normalisation, backward: partial sums under locks, two rows to a lock", 2 * LOCK_GROUPS, "",
           [Twin("no_barrier", ("RELEASE", 0), ["race global"])]),
    locked("backward_locked_order", "Layer normalisation, backward: partial sums under locks; with four rows to a lock "
           "the sums' last bits depend on who comes first", 4 * LOCK_GROUPS,
           'expect = {verdict = "fail", kinds = ["nondeterministic global"]}'),
    locked("backward_tutorial", "Layer normalisation, backward: partial sums under locks as in Triton's tutorial", 2 * LOCK_GROUPS,
           'expect = {verdict = "fail", kinds = ["race global @FIRST @TAKE"]}', barrier=False),
    Case("Layer normalisation, backward: every program keeps partial sums of its own", "layer_norm", "backward", "backward",
         [PROGRAMS], {"rows": 32, "cols": 320},
         [buffer("dx_ptr", "out", "f32", "rows", "cols"), buffer("dy_ptr", "in", "f32", "rows", "cols", family="normal"),
          buffer("dw_ptr", "out", "f32", PROGRAMS, "cols"), buffer("db_ptr", "out", "f32", PROGRAMS, "cols"),
          *backward_arguments(), scalar("rows", "rows"), scalar("cols", "cols", divisible=True)],
         {"BLOCK": 512}, layer_norm_backward),
    Case("Layer normalisation, backward: the sum over the partial sums", "layer_norm", "sum_partials", "sum_partials",
         ["ceildiv(cols, 32)"], {"groups": 48, "cols": 100},
         [buffer("dw_ptr", "in", "f32", "groups", "cols", family="normal"), buffer("db_ptr", "in", "f32", "groups", "cols", family="normal"),
          buffer("out_dw_ptr", "out", "f32", "cols"), buffer("out_db_ptr", "out", "f32", "cols"),
          scalar("groups", "groups"), scalar("cols", "cols")],
         {"ROWS": 16, "COLS": 32}, sum_partials,
         twins=[Twin("no_barrier", ("SUM_DW", 0), ["race shared @SUM_DW"])]),
    Case("Matrix product in fp16", "matmul", "matmul", "matmul", ["ceildiv(M, 64)*ceildiv(N, 64)"],
         {"M": 120, "N": 144, "K": 160},
         [buffer("a_ptr", "in", "f16", "M", "K", family="normal"), buffer("b_ptr", "in", "f16", "K", "N", family="normal"),
          buffer("c_ptr", "out", "f16", "M", "N"), scalar("M", "M"), scalar("N", "N", divisible=True), scalar("K", "K", divisible=True),
          *(scalar(f"stride_{n}", v, divisible=True) for n, v in (("am", "K"), ("bk", "N"), ("cm", "N")))],
         # As Triton's launcher has it, an argument that is 1 is a constant.
         {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1, "BM": 64, "BN": 64, "BK": 32, "GROUP": 4}, matmul, num_warps={80: 4, 90: 2},
         twins=[Twin("no_barrier", ("A", 1), ["race shared"], {"M": 64, "N": 64, "K": 96})]),
    Case("Attention, forward, causal", "attention", "attention", "attention", ["ceildiv(length, 64)", "heads"],
         {"heads": 2, "length": 150},
         [buffer("q_ptr", "in", "f16", "heads", "length", 64, domain="[-1, 1)"), buffer("k_ptr", "in", "f16", "heads", "length", 64, domain="[-1, 1)"),
          buffer("v_ptr", "in", "f16", "heads", "length", 64, domain="[-1, 1)"), buffer("out_ptr", "out", "f16", "heads", "length", 64),
          buffer("lse_ptr", "out", "f32", "heads", "length"), scalar("length", "length"), scalar("scale", "0.18033688", "f32")],
         {"CAUSAL": True, "BM": 64, "BN": 32, "D": 64}, attention, num_warps={80: 4, 90: 2},
         twins=[Twin("no_barrier", ("K", 1), ["race shared"], {"heads": 1, "length": 64})]),
    Case("Inclusive sum of a long vector in one launch", "scan", "scan", "chained_scan", ["ceildiv(n, 512)"],
         {"n": 5000},
         [buffer("x_ptr", "in", "s32", "n"), buffer("y_ptr", "out", "s32", "n"),
          buffer("total_ptr", "scratch", "s32", "ceildiv(n, 512)"), buffer("flag_ptr", "scratch", "s32", "ceildiv(n, 512)", fill=0),
          scalar("n", "n")],
         {"BLOCK": 512}, scan,
         twins=[Twin("no_barrier", ("CUMSUM", 0), ["race shared @CUMSUM"])]),
    Case("Histogram of bytes", "histogram", "histogram", "histogram", ["ceildiv(n, 2048)"], {"n": 10000},
         [buffer("x_ptr", "in", "u8", "n"), buffer("counts_ptr", "inout", "s32", 256, family="degenerate/zeros"), scalar("n", "n")],
         {"TILES": 2, "BLOCK": 1024, "BINS": 256}, histogram,
         twins=[Twin("no_barrier", ("COUNT", 1), ["race shared @COUNT"])]),
    Case("Dropout with a seed", "dropout", "dropout", "dropout", ["ceildiv(n, 512)"], {"n": 5000},
         [buffer("x_ptr", "in", "f32", "n", family="normal"), buffer("y_ptr", "out", "f32", "n"),
          buffer("kept_ptr", "out", "s32", "ceildiv(n, 512)"), scalar("n", "n"), scalar("p", "0.25", "f32"), scalar("seed", "1234")],
         {"BLOCK": 512}, dropout,
         twins=[Twin("no_barrier", ("KEPT", 1), ["race shared @KEPT"])]),
    Case("Gluon: weighted column sums through a ring of asynchronous copies", "gluon_stages", "column_sums", "column_sums",
         ["cols/128"], {"tiles": 9, "cols": 256},
         [buffer("x_ptr", "in", "f32", "tiles*8", "cols", family="normal"), buffer("weight_ptr", "in", "f32", "tiles*8", family="normal"),
          buffer("out_ptr", "out", "f32", "cols"), scalar("tiles", "tiles"), scalar("cols", "cols", divisible=True)],
         {"STAGES": 3, "ROWS": 8, "COLS": 128}, column_sums,
         twins=[Twin("no_barrier", ("BARRIER", 0), ["race shared @COPY @READ"])]),
]
