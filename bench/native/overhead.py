#!/usr/bin/env python3
"""What being watched costs a process whose kernels are not selected.

    overhead.py ASSAY [--rounds N]      runs this script alone and under `assay run`, in turns; prints medians
    overhead.py                         (what is run: prints microseconds a step of each loop)

Two loops, each a training step: `small` has launches of a few microseconds, so that the host is what limits it (the worst
kind of process for this); `large` keeps the device busy.
"""

import json
import statistics
import subprocess
import sys
import time


def loops():
    import torch
    import torch.nn.functional as F

    torch.manual_seed(1)
    out = {}
    for name, width, batch, steps in (("small", 256, 512, 150), ("large", 4096, 8192, 2)):
        model = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.ReLU(), torch.nn.Linear(2 * width, 2 * width),
                                    torch.nn.ReLU(), torch.nn.Linear(2 * width, 16)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        x, y = torch.randn(batch, width, device="cuda"), torch.randint(0, 16, (batch,), device="cuda")
        times = []
        for _ in range(7):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(steps):
                optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
            torch.cuda.synchronize()
            times.append((time.perf_counter() - begin) / steps * 1e6)
        out[name] = statistics.median(times[2:])
    print(json.dumps(out), flush=True)


def one(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    line = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
    if line is None:
        sys.exit(done.stdout + done.stderr)
    return json.loads(line)


def main():
    if len(sys.argv) == 1:
        return loops()
    assay, own = sys.argv[1], [sys.executable, __file__]
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 5
    alone, watched = [], []
    for _ in range(rounds):
        alone.append(one(own))
        watched.append(one([assay, "run", "--kernel-name", "no_such_kernel", "--", *own]))
        print("alone %s, watched %s" % (json.dumps(alone[-1]), json.dumps(watched[-1])), flush=True)
    for name in alone[0]:
        a = statistics.median(run[name] for run in alone)
        w = statistics.median(run[name] for run in watched)
        print("%-6s alone %.1f us, watched %.1f us a step: %+.1f %% (alone %s; watched %s)" % (
            name, a, w, 100 * (w / a - 1), " ".join("%.0f" % run[name] for run in alone),
            " ".join("%.0f" % run[name] for run in watched)), flush=True)


if __name__ == "__main__":
    main()
