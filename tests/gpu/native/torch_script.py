"""PyTorch operations, forward and backward, one after the other, each with a digest of its results.

    torch_script.py [NAME…]      without names: all

Operations whose kernels add floating-point numbers atomically, and the scan behind cumsum, print no digest: their results
are not stable.
"""

import hashlib
import sys

import torch
import torch.nn.functional as F

DEVICE = "cuda"


def tensor(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE, dtype=dtype, requires_grad=True)


def indices(n, most):
    return torch.randint(0, most, (n,), device=DEVICE)


def backward(y):
    y.float().square().sum().backward()
    return y


def matmul():
    a, b = tensor(512, 512, dtype=torch.float16), tensor(512, 512, dtype=torch.float16)
    return backward(a @ b), a.grad, b.grad


def softmax():
    x = tensor(256, 1000)
    return backward(torch.softmax(x, 1)), x.grad


def layer_norm():
    x, w, b = tensor(256, 1024), tensor(1024), tensor(1024)
    return backward(F.layer_norm(x, (1024,), w, b)), x.grad, w.grad, b.grad


def attention(kind):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q, k, v = (tensor(2, 8, 512, 64, dtype=torch.float16) for _ in range(3))
    with sdpa_kernel(getattr(SDPBackend, kind)):
        y = F.scaled_dot_product_attention(q, k, v)
    return (y,)


def flash():
    return attention("FLASH_ATTENTION")


def cudnn():
    return attention("CUDNN_ATTENTION")


def cumsum():
    x = tensor(1 << 18)
    return backward(torch.cumsum(x, 0)), x.grad


def sort():
    x = tensor(1 << 16)
    return backward(torch.sort(x).values), x.grad


def kthvalue():
    x = tensor(64, 4096)
    return (torch.kthvalue(x, 100).values,)


def elementwise():
    x = tensor(1 << 20)
    return backward(F.gelu(x)), x.grad


def index_add():
    return (torch.zeros(128, 64, device=DEVICE).index_add(0, indices(1 << 14, 128), tensor(1 << 14, 64)),)


def scatter_add():
    return (torch.zeros(128, device=DEVICE).scatter_add(0, indices(1 << 18, 128), tensor(1 << 18)),)


def embedding():
    w = tensor(512, 256)
    return backward(F.embedding(indices(1 << 13, 512), w)), w.grad


STABLE = [matmul, softmax, layer_norm, flash, cudnn, sort, kthvalue, elementwise, embedding]
UNSTABLE = [cumsum, index_add, scatter_add]


def main():
    names = sys.argv[1:]
    for operation in STABLE + UNSTABLE:
        if names and operation.__name__ not in names:
            continue
        torch.manual_seed(1)
        results = operation()
        torch.cuda.synchronize()
        text = "ran"
        if operation in STABLE:
            h = hashlib.sha256()
            for result in results:
                h.update(result.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
            text = h.hexdigest()[:16]
        print("%-12s %s" % (operation.__name__, text), flush=True)


if __name__ == "__main__":
    main()
