#!/usr/bin/env python3
"""Runs the cases in other shapes, where what they expect has to hold as well.

    variants.py ASSAY [--all] [--table FILE] [--only CASE…]

A shape is a grid (as in the case, or sixteen times as large), a block of 64, 256 or 1,024 threads,
the names in the case or other ones (of kernel, arguments and files, in a copy), and a build with or
without -G. The kernels of foreign/ are checked as they are, and with -G: templates, namespaces,
inlined helpers, libraries, blocks of two and three dimensions that are no multiple of a warp.
Without --all only the shapes that take little time are run. Other names and -G need NVRTC; without
it their shapes count as skipped. The closing line counts cases in all shapes. A source that says
"Not proved with -G", and why, need only pass there.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

FOREIGN = pathlib.Path(__file__).resolve().parent / "foreign"
CASES = pathlib.Path(__file__).resolve().parents[2] / "cases"
BLOCKS = 2  # of every case; sixteen times as many: 32
LIMIT = 900  # seconds for one case in one shape


def shapes(everything):
    """(blocks, threads, other names, -G)"""
    if not everything:
        return [(2, t, False, False) for t in (64, 256, 1024)] + [
            (32, 64, False, False),
            (2, 64, True, False),
            (2, 64, False, True),
        ]
    return [
        (b, t, names, debug)
        for names in (False, True)
        for debug in (False, True)
        for b in (BLOCKS, 16 * BLOCKS)
        for t in (64, 256, 1024)
    ]


def renamed(case, target):
    """A copy of a case in which kernel, arguments and files have names that say nothing."""
    text = case.read_text()
    source = case.with_suffix(".cu")
    entry = re.search(r'entry = "(\w+)', text)[1]
    code = re.sub(rf"\b{entry}\b", "k7", source.read_text())
    name = {"defect": "one", "sound": "two"}[case.stem]
    target.mkdir(exist_ok=True)
    (target / f"{name}.cu").write_text(code)
    text = text.replace(f'"{source.name}"', f'"{name}.cu"').replace(f'"{entry}', '"k7')
    for number, argument in enumerate(re.findall(r'^\[\[arg\]\]\nname = "(\w+)"', text, re.M)):
        if not re.search(rf"\b{argument} = ", text):  # else it is a symbol of the shape as well
            text = re.sub(rf'((?:name|same) = )"{argument}"', rf'\1"a{number}"', text)
            text = re.sub(rf'(args = .*)"{argument}"', rf'\1"a{number}"', text)
    (target / f"{name}.toml").write_text(text)
    for header in source.parent.glob("*.cuh"):
        shutil.copy(header, target)
    return target / f"{name}.toml"


def without_proof(case, target):
    """For -G: a copy that expects no proof, of a case whose source says that -G loses it."""
    source = case.with_suffix(".cu")
    text = source.read_text()
    if "// Not proved with -G" not in text:
        return case
    target.mkdir()
    for file in [*source.parent.glob("*.cuh"), case]:
        shutil.copy(file, target)
    (target / source.name).write_text(text.replace("expect: pass proved", "expect: pass", 1))
    return target / case.name


def run(assay, case, shape, traces):
    blocks, threads, _, debug = shape
    command = [assay, "check", "--verify", "--quiet", case, "--trace-dir", traces]
    command += ["-G"] if debug else []
    if blocks:
        command += ["--set", f"blocks={blocks}", "--set", f"threads={threads}"]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        text, ok = done.stdout + done.stderr, done.returncode == 0
    except subprocess.TimeoutExpired:
        text, ok = f"not finished after {LIMIT} s", False
    if not ok:
        print("failed:", *command, "\n" + text.strip())
    return ok, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assay")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=["*"], help="cases, without those of foreign/")
    arguments = parser.parse_args()
    assay = str(pathlib.Path(arguments.assay).resolve())
    cases = sorted(c for name in arguments.only for c in CASES.glob(f"{name}/*.toml"))
    doctor = subprocess.run([assay, "doctor", "--json"], capture_output=True, text=True).stdout
    compiler = any(i["state"] == "yes" for i in json.loads(doctor)["items"] if "CUDA" in i["what"])
    passed = failed = skipped = 0
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        other = pathlib.Path(scratch) / "cases"
        other.mkdir()
        copies = [renamed(c, other / f"c{n // 2}") for n, c in enumerate(cases)]
        foreign = sorted(FOREIGN.glob("*.cu")) if arguments.only == ["*"] else []
        runs = [(s, copies if s[2] else cases) for s in shapes(arguments.all)]
        runs += [((0, 0, True, debug), foreign) for debug in (False, True)]
        for shape, files in runs:
            blocks, threads, names, debug = shape
            if (names or debug) and not compiler:
                skipped += len(files)
                continue
            if not files:
                continue
            if debug:
                files = [without_proof(c, other / f"g{len(rows)}_{n}") for n, c in enumerate(files)]
            results = [run(assay, c, shape, scratch) for c in files]
            good = sum(ok for ok, _ in results)
            passed, failed = passed + good, failed + len(files) - good
            slowest = max(range(len(files)), key=lambda i: results[i][1])
            name = (cases if blocks else foreign)[slowest].relative_to(CASES if blocks else FOREIGN)
            shape_text = f"{blocks} x {threads}" if blocks else "foreign"
            rows.append(
                f"| {shape_text} | {'other' if names else 'own'} | {'-G' if debug else ''} "
                f"| {good} of {len(files)} | {sum(s for _, s in results):.1f} "
                f"| {name.with_suffix('')}, {results[slowest][1]:.1f} |"
            )
            print(rows[-1], flush=True)
    if arguments.table:
        head = "| blocks x threads | names | build | as expected | seconds | slowest |\n" + "|---" * 6 + "|\n"
        arguments.table.write_text(head + "\n".join(rows) + "\n")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
