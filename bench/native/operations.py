"""PyTorch operations at benchmark size (10^7 to 10^9 accesses a launch), for timing examinations by `assay run`.

    operations.py            runs each once
    operations.py large [SECONDS]   operations with 10^8 to 10^10 accesses a launch; begins none after so many seconds
    operations.py loop       a training loop instead; prints its seconds (the cost of being watched)
"""

import sys
import time

import torch
import torch.nn.functional as F

DEVICE = "cuda"


def rand(*shape, dtype=torch.float32):
    return torch.rand(*shape, device=DEVICE, dtype=dtype)


def operations():
    n = 1 << 26
    x = rand(n)
    m = rand(8192, 8192)
    h = rand(8192, 8192, dtype=torch.float16)
    q = rand(4, 16, 2048, 64, dtype=torch.float16)
    yield "add", lambda: x + x
    yield "gelu", lambda: F.gelu(x)
    yield "sum", lambda: x.sum()
    yield "row sum", lambda: m.sum(1)
    yield "column sum", lambda: m.sum(0)
    yield "softmax", lambda: torch.softmax(m, 1)
    yield "log_softmax", lambda: torch.log_softmax(m, 1)
    yield "layer_norm", lambda: F.layer_norm(m, (8192,))
    yield "transpose", lambda: m.t().contiguous()
    yield "cumsum", lambda: torch.cumsum(m, 1)
    yield "sort", lambda: torch.sort(m[:1024], 1)
    yield "topk", lambda: torch.topk(m[:1024], 32)
    yield "max", lambda: m.max(1)
    yield "matmul f16", lambda: h @ h
    yield "matmul f32", lambda: m[:4096, :4096] @ m[:4096, :4096]
    yield "bmm", lambda: torch.bmm(q.flatten(0, 1), q.flatten(0, 1).transpose(1, 2))
    yield "conv2d", lambda: F.conv2d(rand(32, 64, 64, 64), rand(64, 64, 3, 3), padding=1)
    yield "max_pool", lambda: F.max_pool2d(rand(64, 64, 128, 128), 2)
    yield "avg_pool", lambda: F.avg_pool2d(rand(64, 64, 128, 128), 2)
    yield "batch_norm", lambda: F.batch_norm(rand(64, 64, 64, 64), None, None, training=True)
    yield "attention", lambda: F.scaled_dot_product_attention(q, q, q)
    yield "embedding", lambda: F.embedding(torch.randint(0, 8192, (1 << 16,), device=DEVICE), m[:, :256])
    yield "index_select", lambda: m.index_select(0, torch.randperm(8192, device=DEVICE))
    yield "where", lambda: torch.where(x > 0.5, x, -x)
    yield "cross_entropy", lambda: F.cross_entropy(m, torch.randint(0, 8192, (8192,), device=DEVICE))


def large():
    n = 1 << 29
    x = rand(n)
    m = rand(1 << 14, 1 << 14)
    h = rand(1 << 13, 1 << 13, dtype=torch.float16)
    i = torch.randint(0, 1 << 14, (1 << 15,), device=DEVICE)
    image = rand(64, 64, 256, 256)
    yield "add", lambda: x + x
    yield "addcmul", lambda: torch.addcmul(x, x, x)
    yield "gelu", lambda: F.gelu(x)
    yield "tanh", lambda: torch.tanh(x)
    yield "where", lambda: torch.where(x > 0.5, x, -x)
    yield "to f16", lambda: x.half()
    yield "sum", lambda: x.sum()
    yield "prod", lambda: x.prod()
    yield "row sum", lambda: m.sum(1)
    yield "column sum", lambda: m.sum(0)
    yield "row max", lambda: m.max(1)
    yield "softmax", lambda: torch.softmax(m, 1)
    yield "log_softmax", lambda: torch.log_softmax(m, 1)
    yield "layer_norm", lambda: F.layer_norm(m, (1 << 14,))
    yield "rms_norm", lambda: F.rms_norm(m, (1 << 14,))
    yield "group_norm", lambda: F.group_norm(image, 8)
    yield "batch_norm", lambda: F.batch_norm(image, None, None, training=True)
    yield "transpose", lambda: m.t().contiguous()
    yield "cumsum", lambda: torch.cumsum(m, 1)
    yield "cumprod", lambda: torch.cumprod(m, 1)
    yield "sort", lambda: torch.sort(m[:2048], 1)
    yield "topk", lambda: torch.topk(m[:4096], 32)
    yield "matmul f16", lambda: h @ h
    yield "matmul f32", lambda: m[:4096, :4096] @ m[:4096, :4096]
    yield "conv2d", lambda: F.conv2d(image, rand(64, 64, 3, 3), padding=1)
    yield "depthwise", lambda: F.conv2d(image, rand(64, 1, 3, 3), padding=1, groups=64)
    yield "max_pool", lambda: F.max_pool2d(image, 3, 1, 1)
    yield "avg_pool", lambda: F.avg_pool2d(image, 3, 1, 1)
    yield "embedding", lambda: F.embedding(i, m[:, :8192])
    yield "index_select", lambda: m.index_select(0, i)
    yield "gather", lambda: m.gather(1, torch.randint(0, 1 << 14, (1 << 14, 1 << 13), device=DEVICE))
    yield "cross_entropy", lambda: F.cross_entropy(m, torch.randint(0, 1 << 14, (1 << 14,), device=DEVICE))
    yield "upsample", lambda: F.interpolate(image, scale_factor=2, mode="bilinear")
    yield "roll", lambda: torch.roll(m, 3, 1)
    yield "flip", lambda: torch.flip(m, (1,))


def loop():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512),
                                torch.nn.ReLU(), torch.nn.Linear(512, 16)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(512, 256, device=DEVICE), torch.randint(0, 16, (512,), device=DEVICE)
    for steps in (50, 2000):
        torch.cuda.synchronize()
        begin = time.time()
        for _ in range(steps):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        torch.cuda.synchronize()
    print("loop %.3f s" % (time.time() - begin), flush=True)


def main():
    if sys.argv[1:] == ["loop"]:
        return loop()
    torch.manual_seed(1)
    end = time.time() + float(sys.argv[2] if len(sys.argv) > 2 else "1e9")
    for name, operation in large() if sys.argv[1:2] == ["large"] else operations():
        if time.time() > end:
            break
        operation()
        torch.cuda.synchronize()
        print(name, flush=True)


if __name__ == "__main__":
    main()
