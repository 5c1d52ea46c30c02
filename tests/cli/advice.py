#!/usr/bin/env python3
"""What Assay advises for the idioms from which one thing was taken (tests/idioms): does the help name the thing?

    tests/cli/advice.py PROGRAM [-v]

The thing is in the file's name. Some faults leave more than one repair, and some go unnoticed by a third block, so a share is asked for,
not each one.

Then the kernels of tests/advice: what a newcomer reads of a mistake that people make. The first finding must name the two lines (marked
@A and @B) and its help must hold what `// help:` lines say (each of them; `|` parts alternatives) and nothing of `// not:` lines. Built with
-DSOUND, the repair, the kernel passes.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST = 0.95
FENCE = ["__threadfence() before", "memory_order_release"]
AFTER = ["__threadfence() after", "memory_order_acquire"]
SCOPE = ["rather than __threadfence_block()", "cuda::thread_scope_device", "scope that includes both blocks"]
BARRIER = ["__syncthreads()", "__syncwarp()"]
WANTED = {"release": FENCE, "publish": FENCE, "order": FENCE, "prefix_release": FENCE, "acquire": AFTER,
          "first_acquire": AFTER, "second_acquire": AFTER, "scope": SCOPE, "acquire_scope": SCOPE,
          "release_scope": SCOPE, "publish_scope": SCOPE, "load_scope": SCOPE, "store_scope": SCOPE,
          "barrier": BARRIER, "broadcast": BARRIER, "flag_barrier": BARRIER, "arrival_barrier": BARRIER,
          "release_barrier": BARRIER, "clear_barrier": BARRIER, "flush_barrier": BARRIER, "halves": BARRIER,
          "wait_count": ["cp.async.wait_group"], "wait": ["cp.async.wait_group", "wait for the phase", "a grid-wide barrier"],
          "strong_load": ["atomic or volatile"], "strong_store": ["atomic or volatile"]}


def advice(program, source, folder):
    done = subprocess.run([program, "check", str(source), "--trace-dir", folder, "--threads", "1"], capture_output=True,
                          text=True, env={**os.environ, "NO_COLOR": "1"})
    return next((line.split("= help: ", 1)[1] for line in done.stdout.splitlines() if "= help: " in line), "")


def check(program, source, folder, *more):
    command = [program, "check", str(source), "--json", "--trace-dir", folder, "--threads", "1", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {"verdict": done.stderr, "findings": [], "notes": []}


def faults(program, source, folder):
    """What is wrong with what is said of one kernel of tests/advice."""
    text = source.read_text()
    wanted = {key: re.findall(rf"^// {key}: (.*)$", text, re.M) for key in ("help", "not", "note", "kind")}
    marks = {text.count("\n", 0, m.start()) + 1 for m in re.finditer(r"// @[AB]\b", text)}
    got = check(program, source, folder)
    first = (got["findings"] or [{"kind": "", "help": "", "message": "", "locations": []}])[0]
    said = first["help"]
    for words in wanted["help"]:
        if not any(w in said for w in words.split("|")):
            yield f"the help does not say {words}: {said}"
    for word in wanted["not"]:
        if word in said or word in first["message"]:
            yield f"the help must not say {word}: {said}"
    for words in wanted["note"]:
        if not any(words in n["message"] for n in got["notes"]):
            yield f"no note says {words}"
    for kind in wanted["kind"]:
        if first["kind"] != kind:
            yield f"the first finding is no {kind}: {first['kind']}"
    lines = {place["line"] for place in first["locations"]}
    if marks and lines != marks:
        yield f"the lines are {sorted(lines)}, not {sorted(marks)}"
    sound = check(program, source, folder, "-DSOUND")
    if sound["verdict"] != "pass":
        yield f"the repaired kernel: {sound['verdict']}, {[f['message'] for f in sound['findings']]}"


def mistakes(program, folder):
    """How many kernels of tests/advice are told badly."""
    sources = sorted(ROOT.glob("tests/advice/*.cu"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        told = list(pool.map(lambda s: list(faults(program, s, folder)), sources))
    for source, wrong in zip(sources, told):
        for fault in wrong:
            print(f"{source.relative_to(ROOT)}: {fault}")
    bad = sum(1 for wrong in told if wrong)
    print(f"{len(sources) - bad} of {len(sources)} common mistakes are told with lines and repair")
    return bad


def main():
    program = os.path.abspath(sys.argv[1])
    sources = {s: WANTED[fault] for s in sorted(ROOT.glob("tests/idioms/*/*.no_*.cu"))
               if (fault := s.name.split(".no_", 1)[1].removesuffix(".cu")) in WANTED}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = mistakes(program, folder)
        texts = list(pool.map(lambda s: advice(program, s, folder), sources))
    wrong = [(s, t) for (s, words), t in zip(sources.items(), texts) if not any(w in t for w in words)]
    share = 1 - len(wrong) / len(sources)
    if share < LEAST or "-v" in sys.argv:
        for source, text in wrong:
            print(f"{source.relative_to(ROOT)}: {text}")
    print(f"{len(sources) - len(wrong)} of {len(sources)} repairs are named")
    return share < LEAST or bad > 0


if __name__ == "__main__":
    sys.exit(main())
