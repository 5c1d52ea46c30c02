"""References of the kernels in large/: a function for each case file, of its arguments; and the inputs that
no family of Assay's makes (FILES)."""
import numpy as np

u = 2.0**-24  # half a unit in the last place of fp32 at 1
u16 = 2.0**-11  # of fp16


def graph(vertices, edges, seed):
    """Rows and columns of a random directed graph in which a few vertices have many neighbours."""
    random = np.random.RandomState(seed)
    tails = np.where(random.rand(edges) < 0.1, random.randint(0, 6, edges), random.randint(0, vertices, edges))
    heads = random.randint(0, vertices, edges)
    order = np.argsort(tails, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=vertices))]), heads[order]


def segment_offsets(segments, n, seed):
    """Offsets of segments, most of them short, some empty, a few long."""
    random = np.random.RandomState(seed)
    weight = random.rand(segments) ** 8 * (random.rand(segments) > 0.05)
    lengths = np.floor(weight / weight.sum() * n).astype(int)
    lengths[np.argmax(lengths)] += n - lengths.sum()
    return np.concatenate([[0], np.cumsum(lengths)])


_rows, _columns = graph(600, 3000, 7)
FILES = {
    "segmented_reduce.offsets.npy": segment_offsets(200, 20000, 3),
    "device_segmented_reduce.offsets.npy": segment_offsets(40, 20000, 4),
    "breadth_first_search.rows.npy": _rows,
    "breadth_first_search.columns.npy": _columns,
}


def radix_sort(keys, values, **_):
    order = np.argsort(keys, kind="stable")
    return {"keys": keys[order], "values": values[order]}


