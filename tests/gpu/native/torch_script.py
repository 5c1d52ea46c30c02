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
        y = backward(F.scaled_dot_product_attention(q, k, v))
    return y, q.grad, k.grad, v.grad


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
    return backward(torch.kthvalue(x, 100).values), x.grad


def elementwise():
    x = tensor(1 << 20)
    return backward(F.gelu(x)), x.grad


def index_add():
    x = tensor(1 << 14, 64)
    return backward(torch.zeros(128, 64, device=DEVICE).index_add(0, indices(1 << 14, 128), x)), x.grad


def scatter_add():
    x = tensor(1 << 18)
    return backward(torch.zeros(128, device=DEVICE).scatter_add(0, indices(1 << 18, 128), x)), x.grad


def embedding():
    w = tensor(512, 256)
    return backward(F.embedding(indices(1 << 13, 512), w)), w.grad


def graph_step():
    """One training step of a small network, captured in a graph, which is then launched three times."""
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.LayerNorm(512), torch.nn.GELU(),
                                torch.nn.Linear(512, 16)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, capturable=True)
    x, y = torch.randn(512, 256, device=DEVICE), torch.randint(0, 16, (512,), device=DEVICE)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    return tuple(model.parameters())


STABLE = [matmul, softmax, layer_norm, sort, kthvalue, elementwise, embedding, graph_step]
# The gradients of attention add atomically, in flash attention and in cuDNN.
UNSTABLE = [flash, cudnn, cumsum, index_add, scatter_add]


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
