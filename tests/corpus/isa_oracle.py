#!/usr/bin/env python3
"""Asks ptxas about isa.def: is every sampled spelling of every row legal?

usage: isa_oracle.py EXAMPLES.tsv [--version 9.0] [--jobs 2] [--out report.tsv]

EXAMPLES.tsv comes from isa_examples. Each line of the report is a spelling that ptxas
rejects, with its reason. Exit code 0 when there is none, 77 without ptxas.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEAD = """.version {version}
.target {target}
.address_size 64
.func (.param .b32 r) f0(.param .b32 a) {{ ret; }}
.visible .entry k(.param .align 16 .b8 k0[64])
{{
.reg .pred %p<256>; .reg .b8 %c<8>; .reg .b16 %h<8>; .reg .b32 %r<256>; .reg .f32 %f<256>; .reg .f64 %d<8>; .reg .b64 %l<256>;
{wide}
.param .b32 r0; .param .b32 a0;
L0:
T0: .branchtargets L0;
"""


def find_ptxas():
    found = shutil.which("ptxas") or os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "ptxas")
    return found if os.path.exists(found) else None


def assemble(ptxas, version, target, instructions, folder):
    """Lines of ptxas's complaints: index of instruction -> message; index -1 for anything else."""
    wide = ".reg .b128 %q<8>;" if float(version) >= 8.3 else ""
    head = HEAD.format(version=version, target=target, wide=wide)
    first = head.count("\n") + 1
    path = os.path.join(folder, "t.ptx")
    with open(path, "w") as out:
        out.write(head + "\n".join(instructions) + "\nret;\n}\n")
    run = subprocess.run([ptxas, "-arch=" + target, "-O0", path, "-o", os.path.join(folder, "t.o")],
                         capture_output=True, text=True)
    if run.returncode == 0:
        return {}
    errors = {}
    for line in run.stderr.splitlines():
        match = re.match(r"ptxas .*, line (\d+); (?:error|fatal)\s*: (.*)", line)
        if match:
            index = int(match.group(1)) - first
            if 0 <= index < len(instructions):
                errors.setdefault(index, match.group(2))
    return errors or {-1: run.stderr.strip()[:300] or "exit code %d" % run.returncode}


def ask(ptxas, version, target, rows):
    """rows: (key, instruction); yields (key, instruction, message) for rejected ones."""
    rejected = []
    with tempfile.TemporaryDirectory() as folder:
        pending = list(rows)
        while pending:
            errors = assemble(ptxas, version, target, [text for _, text in pending], folder)
            if not errors:
                break
            if -1 in errors:
                if len(pending) == 1:
                    rejected.append(pending[0] + (errors[-1],))
                    break
                half = len(pending) // 2
                return (rejected + ask(ptxas, version, target, pending[:half])
                        + ask(ptxas, version, target, pending[half:]))
            rejected += [pending[i] + (message,) for i, message in errors.items()]
            pending = [row for i, row in enumerate(pending) if i not in errors]
    return rejected


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("examples")
    parser.add_argument("--version", default="9.0")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out")
    options = parser.parse_args()
    ptxas = find_ptxas()
    if not ptxas:
        print("no ptxas: nothing to ask")
        return 77
    groups = {}
    total = 0
    for line in open(options.examples):
        row, targets, text = line.rstrip("\n").split("\t")
        groups.setdefault(targets.split()[0], []).append((int(row), text))
        total += 1
    work = []
    for target, rows in groups.items():
        work += [(target, rows[i:i + 80]) for i in range(0, len(rows), 80)]
    out = open(options.out, "w") if options.out else sys.stdout
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda job: ask(ptxas, options.version, *job), work):
            for row, text, message in result:
                bad += 1
                print(f"{row}\t{text}\t{message}", file=out)
    print(f"{total - bad} passed, {bad} failed, 0 skipped")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
