"""What the tests of the command line share: the program in a folder of its own, and what a refusal looks like."""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
SCALE = str(HERE / "scale.ptx")
LAUNCH = ["--grid", "1", "--block", "4"]
ARGUMENTS = ["--arg", "out:16", "list:f32[1,2,3,4]", "f32:2", "u32:4"]
GOOD = [SCALE, *LAUNCH, *ARGUMENTS]

# Twice what the program takes for a buffer of the size that it still accepts; sanitizers double it again.
MOST_MEMORY = 8 << 30

tests = []


def test(function):
    tests.append(function)
    return function


class Ran:
    def __init__(self, folder, *words, env=None):
        full = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | (env or {})
        done = subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, env=full, timeout=300)
        self.code, self.out, self.err = done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode()

    def expect(self, code, *parts):
        text = self.out + self.err
        assert self.code == code, f"exit code {self.code}, not {code}\n{text}"
        for part in parts:
            assert part in text, f"{part!r} is not in\n{text}"
        return self


def refused(folder, words, *parts):
    """One clear message on standard error, nothing on standard output, exit code 2."""
    ran = Ran(folder, *words).expect(2, *parts)
    assert ran.out == "", f"standard output holds {ran.out!r}"
    assert ran.err.startswith("error: ") and ran.err.count("error: ") == 1, ran.err
    assert len(ran.err) < 20000, f"a message of {len(ran.err)} characters"
    assert all(c.isprintable() or c in "\n\t" for c in ran.err), f"control characters: {ran.err!r}"


def main():
    failed = 0
    for function in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(pathlib.Path(folder))
            except (AssertionError, subprocess.TimeoutExpired, ValueError, LookupError, OSError,
                    StopIteration) as problem:
                failed += 1
                print(f"{function.__name__}: {problem}\n")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if peak > MOST_MEMORY:
        failed += 1
        print(f"some run took {peak >> 20} MiB\n")
    print(f"{len(tests) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0
