#!/usr/bin/env python3
"""A training loop with a graph, a second stream and a second host thread, to be run for a while under `assay run --every`.

    soak.py SECONDS       prints a digest after the first hundred steps, the steps made, and how memory grew

The digest has to be the same with and without Assay; memory in use on the device and in the process must not grow. Where NVML
tells what this process has on the device, that is printed, else what all processes have.
"""

import hashlib
import os
import resource
import sys
import threading
import time

import torch
import torch.nn.functional as F


def digest(model):
    h = hashlib.sha256()
    for p in model.parameters():
        h.update(p.detach().cpu().numpy().tobytes())
    return h.hexdigest()[:16]


def device_bytes():
    """In use on the device: by this process, or else by all; and whose it is."""
    try:
        import pynvml
        pynvml.nvmlInit()
        for process in pynvml.nvmlDeviceGetComputeRunningProcesses(pynvml.nvmlDeviceGetHandleByIndex(0)):
            if process.pid == os.getpid() and process.usedGpuMemory:
                return process.usedGpuMemory, "own"
    except Exception:  # no NVML, or one that does not tell
        pass
    free, total = torch.cuda.mem_get_info()
    return total - free, "all"


def main():
    seconds = float(sys.argv[1])
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.LayerNorm(512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 16)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(512, 256, device="cuda"), torch.randint(0, 16, (512,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=False)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    stop, others = threading.Event(), [0]

    def other_thread():
        a = torch.randn(256, 256, device="cuda")
        with torch.cuda.stream(torch.cuda.Stream()):
            while not stop.is_set():
                (a @ a).sum().item()
                others[0] += 1

    thread = threading.Thread(target=other_thread)
    thread.start()
    begin, steps, sizes = time.time(), 0, []
    while time.time() - begin < seconds or steps < 100:
        graph.replay()
        with torch.cuda.stream(side):
            torch.softmax(x, 1).sum()
        steps += 1
        if steps == 100:
            torch.cuda.synchronize()
            print("digest %s" % digest(model), flush=True)
        if steps % 200 == 0:
            torch.cuda.synchronize()
            used, whose = device_bytes()
            sizes.append((used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
    stop.set()
    thread.join()
    torch.cuda.synchronize()
    used, whose = device_bytes()
    sizes.append((used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
    middle = sizes[len(sizes) // 2]
    print("steps %d, of the other thread %d; since half time: device memory (%s) %+d KiB, process %+d KiB" % (
        steps, others[0], whose, (sizes[-1][0] - middle[0]) // 1024, sizes[-1][1] - middle[1]), flush=True)


if __name__ == "__main__":
    main()
