#!/usr/bin/env python3
"""Holds README.md and docs/transcripts.md to what the program really says: each `$ ./assay …` line in a ```console block is run, and its
output compared with the lines below it.

    tests/readme/readme.py PROGRAM [--update]
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/transcripts.md"]
BLOCK = re.compile(r"(```console\n)(.*?)(```\n)", re.S)


def output_of(program, command):
    words = shlex.split(command)
    done = subprocess.run(
        [program, *words[1:]],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return done.stdout


def held(program, name, update):
    """Whether one page says what the program says, or now does."""
    page, ran = ROOT / name, []

    def again(match):
        out = []
        for line in match[2].splitlines():
            if line.startswith("$ ./assay "):
                ran.append(line[2:])
                out.append(line + "\n" + output_of(program, line[2:]))
        return match[1] + "\n".join(text.rstrip("\n") + "\n" for text in out) + match[3]

    old = page.read_text()
    new = BLOCK.sub(again, old)
    if not ran:
        print(f"{name} shows no command")
        return False
    if update:
        page.write_text(new)
    elif new != old:
        for was, now in zip(old.splitlines(), new.splitlines()):
            if was != now:
                print(f"{name} says:    {was}\nthe program: {now}")
                break
        print(f"{name} is not what the program says; tests/readme/readme.py build/release/assay --update")
        return False
    print(f"{len(ran)} commands of {name} say what it shows")
    return True


def main():
    program, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv
    if not all([held(program, name, update) for name in PAGES]):
        sys.exit(1)


main()
