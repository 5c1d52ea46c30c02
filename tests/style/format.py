#!/usr/bin/env python3
"""clang-format over every C++ source. `format.py --repair` formats them."""

import shutil
import subprocess
import sys

from sources import CODE, ROOT, files, finish


def main():
    tool = shutil.which("clang-format-19")
    if not tool:
        print("no clang-format-19 on this machine")
        sys.exit(77)
    names = files(*CODE, under=("src/", "include/", "tests/", "fuzz/", "bench/"))
    if "--repair" in sys.argv:
        sys.exit(subprocess.run([tool, "-i", *names], cwd=ROOT).returncode)
    problems = []
    for start in range(0, len(names), 50):
        command = [tool, "--dry-run", "--Werror", *names[start : start + 50]]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        bad = {line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line}
        problems += [f"{name}: not formatted; tests/style/format.py --repair" for name in sorted(bad)]
        if done.returncode != 0 and not bad:
            problems.append(done.stderr)
    finish(problems, len(names))


if __name__ == "__main__":
    main()
