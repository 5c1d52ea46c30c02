"""Row-wise softmax, one program for several rows (a persistent grid)."""
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, rows, cols, x_stride, y_stride, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < cols
        x = tl.load(x_ptr + row * x_stride + offsets, mask=mask, other=-float("inf"))
        x = x - tl.max(x, axis=0)  # @MAX
        numerator = tl.exp(x)
        y = numerator / tl.sum(numerator, axis=0)  # @SUM
        tl.store(y_ptr + row * y_stride + offsets, y, mask=mask)
