#!/usr/bin/env python3
"""Asks ptxas about isa.def: is every sampled spelling of every row legal?

usage: isa_oracle.py EXAMPLES [--samples 2] [--bounds] [--jobs 2] [--out report.tsv]

EXAMPLES is the program isa_examples, or a file that it wrote. Each line of the report is a spelling on which ptxas and
the table disagree: row, text, version, target, reason. With --bounds, versions and targets
that should not have a form are asked about too. Exit code 0 when there is none, 77 without
ptxas.
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


def undecided(text):
    """Forms on which ptxas has no say: it crashes on samplers in registers (texmode_independent has
    them as variables) and no longer knows 32-bit addresses."""
    if text.startswith(("tex.", "tld4.")) and re.search(r"\[%l\d+, %l", text):
        return True
    return re.match(r"(cvta|stacksave|stackrestore|alloca)\..*u32 ", text) is not None


# What each target needs at least, because ptxas asks for it before it looks at instructions.
TARGETS = {"sm_75": 6.3, "sm_80": 7.0, "sm_86": 7.1, "sm_89": 7.8, "sm_90": 7.8, "sm_90a": 8.0,
           "sm_100": 8.6, "sm_100a": 8.6, "sm_100f": 8.8, "sm_103": 8.8, "sm_103a": 8.8,
           "sm_103f": 8.8, "sm_110": 9.0, "sm_110a": 9.0, "sm_110f": 9.0, "sm_120": 8.7,
           "sm_120a": 8.7, "sm_120f": 8.8, "sm_121a": 8.8}
VERSIONS = [6.3, 6.4, 6.5, 7.0, 7.1, 7.2, 7.3, 7.4, 7.5, 7.6, 7.7, 7.8, 8.0, 8.1, 8.2, 8.3, 8.4,
            8.5, 8.6, 8.7, 8.8, 9.0]


def read_examples(path, samples):
    if os.access(path, os.X_OK):
        lines = subprocess.run([path, str(samples)], capture_output=True, text=True, check=True).stdout.splitlines()
    else:
        lines = open(path).read().splitlines()
    examples = []
    for line in lines:
        row, targets, versions, text = line.rstrip("\n").split("\t")
        if not undecided(text):
            oldest, *versions = versions.split()
            examples.append((int(row), targets.split(), oldest, [float(v) for v in versions], text))
    return examples


def questions(examples, bounds):
    """(version, target) -> list of ((row, expected), text)."""
    groups = {}
    for row, targets, oldest, versions, text in examples:
        if targets:
            groups.setdefault((9.0, targets[0]), []).append(((row, True), text))
        if not bounds or not targets:
            continue
        for target in TARGETS:
            groups.setdefault((9.0, target), []).append(((row, target in targets), text))
        for version in VERSIONS:
            if version >= TARGETS[oldest]:
                groups.setdefault((version, oldest), []).append(((row, version in versions), text))
    return groups


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("examples")
    parser.add_argument("--samples", type=int, default=2, help="spellings of each row")
    parser.add_argument("--bounds", action="store_true", help="also ask older versions and every target")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out")
    options = parser.parse_args()
    ptxas = find_ptxas()
    if not ptxas:
        print("no ptxas: nothing to ask")
        return 77
    work = []
    for (version, target), rows in questions(read_examples(options.examples, options.samples), options.bounds).items():
        work += [(str(version), target, rows[i:i + 80]) for i in range(0, len(rows), 80)]
    out = open(options.out, "w") if options.out else sys.stdout
    total = bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job, result in zip(work, pool.map(lambda job: ask(ptxas, *job), work)):
            version, target, rows = job
            rejected = {key_text[:2]: key_text[2] for key_text in result}
            for (row, expected), text in rows:
                total += 1
                message = rejected.get(((row, expected), text))
                if (message is None) != expected:
                    bad += 1
                    print(f"{row}\t{text}\t{version}\t{target}\t{message or 'ptxas accepts'}", file=out)
    print(f"{total - bad} passed, {bad} failed, 0 skipped")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
