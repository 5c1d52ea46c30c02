"""Sizes, heads and marks: files of at most 500 lines (tables aside) that open by saying what they are, carry no
unfinished marks, and name nothing of the machine on which they were written."""

import re

from sources import CODE, ROOT, files, finish

MOST_LINES = 500
# The page of forms is a table too: one row for each, written by a program.
TABLES = (".def", ".inc", ".ptx", ".tsv", ".json", ".txt", "docs/coverage.md")
SCRIPTS = (".py", ".sh", ".cmake", ".cu", ".cuh")
# Put together, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
MACHINE = re.compile(r"(?<![\w.])/(work|ro" + r"ot|home/\w+)/|https?://(deb|pypi|files|registry)\.")
GUARD = "#pragma once"


def problems_in(name, text):
    lines = text.splitlines()
    found = []
    if not name.endswith(TABLES) and len(lines) > MOST_LINES:
        found.append(f"{name}: {len(lines)} lines; split it (at most {MOST_LINES})")
    if name.endswith(CODE) and not (lines and lines[0].startswith("//")):
        found.append(f"{name}:1: the first line is a comment that says what the file is")
    if name.endswith((".hpp", ".h")) and GUARD not in lines:
        found.append(f"{name}: lacks {GUARD}")
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line) and not name.endswith(".md"):
            found.append(f"{name}:{number}: an unfinished mark: {line.strip()}")
        if MACHINE.search(line):
            found.append(f"{name}:{number}: a path or host of one machine: {line.strip()}")
    return found


def main():
    names = files(*CODE, *SCRIPTS, *TABLES, ".md", "CMakeLists.txt", ".toml", "test", "assay", "run")
    problems = []
    for name in names:
        problems += problems_in(name, (ROOT / name).read_text(errors="replace"))
    finish(problems, len(names))


if __name__ == "__main__":
    main()
