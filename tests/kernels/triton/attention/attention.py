"""Attention, forward: one program for a tile of queries of one head; running maximum and sum."""
import triton
import triton.language as tl


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, length, scale, CAUSAL: tl.constexpr, BM: tl.constexpr,
              BN: tl.constexpr, D: tl.constexpr):
    start = tl.program_id(0) * BM
    head = tl.program_id(1) * length * D
    m = start + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + head + m[:, None] * D + d[None, :], mask=m[:, None] < length, other=0.0)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    stop = min(start + BM, length) if CAUSAL else length
    for first in range(0, stop, BN):
        n = first + tl.arange(0, BN)
        k = tl.load(k_ptr + head + n[None, :] * D + d[:, None], mask=n[None, :] < length, other=0.0)  # @K
        s = tl.dot(q, k) * scale  # @QK
        live = n[None, :] < length
        if CAUSAL:
            live = live & (n[None, :] <= m[:, None])
        s = tl.where(live, s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        total = total * alpha + tl.sum(p, axis=1)
        v = tl.load(v_ptr + head + n[:, None] * D + d[None, :], mask=n[:, None] < length, other=0.0)  # @V
        acc = tl.dot(p.to(tl.float16), v, acc * alpha[:, None])  # @PV
        top = new
    out = acc / total[:, None]
    tl.store(out_ptr + head + m[:, None] * D + d[None, :], out.to(tl.float16), mask=m[:, None] < length)
    tl.store(lse_ptr + tl.program_id(1) * length + m, top + tl.log2(total), mask=m < length)
