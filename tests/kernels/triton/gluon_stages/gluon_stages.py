"""Gluon: weighted sum over the rows of a matrix, tile by tile; the tiles come by asynchronous copies
into a ring of shared buffers, and are read in another layout than they were copied in."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp


@gluon.jit
def issue(ring, x_ptr, tile, tiles, cols, STAGES: gl.constexpr, ROWS: gl.constexpr, COLS: gl.constexpr,
          layout: gl.constexpr):
    if tile < tiles:
        r = tile * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, layout))
        c = gl.program_id(0) * COLS + gl.arange(0, COLS, gl.SliceLayout(0, layout))
        cp.async_copy_global_to_shared(ring.index(tile % STAGES), x_ptr + r[:, None] * cols + c[None, :])  # @COPY
    cp.commit_group()


@gluon.jit
def column_sums(x_ptr, weight_ptr, out_ptr, tiles, cols, STAGES: gl.constexpr, ROWS: gl.constexpr,
                COLS: gl.constexpr):
    copied: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    summed: gl.constexpr = gl.BlockedLayout([ROWS, 1], [1, 32], [1, gl.num_warps()], [0, 1])
    rows: gl.constexpr = gl.SliceLayout(1, summed)
    shared: gl.constexpr = gl.SwizzledSharedLayout(4, 1, 8, order=[1, 0])
    ring = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [STAGES, ROWS, COLS], shared)
    for stage in gl.static_range(STAGES - 1):
        issue(ring, x_ptr, stage, tiles, cols, STAGES, ROWS, COLS, copied)
    total = gl.zeros([COLS], gl.float32, gl.SliceLayout(0, summed))
    for tile in range(tiles):
        cp.wait_group(STAGES - 2)
        gl.thread_barrier()  # @BARRIER
        x = ring.index(tile % STAGES).load(summed)  # @READ
        issue(ring, x_ptr, tile + STAGES - 1, tiles, cols, STAGES, ROWS, COLS, copied)
        w = gl.load(weight_ptr + tile * ROWS + gl.arange(0, ROWS, rows))
        total += gl.sum(x * w[:, None], axis=0)
    c = gl.program_id(0) * COLS + gl.arange(0, COLS, gl.SliceLayout(0, summed))
    gl.store(out_ptr + c, total)
