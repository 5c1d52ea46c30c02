"""Dropout whose mask follows from a seed (Philox), and the mean of what is kept in each tile."""
import triton
import triton.language as tl


@triton.jit
def dropout(x_ptr, y_ptr, kept_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0)
    keep = (tl.rand(seed, i) > p) & mask
    tl.store(y_ptr + i, tl.where(keep, x / (1 - p), 0.0), mask=mask)
    tl.store(kept_ptr + tl.program_id(0), tl.sum(keep.to(tl.int32), axis=0))  # @KEPT
