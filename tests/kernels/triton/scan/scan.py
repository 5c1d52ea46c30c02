"""Inclusive sum of a long vector in one launch: every program scans its tile, waits for the total
of what is to its left, and passes its own on."""
import triton
import triton.language as tl


@triton.jit
def chained_scan(x_ptr, y_ptr, total_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    tile = tl.program_id(0)
    i = tile * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    local = tl.cumsum(x, axis=0)  # @CUMSUM
    own = tl.sum(x, axis=0)  # @SUM
    left = 0
    if tile > 0:
        while tl.atomic_add(flag_ptr + tile - 1, 0, sem="acquire") == 0:
            pass
        left = tl.load(total_ptr + tile - 1)
    tl.store(total_ptr + tile, left + own)
    tl.atomic_xchg(flag_ptr + tile, 1, sem="release")
    tl.store(y_ptr + i, left + local, mask=i < n)
