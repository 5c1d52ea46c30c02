#!/usr/bin/env python3
"""Writes the generated PTX tests of this folder: tests/isa/generate.py [--check]

--check compares instead of writing and fails where a committed file differs. Expected values come
from exact integers and fractions (gen/formats.py), never from Assay's own code.
"""

import filecmp
import importlib
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
MODULES = (
    "integer extended logic convert floating half approx warp memory atomic space control function barrier mbarrier "
    "matrix double_matrix pairs hints"
).split()


def write_all(root):
    paths = []
    for name in MODULES:
        for table in importlib.import_module("gen." + name).tables():
            table.write(root)
            paths.append(table.path + ".ptx")
    return paths


def main():
    if "--check" not in sys.argv:
        print("%d files written" % len(write_all(HERE)))
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        stale = [
            p
            for p in write_all(tmp)
            if not filecmp.cmp(os.path.join(tmp, p), os.path.join(HERE, p), shallow=False)
        ]
    for p in stale:
        print("differs: " + p)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
