#!/usr/bin/env python3
"""What Assay advises for the idioms from which one thing was taken (tests/idioms): does the help name the thing?

    tests/cli/advice.py PROGRAM [-v]

The thing is in the file's name. Some faults leave more than one repair, and some go unnoticed by a third block, so a share is asked for,
not each one.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST = 0.9
FENCE = ["__threadfence() before", "memory_order_release"]
AFTER = ["__threadfence() after", "memory_order_acquire"]
SCOPE = ["rather than __threadfence_block()", "cuda::thread_scope_device", "scope that includes both blocks"]
BARRIER = ["__syncthreads()", "__syncwarp()"]
WANTED = {"release": FENCE, "publish": FENCE, "order": FENCE, "prefix_release": FENCE, "acquire": AFTER,
          "first_acquire": AFTER, "second_acquire": AFTER, "scope": SCOPE, "acquire_scope": SCOPE,
          "release_scope": SCOPE, "publish_scope": SCOPE, "load_scope": SCOPE, "store_scope": SCOPE,
          "barrier": BARRIER, "broadcast": BARRIER, "flag_barrier": BARRIER, "arrival_barrier": BARRIER,
          "release_barrier": BARRIER, "clear_barrier": BARRIER, "flush_barrier": BARRIER, "halves": BARRIER,
          "wait_count": ["cp.async.wait_group"], "wait": ["cp.async.wait_group"],
          "strong_load": ["atomic or volatile"], "strong_store": ["atomic or volatile"]}


def advice(program, source, folder):
    done = subprocess.run([program, "check", str(source), "--trace-dir", folder, "--threads", "1"], capture_output=True,
                          text=True, env={**os.environ, "NO_COLOR": "1"})
    return next((line.split("= help: ", 1)[1] for line in done.stdout.splitlines() if "= help: " in line), "")


def main():
    program = os.path.abspath(sys.argv[1])
    sources = {s: WANTED[fault] for s in sorted(ROOT.glob("tests/idioms/*/*.no_*.cu"))
               if (fault := s.name.split(".no_", 1)[1].removesuffix(".cu")) in WANTED}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda s: advice(program, s, folder), sources))
    wrong = [(s, t) for (s, words), t in zip(sources.items(), texts) if not any(w in t for w in words)]
    share = 1 - len(wrong) / len(sources)
    if share < LEAST or "-v" in sys.argv:
        for source, text in wrong:
            print(f"{source.relative_to(ROOT)}: {text}")
    print(f"{len(sources) - len(wrong)} of {len(sources)} repairs are named")
    return share < LEAST


if __name__ == "__main__":
    sys.exit(main())
