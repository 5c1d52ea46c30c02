"""Triton kernels for the corpus: the usual shapes, several types each. No GPU, no torch."""
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def softmax(x, out, n, stride, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def layer_norm(x, w, b, out, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    d = tl.where(i < n, v - mean, 0.0)
    r = tl.rsqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(out + row * n + i, d * r * tl.load(w + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def matmul(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * sa + k[None, :]
    pb = b + k[:, None] * sb + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * sb
    tl.store(c + m[:, None] * sc + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def attention(q, k, v, out, n, scale, B: tl.constexpr, D: tl.constexpr):
    start = tl.program_id(0) * B
    i = start + tl.arange(0, B)
    d = tl.arange(0, D)
    tq = tl.load(q + i[:, None] * D + d[None, :])
    acc = tl.zeros((B, D), dtype=tl.float32)
    top = tl.full((B,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((B,), dtype=tl.float32)
    for j in range(0, n, B):
        c = j + tl.arange(0, B)
        tk = tl.load(k + c[:, None] * D + d[None, :])
        s = tl.dot(tq, tl.trans(tk)) * scale
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        total = total * alpha + tl.sum(p, 1)
        tv = tl.load(v + c[:, None] * D + d[None, :])
        acc = tl.dot(p.to(tv.dtype), tv, acc * alpha[:, None])
        top = new
    tl.store(out + i[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def scan(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, tl.cumsum(v, 0), mask=i < n)


@triton.jit
def sort(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@triton.jit
def histogram(x, out, n, B: tl.constexpr, H: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    h = tl.histogram(tl.load(x + i, mask=i < n, other=0), H)
    tl.atomic_add(out + tl.arange(0, H), h)


@triton.jit
def atomics(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m)
    tl.atomic_add(out + i % 7, v, mask=m)
    tl.atomic_max(out + i % 5, v, mask=m)


@triton.jit
def spin_lock(lock, out, n, B: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(out + i) + 1, mask=i < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release")


@triton.jit
def dropout(x, out, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m)
    tl.store(out + i, tl.where(tl.rand(seed, i) > p, v / (1 - p), 0.0), mask=m)


@triton.jit
def unary(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m).to(tl.float32)
    v = tl.sin(v) + tl.cos(v) * tl.log2(tl.abs(v)) + tl.sqrt(tl.abs(v)) + tl.erf(v) + tl.floor(v) + tl.sigmoid(v)
    tl.store(out + i, v.to(out.dtype.element_ty), mask=m)


@triton.jit
def transpose(x, out, n, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r[:, None] * n + c[None, :])
    tl.store(out + c[:, None] * n + r[None, :], tl.trans(v))


@triton.jit
def argmax(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    tl.store(out + row, tl.argmax(v, 0))


@triton.jit
def convert(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m).to(out.dtype.element_ty), mask=m)


@triton.jit
def tma_copy(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    b = tl.make_tensor_descriptor(out, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    b.store([m, n], a.load([m, n]))


@triton.jit
def tma_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
    dc.store([m, n], acc.to(c.dtype.element_ty))


F = ("fp16", "bf16", "fp32")



def variants():
    """Yields (name, kernel, signature, constants, options)."""
    def one(tag, kernel, pointers, scalars, constants, **options):
        signature = dict(pointers)
        signature.update(scalars)
        signature.update({c: "constexpr" for c in constants})
        return tag, kernel, signature, constants, options

    for t in F + ("i32", "i64", "fp64", "i8"):
        yield one(f"add_{t}", add, {"x": "*" + t, "y": "*" + t, "out": "*" + t}, {"n": "i32"}, {"B": 1024})
    for t in F:
        yield one(f"softmax_{t}", softmax, {"x": "*" + t, "out": "*" + t}, {"n": "i32", "stride": "i32"}, {"B": 2048})
        yield one(f"layer_norm_{t}", layer_norm, {"x": "*" + t, "w": "*" + t, "b": "*" + t, "out": "*" + t},
                  {"n": "i32", "eps": "fp32"}, {"B": 1024})
        yield one(f"unary_{t}", unary, {"x": "*" + t, "out": "*" + t}, {"n": "i32"}, {"B": 512})
        yield one(f"transpose_{t}", transpose, {"x": "*" + t, "out": "*" + t}, {"n": "i32"}, {"B": 32})
        yield one(f"argmax_{t}", argmax, {"x": "*" + t, "out": "*i32"}, {"n": "i32"}, {"B": 1024})
        yield one(f"dropout_{t}", dropout, {"x": "*" + t, "out": "*" + t}, {"n": "i32", "p": "fp32", "seed": "i32"}, {"B": 512})
    for t in F + ("fp8e5", "fp8e4nv", "i8"):
        out = "i32" if t == "i8" else "fp32"
        if t == "i8":
            continue
        yield one(f"matmul_{t}", matmul, {"a": "*" + t, "b": "*" + t, "c": "*" + out},
                  {k: "i32" for k in ("M", "N", "K", "sa", "sb", "sc")}, {"BM": 128, "BN": 64, "BK": 32},
                  num_warps=4, num_stages=3)
    for t in ("fp16", "bf16"):
        yield one(f"attention_{t}", attention, {"q": "*" + t, "k": "*" + t, "v": "*" + t, "out": "*" + t},
                  {"n": "i32", "scale": "fp32"}, {"B": 64, "D": 64}, num_warps=4)
        yield one(f"tma_copy_{t}", tma_copy, {"x": "*" + t, "out": "*" + t}, {"M": "i32", "N": "i32"}, {"BM": 64, "BN": 64})
        yield one(f"tma_matmul_{t}", tma_matmul, {"a": "*" + t, "b": "*" + t, "c": "*" + t},
                  {"M": "i32", "N": "i32", "K": "i32"}, {"BM": 128, "BN": 128, "BK": 64}, num_warps=4, num_stages=3)
    for t in ("i32", "fp32", "i64"):
        yield one(f"scan_{t}", scan, {"x": "*" + t, "out": "*" + t}, {"n": "i32"}, {"B": 512})
        yield one(f"sort_{t}", sort, {"x": "*" + t, "out": "*" + t}, {}, {"B": 128})
        yield one(f"atomics_{t}", atomics, {"x": "*" + t, "out": "*" + t}, {"n": "i32"}, {"B": 256})
    yield one("histogram_i32", histogram, {"x": "*i32", "out": "*i32"}, {"n": "i32"}, {"B": 256, "H": 64})
    yield one("spin_lock_i32", spin_lock, {"lock": "*i32", "out": "*i32"}, {"n": "i32"}, {"B": 128})
    for a, b in (("fp32", "fp8e5"), ("fp8e5", "fp16"), ("fp32", "bf16"), ("bf16", "fp16"), ("fp64", "fp32"), ("fp32", "i8"), ("i64", "fp16")):
        yield one(f"convert_{a}_{b}", convert, {"x": "*" + a, "out": "*" + b}, {"n": "i32"}, {"B": 512})
