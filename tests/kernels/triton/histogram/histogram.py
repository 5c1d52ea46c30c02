"""Counts of bytes: a histogram of each tile, added to the total by integer atomics."""
import triton
import triton.language as tl


@triton.jit
def histogram(x_ptr, counts_ptr, n, TILES: tl.constexpr, BLOCK: tl.constexpr, BINS: tl.constexpr):
    counts = tl.zeros((BINS,), dtype=tl.int32)
    for tile in range(TILES):
        i = (tl.program_id(0) * TILES + tile) * BLOCK + tl.arange(0, BLOCK)
        mask = i < n
        x = tl.load(x_ptr + i, mask=mask, other=0).to(tl.int32)
        counts += tl.histogram(x, BINS, mask=mask)  # @COUNT
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts, sem="relaxed")
