#!/usr/bin/env python3
"""Derives the twins of the idioms: each lacks exactly one thing that its idiom needs.

    tests/idioms/derive.py [--check] [--later] [IDIOM…]

An idiom is a sound kernel, IDIOM/STYLE.cu. What can be taken from it stands beside the lines:

    // twin release: race global @A @B        in the head: its expectation (several lines add up)
    __threadfence(); // ~release              the twin `release` lacks this line
    flag.store(1, order_release); // ~release{release => relaxed}    it has this line with the change

`later` in place of `twin` is for what Assay does not tell yet: such a twin is written with --later only.
Each twin is written as a test of its own, IDIOM/STYLE.no_TWIN.cu. Marks (`// @A`) come before changes. Files
whose twin is gone are removed. --check writes nothing and names what differs from what is there.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
EXPECT = re.compile(r"^// (?:twin|later) (\w+): (.*)$")
LATER = re.compile(r"^// later (\w+):", re.M)
CHANGE = re.compile(r"~(\w+)(?:\{(.*?) => (.*?)\})?")


def split(line):
    """A line without its changes, and the changes: (twin, old, new); without old the line goes."""
    at = line.find("// ~")
    if at < 0:
        marked = re.search(r"// (?:@\w+ )+(?=~)", line)
        at = marked.end() if marked else -1
    if at < 0:
        return line, []
    code = line[:at].rstrip()
    return code, [(m[1], m[2], m[3]) for m in CHANGE.finditer(line[at:])]


def twin_of(source, text, name):
    lines, changed = [], 0
    for line in text.splitlines():
        if EXPECT.match(line) or line.startswith("// want "):
            continue
        if line.startswith("// expect:"):
            lines += expected_lines(text, name)
            continue
        code, changes = split(line)
        for twin, old, new in changes:
            if twin != name:
                continue
            changed += 1
            if old is None:
                code = None
                break
            if old not in code:
                sys.exit(f"{source}: ~{name}: no '{old}' in: {code.strip()}")
            code = code.replace(old, new, 1)
        if code is not None:
            lines.append(code)
    if not changed:
        sys.exit(f"{source}: the twin {name} changes nothing")
    lines.insert(0, f"// {source.name} without `{name}`; written by tests/idioms/derive.py.")
    return "\n".join(lines) + "\n"


def expected_lines(text, name):
    found = [EXPECT.match(line) for line in text.splitlines()]
    return [f"// expect: {m[2]}" for m in found if m and m[1] == name]


def twins_of(source, later):
    text = source.read_text()
    expected = {m[1] for m in map(EXPECT.match, text.splitlines()) if m}
    changed = {c[0] for line in text.splitlines() if not EXPECT.match(line) for c in split(line)[1]}
    if expected != changed:
        sys.exit(f"{source}: twins without expectation or without change: {sorted(expected ^ changed)}")
    wanted = expected if later else expected - set(LATER.findall(text))
    return {source.with_name(f"{source.stem}.no_{n}.cu"): twin_of(source, text, n) for n in sorted(wanted)}


def main(arguments):
    only_check = "--check" in arguments
    idioms = [HERE / a for a in arguments if a[:2] != "--"] or sorted(p for p in HERE.iterdir() if p.is_dir())
    wrong = []
    for folder in idioms:
        wanted = {}
        for source in sorted(folder.glob("*.cu")):
            if ".no_" not in source.name:
                wanted.update(twins_of(source, "--later" in arguments))
        for stale in sorted(p for p in folder.glob("*.no_*") if p.with_suffix(".cu") not in wanted):
            wrong.append(f"{stale} has no idiom any more")
            if not only_check:
                stale.unlink()
        for path, text in wanted.items():
            if path.exists() and path.read_text() == text:
                continue
            wrong.append(f"{path} is not what its idiom gives")
            if not only_check:
                path.write_text(text)
    if only_check:
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 1 if wrong else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