def segmented_reduce(x, offsets, segments, **_):
    x = x.astype(np.float64)
    lengths = np.diff(offsets)
    parts = [x[a:b] for a, b in zip(offsets[:-1], offsets[1:])]
    smallest = -np.finfo(np.float32).max
    # Two additions a thread and piece, 5 in a warp, 4 warps, then the pieces.
    bound = max(np.abs(p).sum() * u * (12 + len(p) / 256) for p in parts)
    return {"first_piece": np.concatenate([[0], np.cumsum(-(-lengths // 256))]),
            "sums": (np.array([p.sum() for p in parts]), bound),
            "most": np.array([p.max() if len(p) else smallest for p in parts])}


def batched_gemm(a, b, c, K, N, alpha, beta, **_):
    a, b, c = (t.astype(np.float64) for t in (a, b, c))
    result = alpha * (a @ b) + beta * c
    size = abs(alpha) * (np.abs(a) @ np.abs(b)) + abs(beta * c)
    return {"c": (result, size.max() * u * (K + 3)),
            "sums": (result.sum(2), (size.sum(2) * u * (K + 3 + N / 32 + 5)).max())}


def flash_attention(q, k, v, length, scale_log2, **_):
    q, k, v = (t.astype(np.float64) for t in (q, k, v))
    s = np.einsum("hmd,hnd->hmn", q, k) * float(np.float32(scale_log2))
    s = np.where(np.arange(length)[None, :] <= np.arange(length)[:, None], s, -np.inf)
    top = s.max(2, keepdims=True)
    p = np.exp2(s - top)
    total = p.sum(2, keepdims=True)
    # A score's 64 products are truncated by the tensor core, 2 u each; its exponential is off by as much,
    # relatively; the second product takes it in fp16. The result and what is wanted are rounded to fp16.
    size = (np.einsum("hmd,hnd->hmn", np.abs(q), np.abs(k))).max() * scale_log2
    relative = 2 * u * 72 * size + u16 + 2 * u * (length + 16)
    return {"out": (p @ v / total, np.abs(v).max() * (relative + 2 * u16)),
            "lse": ((top + np.log2(total))[:, :, 0], 2 * u * 72 * size + 2 * u * (length + 16))}


def layer_norm(x, weight, bias, dy, eps, rows, cols, **_):
    x, w, b, dy = (t.astype(np.float64) for t in (x, weight, bias, dy))
    mean = x.mean(1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + eps)
    xhat = (x - mean) * rstd
    g = dy * w
    dx = (g - (g.sum(1, keepdims=True) + xhat * (g * xhat).sum(1, keepdims=True)) / cols) * rstd
    # Welford's method: 3 elements a thread, 5 merges of lanes, 4 of warps, four roundings each.
    mean_error = 4 * u * 12 * np.abs(x).max(1, keepdims=True)
    rstd_error = 4 * u * 12 * rstd
    xhat_error = rstd * mean_error + np.abs(xhat) * 5 * u * 12
    y_error = (np.abs(w) * xhat_error + 2 * u * np.abs(xhat * w + b)).max()
    sums_error = (np.abs(g) * xhat_error + np.abs(g) * (1 + np.abs(xhat)) * u * 14).sum(1, keepdims=True) / cols
    dx_error = (rstd * (np.abs(xhat) * sums_error + sums_error + 6 * u * np.abs(g)) + np.abs(dx) * 5 * u * 12).max()
    dw_error = (np.abs(dy) * xhat_error + np.abs(dy * xhat) * u * 12).sum(0).max()
    return {"y": (xhat * w + b, y_error), "mean": (mean, mean_error.max()), "rstd": (rstd, rstd_error.max()),
            "dx": (dx, dx_error), "dw": ((dy * xhat).sum(0), dw_error), "db": (dy.sum(0), (np.abs(dy).sum(0) * u * 12).max())}


def histogram(pixels, **_):
    counts = np.stack([np.bincount(pixels[:, c], minlength=256) for c in range(3)])
    return {"counts": counts, "cumulative": np.cumsum(counts, 1)}


def stencil(u_field, rate):
    p = np.pad(u_field, 1, mode="edge")
    sides = p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1]
    return u_field + rate * (sides + p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] - 6 * u_field)


_step = stencil


def stencil(**arguments):  # noqa: F811 (an argument is called u)
    field, rate = arguments["u"].astype(np.float64), arguments["rate"]
    first = _step(field, rate)
    second = _step(first, rate)
    third = _step(second, rate)
    # Values stay below 1: eight roundings of sums below 8, an eighth of which counts; three steps.
    bound = 3 * 10 * u
    return {"u": (second, bound), "v": (third, bound), "change": ([np.abs(third - second).max()], 2 * bound)}


def breadth_first_search(rows, columns, source, levels, vertices, **_):
    distance = np.full(vertices, 0x7FFFFFFF)
    distance[source] = 0
    sizes = [1]
    for level in range(levels):
        found = {c for v in np.flatnonzero(distance == level) for c in columns[rows[v]:rows[v + 1]] if distance[c] == 0x7FFFFFFF}
        distance[list(found)] = level + 1
        sizes.append(len(found))
    reached = distance[distance != 0x7FFFFFFF]
    return {"distance": distance, "sizes": sizes, "at_level": np.bincount(reached, minlength=levels + 1)[: levels + 1],
            "total": [reached.sum()]}


def union_find(colour, width, height, **_):
    label = np.arange(width * height).reshape(height, width)
    while True:  # until every cell has the smallest name around it
        new = label.copy()
        for axis in (0, 1):
            same = np.diff(colour.astype(int), axis=axis) == 0
            a, b = (new[:-1], new[1:]) if axis == 0 else (new[:, :-1], new[:, 1:])
            low = np.minimum(a, b)
            a[same] = low[same]
            b[same] = low[same]
        if (new == label).all():
            break
        label = new
    size = np.bincount(label.ravel(), minlength=width * height)
    best = max((int(n) << 32 | 0xFFFFFFFF - i) for i, n in enumerate(size) if n)
    return {"parent": label, "size": size, "components": [(size > 0).sum()], "best": np.array([best], np.uint64)}


def warp_pipeline(a, x, cols, **_):
    a, x = a.astype(np.float64), x.astype(np.float64)
    return {"y": (a @ x, (np.abs(a) @ np.abs(x)).max() * u * (cols / 4 + 4))}


def mbarrier_pipeline(x, w, bias, K, **_):
    x, w, bias = (t.astype(np.float64) for t in (x, w, bias))
    y = np.maximum(x @ w.T + bias, 0)
    size = np.abs(x) @ np.abs(w).T + np.abs(bias)
    return {"y": (y, size.max() * u * (K + 1) + y.max() * u16)}


mbarrier_pipeline_tiles = mbarrier_pipeline
