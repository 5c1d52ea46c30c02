#!/usr/bin/env python3
"""Tests of `assay run` on this machine's GPU.

    tests/gpu/run_native.py ASSAY KERNELS [--json FILE]

ASSAY is the program, with libassay-native.so beside it; KERNELS is tests/gpu/native/kernels.cu compiled with
`nvcc -O2 -std=c++17 -lineinfo -arch=sm_90` (or the card's architecture). Prints 'N passed, N failed, N skipped'.
"""

import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Kernel: verdict, kind, a part of the reason. A list: any of these.
WANTED = {
    "copy": ("pass", "", "nothing to perturb"),
    "accumulate": ("pass", "", "nothing to perturb"),
    "exchange": ("pass", "", "with delays"),
    "block_sum": ("pass", "", "with delays"),
    "histogram": ("pass", "", "with delays"),
    "staged": ("pass", "", ""),
    "through_table": ("pass", "", "nothing to perturb"),
    "counts_launches": ("pass", "", "nothing to perturb"),
    "grid_sum": (("pass", "unknown"), "", ""),
    "persistent": (("pass", "unknown"), "", ""),
    "in_cluster": ("pass", "", ""),
    "cluster_of_two": ("pass", "", ""),
    "in_pieces": ("pass", "", "nothing to perturb"),
    "nothing": ("pass", "", "accesses no memory"),
    "lanes_clash": ("pass", "", "nothing to perturb"),
    "lanes_agree": ("pass", "", "nothing to perturb"),
    "missing_barrier": ("fail", "nondeterministic", ""),
    "reads_stale": ("fail", "nondeterministic", ""),
    "last_block_wins": ("fail", "nondeterministic", ""),
    "plain_histogram": ("fail", "nondeterministic", ""),
    "float_sum": ("fail", "fp-atomic-order", "floating-point atomics"),
    "append": ("fail", "nondeterministic", ""),
    "early_read": ("fail", "nondeterministic", ""),
    "staged_too_early": ("fail", "nondeterministic", ""),
    "no_cluster_wait": ("fail", "nondeterministic", ""),
    "prints": ("unknown", "", "printf"),
    "heap": ("unknown", "", "heap"),
    "reads_clock": ("fail", "time-dependent", "clock"),
    "to_host": ("unknown", "", "host memory"),
    "to_managed": ("unknown", "", "managed memory"),
    "dependent": ("unknown", "", "overlaps with the launch before"),
}
# Rows that launch graphs, and what is said of each graph.
GRAPHS = [
    ("in_graph", "pass", "with delays"),
    ("race_in_graph", "fail", "differed"),
    ("host_in_graph", "unknown", "host function"),
]
BUSY = "beside_busy"

passed = failed = 0


