#!/usr/bin/env python3
"""Handlers of the virtual GPU leave by jumps: tail_calls.py PROGRAM

A handler that calls the next one instead of jumping to it grows the stack with each instruction of a
kernel. Compilers do so silently when the address of a local variable may be in use. The loop that
starts handlers is the only one that may call through a pointer.
"""
import re
import shutil
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
HANDLER = re.compile(r"vgpu::(portable|avx2|avx512)::")


def calls_through_pointers(listing):
    """The names of the handlers in a disassembly that call through a pointer."""
    name, found = "", set()
    for line in listing:
        start = FUNCTION.match(line)
        if start:
            name = start.group(1)
        elif re.search(r"\tcallq? +\*", line) and HANDLER.search(name):
            found.add(name)
    return found


def main():
    if not shutil.which("objdump"):
        print("skipped: there is no objdump")
        return 77
    listing = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", sys.argv[1]],
                             capture_output=True, text=True, check=True).stdout.splitlines()
    found = calls_through_pointers(listing)
    loops = {n for n in found if re.search(r"::dispatch\(", n)}
    if not loops:
        print("skipped: no dispatch loop in the program; it carries no symbols or no such levels")
        return 77
    for name in sorted(found - loops):
        print(f"calls the next handler instead of jumping to it: {name}")
    print(f"{len(loops)} passed, {len(found - loops)} failed, 0 skipped")
    return 1 if found - loops else 0


if __name__ == "__main__":
    sys.exit(main())
