"""Layer normalisation: forward; backward with partial sums of the weights' gradients that are
added up under locks; the same without locks, where every program keeps partial sums of its own;
and the sum over the partial sums."""
import triton
import triton.language as tl


@triton.jit
def forward(x_ptr, y_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * cols
    y_ptr += row * cols
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / cols  # @MEAN
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < cols, other=0.0).to(tl.float32)
        d = tl.where(c < cols, x - mean, 0.0)
        squares += d * d
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)  # @VARIANCE
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = c < cols
        w = tl.load(weight_ptr + c, mask=mask)
        b = tl.load(bias_ptr + c, mask=mask)
        x = tl.load(x_ptr + c, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + c, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def row_gradient(dx_ptr, dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, row, cols, c, mask):
    """Stores dx of one row; its share of the gradients of weight and bias."""
    x = tl.load(x_ptr + row * cols + c, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * cols + c, mask=mask, other=0).to(tl.float32)
    w = tl.load(weight_ptr + c, mask=mask).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / cols
    c2 = tl.sum(wdy, axis=0) / cols
    tl.store(dx_ptr + row * cols + c, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    return dy * xhat, dy


@triton.jit
def backward_locked(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, lock_ptr, cols,
                    BARRIER: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    dw, db = row_gradient(dx_ptr, dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, row, cols, c, mask)
    group = row % GROUPS
    lock_ptr += group
    first_ptr = lock_ptr + GROUPS
    dw_ptrs = dw_ptr + group * cols + c
    db_ptrs = db_ptr + group * cols + c
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    taken = tl.load(first_ptr)  # @FIRST
    if BARRIER:  # which Triton's tutorial leaves out: one thread stores to it while others have not read it yet
        tl.debug_barrier()
    if taken == 0:
        tl.atomic_xchg(first_ptr, 1)  # @TAKE
    else:
        dw += tl.load(dw_ptrs, mask=mask)  # @READ_DW
        db += tl.load(db_ptrs, mask=mask)  # @READ_DB
    tl.store(dw_ptrs, dw, mask=mask)  # @WRITE_DW
    tl.store(db_ptrs, db, mask=mask)  # @WRITE_DB
    tl.debug_barrier()  # @RELEASE
    tl.atomic_xchg(lock_ptr, 0)  # every thread's stores come before it


@triton.jit
def backward(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, rows, cols,
             BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    mask = c < cols
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    db = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        row_dw, row_db = row_gradient(dx_ptr, dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, row, cols, c, mask)
        dw += row_dw
        db += row_db
    tl.store(dw_ptr + tl.program_id(0) * cols + c, dw, mask=mask)
    tl.store(db_ptr + tl.program_id(0) * cols + c, db, mask=mask)


@triton.jit
def sum_partials(dw_ptr, db_ptr, out_dw_ptr, out_db_ptr, groups, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    dw = tl.zeros((ROWS, COLS), dtype=tl.float32)
    db = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for start in range(0, groups, ROWS):
        r = start + tl.arange(0, ROWS)
        mask = (r[:, None] < groups) & (c[None, :] < cols)
        at = r[:, None] * cols + c[None, :]
        dw += tl.load(dw_ptr + at, mask=mask, other=0.0)
        db += tl.load(db_ptr + at, mask=mask, other=0.0)
    tl.store(out_dw_ptr + c, tl.sum(dw, axis=0), mask=c < cols)  # @SUM_DW
    tl.store(out_db_ptr + c, tl.sum(db, axis=0), mask=c < cols)  # @SUM_DB
