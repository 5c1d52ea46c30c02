"""Triton kernels, sound and defective: plain, with tensor descriptors (TMA), and one whose blocks overwrite each other.

    triton_script.py [NAME…]
"""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def t_add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def t_softmax(x, o, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + i, mask=i < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * cols + i, e / tl.sum(e, 0), mask=i < cols)


@triton.jit
def t_matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        rk = start + tl.arange(0, BK)
        acc += tl.dot(tl.load(a + rm[:, None] * k + rk[None, :]), tl.load(b + rk[:, None] * n + rn[None, :]))
    tl.store(c + rm[:, None] * n + rn[None, :], acc.to(tl.float16))


@triton.jit
def t_matmul_tma(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        acc += tl.dot(da.load([i, start]), db.load([start, j]))
    dc.store([i, j], acc.to(tl.float16))


@triton.jit
def t_overwrite(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + tl.program_id(0) * BLOCK + i))


@triton.jit
def t_lost_update(x, o, BLOCK: tl.constexpr):
    v = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), 0)
    tl.store(o, tl.load(o) + v)


def main():
    names = sys.argv[1:]
    torch.manual_seed(1)
    n = 1 << 20
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    a, b = (torch.rand(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))

    def scratch(size, alignment, stream):
        return torch.empty(size, dtype=torch.int8, device="cuda")

    triton.set_allocator(scratch)
    rows = [
        ("t_add", lambda o: t_add[(n // 1024,)](x, y, o, n, BLOCK=1024)),
        ("t_softmax", lambda o: t_softmax[(1024,)](x, o, 1000, BLOCK=1024)),
        ("t_matmul", lambda o: t_matmul[(4, 4)](a, b, o, 512, 512, 512, BM=128, BN=128, BK=64)),
        ("t_matmul_tma", lambda o: t_matmul_tma[(4, 4)](a, b, o, 512, 512, 512, BM=128, BN=128, BK=64)),
        ("t_overwrite", lambda o: t_overwrite[(256,)](x, o, BLOCK=256)),
        ("t_lost_update", lambda o: t_lost_update[(256,)](x, o, BLOCK=256)),
    ]
    for name, launch in rows:
        if names and name not in names:
            continue
        o = torch.zeros(n, device="cuda", dtype=torch.float16 if "matmul" in name else torch.float32)
        launch(o)
        torch.cuda.synchronize()
        stable = name not in ("t_overwrite", "t_lost_update")
        print("%-14s %s" % (name, "%.6f" % o.double().sum().item() if stable else "ran"), flush=True)


if __name__ == "__main__":
    main()