def check(name, good, text=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAIL %s %s" % (name, text))


def assay(words, command, limit=100):
    """Exit code, the program's own lines, the report."""
    begin = time.time()
    process = subprocess.Popen([sys.argv[1], "run", "--json", *words, "--", *command], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the program under test too
        process.communicate()
        raise
    text, split = output, output.find('{\n  "schema": "assay/run/1"')
    if split < 0:
        return process.returncode, text, None, errors
    report = json.loads(text[split:])
    report["seconds"] = round(time.time() - begin, 2)
    return process.returncode, text[:split], report, errors


def base(name):
    return name.split("(")[0].split("<")[0].split(" ")[-1]


def check_kernels(kernels, keep):
    names = [name for name in WANTED if name != "waits_for_host"] + [name for name, _, _ in GRAPHS]
    alone = subprocess.run([kernels, *names], capture_output=True, text=True, timeout=120).stdout
    code, own, report, errors = assay(["--limit", "2"], [kernels, *names])
    check("report", report is not None, errors[-400:])
    if report is None:
        return
    keep["kernels"] = report
    check("exit code", code == 1, str(code))
    check("same output", own == alone, "\n--- alone\n%s--- watched\n%s" % (alone, own))
    seen, graphs = set(), []
    for launch in report["launches"]:
        if launch["kernel"].startswith("cuda_graph"):
            graphs.append(launch)
            continue
        name = base(launch["kernel"])
        seen.add(name)
        if name not in WANTED:
            check(name, False, "not expected")
            continue
        verdict, kind, reason = WANTED[name]
        verdicts = (verdict,) if isinstance(verdict, str) else verdict
        good = launch["verdict"] in verdicts and launch["kind"] == kind and reason in launch["reason"]
        check(name, good, "%(verdict)s %(kind)s: %(reason)s" % launch)
    for name in WANTED:
        check(name + " examined", name in seen)
    check("graphs", len(graphs) == len(GRAPHS), str([launch["kernel"] for launch in graphs]))
    for (name, verdict, reason), launch in zip(GRAPHS, graphs):
        check(name, launch["verdict"] == verdict and reason in launch["reason"], "%(verdict)s: %(reason)s" % launch)


def check_selection(kernels):
    _, _, report, _ = assay(["--kernel-name", "block_*"], [kernels, "copy", "block_sum"])
    names = [base(launch["kernel"]) for launch in report["launches"]]
    check("--kernel-name", names == ["block_sum"], str(names))
    _, _, report, _ = assay(["--launch-skip", "1", "--launch-count", "1"], [kernels, "copy", "exchange", "block_sum"])
    names = [base(launch["kernel"]) for launch in report["launches"]]
    check("--launch-skip, --launch-count", names == ["exchange"], str(names))
    code, _, report, _ = assay([], [kernels, "copy"])
    check("exit code 0", code == 0, str(code))
    code, _, _, _ = assay(["--kernel-name", "absent"], [kernels, "copy"])
    check("exit code 3", code == 3, str(code))


def check_pairs(keep):
    """The missing barrier is named, with its two instructions and their lines."""
    for launch in keep.get("kernels", {}).get("launches", []):
        if base(launch["kernel"]) == "missing_barrier":
            pairs = launch["conflicts"]
            check("pair", len(pairs) == 1 and "write at" in pairs[0] and "read at" in pairs[0]
                  and "kernels.cu:" in pairs[0], str(pairs))


def check_clash(keep):
    """Lanes that store different values to one place are named, and nothing else is."""
    said = {base(launch["kernel"]): [n for n in launch["notes"] if "lanes of a warp store different" in n]
            for launch in keep.get("kernels", {}).get("launches", [])}
    check("clash", len(said.get("lanes_clash", [])) == 1 and "writers.cuh:" in said["lanes_clash"][0], str(said.get("lanes_clash")))
    others = [name for name, notes in said.items() if notes and name != "lanes_clash"]
    check("no clash elsewhere", not others, str(others))


def check_busy(kernels, keep):
    """A launch beside a stream that waits for this very host thread."""
    try:
        code, own, report, errors = assay(["--limit", "2"], [kernels, BUSY], 25)
    except subprocess.TimeoutExpired:
        return check(BUSY, False, "hung")
    reasons = [(base(launch["kernel"]), launch["reason"]) for launch in (report or {}).get("launches", [])]
    check(BUSY, len(reasons) == 4 and reasons[3][0] == BUSY and "still had work" in reasons[3][1], str(reasons))
    keep[BUSY] = report


def check_two_processes(keep):
    code, own, report, errors = assay(["--limit", "3"], [sys.executable, os.path.join(HERE, "native/two_processes.py")])
    check("two processes end", own == "done 0\n", own + errors)
    reasons = [launch["reason"] for launch in (report or {}).get("launches", [])]
    check("two processes are skipped", len(reasons) == 2 and all("talks to others" in r for r in reasons), str(reasons))
    keep["two_processes"] = report


def main():
    kernels, keep = sys.argv[2], {}
    check_kernels(kernels, keep)
    check_selection(kernels)
    check_pairs(keep)
    check_clash(keep)
    check_two_processes(keep)
    check_busy(kernels, keep)
    if "--json" in sys.argv:
        with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
            json.dump(keep, file, indent=1)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
