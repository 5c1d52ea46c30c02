"""clang-tidy on the .cpp files that changed, for at most ASSAY_TIDY_SECONDS (300).

Changed means: not yet committed, or different from ASSAY_BASE, or else from origin/main or main; on main itself there
is nothing to check, but with --all every file is. Files for which the time did not suffice are named.
Usage: tidy.py BUILD-FOLDER [--all]
"""

import concurrent.futures
import os
import shutil
import subprocess
import sys
import time

from sources import ROOT, files, finish, git


def base():
    """The commit to compare with, or None."""
    if os.environ.get("ASSAY_BASE"):
        return os.environ["ASSAY_BASE"]
    for branch in ("origin/main", "main"):
        common = git("merge-base", "HEAD", branch)
        if common:
            return common[0]
    return None


def changed():
    start = base()
    if start is None:
        return None
    names = git("diff", "--name-only", start) or []
    names += git("ls-files", "--others", "--exclude-standard") or []
    if "--all" in sys.argv:
        names = files(".cpp")
    mine = {n for n in names if n.endswith(".cpp") and n.startswith(("src/", "tests/")) and (ROOT / n).is_file()}
    return sorted(mine, key=lambda name: -(ROOT / name).stat().st_mtime)


def main():
    tool, build = shutil.which("clang-tidy-19"), sys.argv[1]
    names = changed()
    if not tool or names is None:
        print("needs clang-tidy-19 and a git repository")
        sys.exit(77)
    end = time.monotonic() + float(os.environ.get("ASSAY_TIDY_SECONDS", "300"))
    if "--all" in sys.argv:
        end = float("inf")

    def check(name):
        if time.monotonic() > end:
            return None
        command = [tool, "--quiet", "--extra-arg=-Wno-unknown-warning-option", "-p", build, name]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout or done.stderr

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(zip(names, pool.map(check, names)))
    late = [name for name, result in results if result is None]
    if late:
        print("no time left for: " + " ".join(late))
    finish([result for _, result in results if result], len(results) - len(late))


if __name__ == "__main__":
    main()
