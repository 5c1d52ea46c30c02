"""References of the kernels in cub/: a function for each case file, of its arguments."""
import numpy as np

u = 2.0**-24  # half a unit in the last place of fp32 at 1


def wrapped(x):
    return (np.asarray(x, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def block_reduce(x, f, n, **_):
    tiles, floats = x.reshape(3, 768), f.reshape(3, 768).astype(np.float64)
    total = tiles.sum(1)
    part = tiles.reshape(3, 192, 4)[:, :n, 0].sum(1)
    # 4 additions in a thread, 5 in a warp, 6 warps.
    return {"sums": np.stack([total, total, total, tiles.max(1), part], 1),
            "float_sums": (floats.sum(1), (np.abs(floats).sum(1) * u * 15).max())}


def block_scan(x, **_):
    first = x[:, 0].astype(np.int64)
    exclusive = np.concatenate([np.cumsum(first, 1) - first, first.sum(1, keepdims=True)], 1)
    return {"y": wrapped(np.repeat(exclusive[:, None], 3, 1)),
            "running": wrapped(np.cumsum(x.reshape(2, 1536).astype(np.int64), 1))}


def block_radix_sort(keys, more, **_):
    order = np.argsort(keys, 1, kind="stable")  # -0 and +0 are equal to CUB as well
    digit = (more >> 8) & 0xFFF
    down = np.argsort(-digit.astype(np.int64), 1, kind="stable")
    return {"sorted": np.take_along_axis(keys, order, 1), "from": order, "down": np.take_along_axis(more, down, 1)}


def block_exchange(x, ranks, **_):
    scattered = np.empty_like(x)
    scattered[ranks] = x
    return {"y": np.stack([x, x, scattered, scattered])}


def block_load_store(x, valid, **_):
    y = np.zeros((6, 2, 512), np.int32)
    y[:, 0] = x
    y[:, 1, :valid] = x[:valid] + 1
    blocked, striped = x.reshape(128, 4), x.reshape(4, 128).T
    threads = [striped if a == 1 else blocked for a in range(6)]
    return {"y": y, "threads": np.stack([t[:, 0] ^ t[:, 3] for t in threads])}


def block_histogram(x, **_):
    return {"counts": np.stack([[np.bincount(t, minlength=256)] * 2 for t in x])}


def block_discontinuity(x, **_):
    heads = np.ones(480, int)
    heads[1:] = x[1:] != x[:-1]
    tails = np.ones(480, int)
    tails[:-1] = x[1:] != x[:-1]
    differences = x.copy()
    differences[1:] -= x[:-1]
    shifted = np.full(480, -1)
    shifted[1:] = x[:-1]
    return {"heads": heads, "tails": tails, "differences": differences, "shifted": shifted}


def block_merge_sort(keys, valid, **_):
    order = np.argsort(keys, kind="stable")
    return {"sorted": keys[order], "from": order, "part": np.sort(keys[:valid])}


def block_run_length_decode(values, lengths, **_):
    decoded = np.zeros(1024, np.int32)
    runs = np.repeat(values, lengths)
    decoded[: len(runs)] = runs
    return {"decoded": decoded, "total": [len(runs)]}


def warp_reduce(x, heads, valid, **_):
    warps = x.reshape(4, 32)
    segments = np.zeros(128, np.int32)
    for t in range(128):
        if heads[t] or t % 32 == 0:
            end = t + 1
            while end % 32 and not heads[end]:
                end += 1
            segments[t] = x[t:end].sum()
    return {"sums": np.stack([warps.sum(1), warps[:, :valid].sum(1)], 1), "eights": x.reshape(16, 8).min(1),
            "segments": segments, "odd": warps[:, :12].sum(1)}


def warp_scan(x, **_):
    warps = x.reshape(4, 32)
    inclusive = np.cumsum(warps, 1)
    most = np.full((4, 32), -5)
    most[:, 1:] = np.maximum(np.maximum.accumulate(warps, 1)[:, :-1], -5)
    total = np.maximum(warps.max(1, keepdims=True), -5)
    return {"inclusive": inclusive, "exclusive": inclusive - warps, "largest": most + total,
            "twelve": np.cumsum(warps[:, :12], 1)}


def warp_merge_sort(x, **_):
    groups = -np.sort(-x.reshape(8, 64), 1)
    return {"sorted": groups, "striped": groups.reshape(8, 4, 16).transpose(0, 2, 1)}


# Device primitives.


def device_reduce(x, **_):
    # 16 and more items a thread in a row, warps, blocks; then the partial sums.
    return {"sum": ([x.astype(np.float64).sum()], np.abs(x).astype(np.float64).sum() * u * 60)}


def device_scan(x, **_):
    x = x.astype(np.int64)
    return {"y": wrapped(np.cumsum(x) - x)}


def device_radix_sort(keys, values, **_):
    order = np.argsort(keys, kind="stable")
    return {"keys_out": keys[order], "values_out": values[order]}


def device_radix_sort_digit(keys, values, **_):
    order = np.argsort(keys >> 8 & 0xFF, kind="stable")
    return {"keys_out": keys[order], "values_out": values[order]}


def padded(x, size):
    out = np.zeros(size, x.dtype)
    out[: len(x)] = x
    return out


def runs(x):
    first = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
    return first, np.diff(np.concatenate([first, [len(x)]]))


def device_select(x, **_):
    first, _ = runs(x)
    return {"y": padded(x[first], 20000), "count": [len(first)]}


def device_partition(x, flags, **_):
    chosen = x[flags != 0]
    return {"y": np.concatenate([chosen, x[flags == 0][::-1]]), "count": [len(chosen)]}


def device_histogram(x, **_):
    scaled = (x + np.float32(1)) * (np.float32(100) / np.float32(2))  # in fp32, as CUB does it
    inside = (x >= -1) & (x < 1)
    return {"counts": np.bincount(scaled[inside].astype(int), minlength=100)[:100]}


def device_run_length_encode(x, **_):
    first, lengths = runs(x)
    return {"values": padded(x[first], 20000), "lengths": padded(lengths, 20000), "count": [len(first)]}


def device_reduce_by_key(keys, values, **_):
    first, _ = runs(keys)
    sums = np.add.reduceat(values.astype(np.uint32), first, dtype=np.uint32)  # modulo 2^32
    return {"keys_out": padded(keys[first], len(keys)), "sums": padded(sums.view(np.int32), len(keys)), "count": [len(first)]}


def device_segmented_reduce(x, offsets, **_):
    parts = [x[a:b].astype(np.float64) for a, b in zip(offsets[:-1], offsets[1:])]
    return {"sums": ([p.sum() for p in parts], max(np.abs(p).sum() * u * (20 + len(p) / 256) for p in parts))}


def device_merge_sort(keys, values, **_):
    order = np.argsort(keys, kind="stable")
    return {"keys": keys[order], "values": values[order]}


def device_adjacent_difference(x, **_):
    x = x.astype(np.int64)
    return {"y": wrapped(np.concatenate([x[:1], np.diff(x)]))}


def device_unique_by_key(keys, values, **_):
    first, _ = runs(keys)
    return {"keys_out": padded(keys[first], 20000), "values_out": padded(values[first], 20000), "count": [len(first)]}
