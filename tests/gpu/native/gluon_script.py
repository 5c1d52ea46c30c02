"""Gluon kernels with tensor loads (TMA): one that loads a tile and waits for it, and one whose warps are specialised: one
loads tile after tile into a ring of two, the others add them up. Each also without the wait for a full tile.

    gluon_script.py [NAME…]
"""

import sys

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

ROWS, COLUMNS, TILES = 64, 64, 8


@gluon.jit
def g_tile(source, o, ROWS: gl.constexpr, COLUMNS: gl.constexpr, WAIT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(source.dtype, [ROWS, COLUMNS], source.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    row = gl.program_id(0) * ROWS
    mbarrier.expect(full, source.block_type.nbytes)
    tma.async_copy_global_to_shared(source, [row, 0], full, tile)
    if WAIT:
        mbarrier.wait(full, phase=0)
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, COLUMNS, layout=gl.SliceLayout(0, layout))
    gl.store(o + (row + i[:, None]) * COLUMNS + j[None, :], tile.load(layout) * 2)
    if not WAIT:
        mbarrier.wait(full, phase=0)  # or the block would end before its copy
    mbarrier.invalidate(full)


@gluon.jit
def load_tiles(source, full, empty, ring, first, TILES: gl.constexpr):
    for i in range(TILES):
        stage = i % 2
        mbarrier.wait(empty.index(stage), ((i // 2) & 1) ^ 1)
        mbarrier.expect(full.index(stage), source.block_type.nbytes)
        tma.async_copy_global_to_shared(source, [first + i * ring.shape[1], 0], full.index(stage), ring.index(stage))


@gluon.jit
def add_tiles(full, empty, ring, o, ROWS: gl.constexpr, COLUMNS: gl.constexpr, TILES: gl.constexpr, WAIT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    total = gl.zeros([ROWS, COLUMNS], gl.float32, layout)
    for i in range(TILES):
        stage = i % 2
        if WAIT:
            mbarrier.wait(full.index(stage), (i // 2) & 1)
        total += ring.index(stage).load(layout)
        if not WAIT:
            mbarrier.wait(full.index(stage), (i // 2) & 1)
        mbarrier.arrive(empty.index(stage), count=1)
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, COLUMNS, layout=gl.SliceLayout(0, layout))
    gl.store(o + (gl.program_id(0) * ROWS + i[:, None]) * COLUMNS + j[None, :], total)


@gluon.jit
def g_warps(source, o, ROWS: gl.constexpr, COLUMNS: gl.constexpr, TILES: gl.constexpr, WAIT: gl.constexpr):
    ring = gl.allocate_shared_memory(source.dtype, [2, ROWS, COLUMNS], source.layout)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(2):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=1)
    first = gl.program_id(0) * (ROWS * TILES)
    gl.warp_specialize([(add_tiles, (full, empty, ring, o, ROWS, COLUMNS, TILES, WAIT)),
                        (load_tiles, (source, full, empty, ring, first, TILES))], [1], [32])


def main():
    names = sys.argv[1:]
    torch.manual_seed(1)
    blocks = 128
    x = torch.rand(blocks * TILES * ROWS, COLUMNS, device="cuda")
    layout = gl.NVMMASharedLayout.get_default_for([ROWS, COLUMNS], gl.float32)
    source = TensorDescriptor.from_tensor(x, [ROWS, COLUMNS], layout)
    for name in ("g_tile", "g_tile_no_wait", "g_warps", "g_warps_no_wait"):
        if names and name not in names:
            continue
        wait = not name.endswith("no_wait")
        o = torch.zeros(blocks * TILES * ROWS, COLUMNS, device="cuda")
        if name.startswith("g_tile"):
            g_tile[(blocks * TILES,)](source, o, ROWS, COLUMNS, wait, num_warps=4)
        else:
            g_warps[(blocks,)](source, o, ROWS, COLUMNS, TILES, wait, num_warps=4)
        torch.cuda.synchronize()
        good = torch.equal(o, x * 2) if name.startswith("g_tile") else torch.allclose(
            o[:blocks * ROWS].view(blocks, ROWS, COLUMNS), x.view(blocks, TILES, ROWS, COLUMNS).sum(1))
        print("%-16s %s" % (name, "right" if good else "wrong"), flush=True)


if __name__ == "__main__":
    main()
