#!/usr/bin/env python3
"""Every case of cases/ on this machine's GPU: which defects show there, do the sound twins pass?

    bench/native/cases.py ASSAY [--json FILE]

Prints one line a case, then the counts. A defect that no GPU run can show (a race whose order the hardware
never turns, a stray access) is none of the native backend's: it says `pass` or `unknown` there.
"""

import concurrent.futures
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def examine(case):
    name = "%s/%s" % (case.parent.name, case.stem)
    try:
        done = subprocess.run([sys.argv[1], "determinism", "--executor", "native", "--json", str(case)],
                              capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return name, ["hang"], ["", "did not end"], []
    launches, at, decoder = [], done.stdout.find('{\n  "schema": "assay/run/1"'), json.JSONDecoder()
    while at >= 0:
        report, end = decoder.raw_decode(done.stdout[at:])
        launches += report["launches"]
        rest = done.stdout[at + end:]
        step = rest.find('{\n  "schema": "assay/run/1"')
        at = -1 if step < 0 else at + end + step
    worst = {"fail": 2, "unknown": 1, "pass": 0}
    first = max(launches, key=lambda launch: worst[launch["verdict"]], default=None)
    if first is None:
        text = (done.stderr or done.stdout).strip().splitlines()
        return name, ["none"], ["", text[0][:150] if text else "no launch"], []
    findings = [line[len("finding: "):] for line in done.stdout.splitlines() if line.startswith("finding: ")]
    if findings and first["verdict"] != "fail":  # of the results: unwritten outputs, changed inputs
        return name, ["fail"], findings[0].split(": ", 1), launches
    verdicts = [launch["verdict"] for launch in launches]
    return name, verdicts, [first["kind"], first["reason"]], launches


def worst_of(verdicts):
    return next(v for v in ("hang", "fail", "unknown", "none", "pass") if v in verdicts)


def show(row):
    name, verdicts, (kind, reason), _ = row
    print("%-36s %-8s %s%s" % (name, worst_of(verdicts), kind + ": " if kind else "", reason[:110]), flush=True)


def main():
    cases = sorted((ROOT / "cases").glob("*/*.toml"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # contexts take turns on a GPU
        rows = []
        for row in pool.map(examine, cases):
            rows.append(row)
            show(row)
    found = defects = passed = sound = 0
    for name, verdicts, _, _ in rows:
        worst = worst_of(verdicts)
        if "sound" in name:
            sound, passed = sound + 1, passed + (worst == "pass")
        else:
            defects, found = defects + 1, found + (worst == "fail")
    print("%d of %d defects shown, %d of %d twins pass" % (found, defects, passed, sound))
    if "--json" in sys.argv:
        with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
            json.dump([{"case": n, "verdicts": v, "kind": r[0], "reason": r[1], "launches": l} for n, v, r, l in rows],
                      file, indent=1)


if __name__ == "__main__":
    main()
