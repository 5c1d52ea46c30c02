"""Traces: the commands that reports print repeat the recorded run, in another build too, and a trace that does not
belong is refused.

    tests/replay/replay.py RECORDER [REPLAYER]

RECORDER checks every defect in cases/ and every broken litmus test on several threads; each command that it prints is
run as it stands, by RECORDER and by REPLAYER (the sanitized build) on one thread, and must leave the same bytes.
Prints `N passed, N failed, N skipped`; exits with 77 when RECORDER is not there."""

import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDER = pathlib.Path(sys.argv[1]).absolute()
REPLAYER = pathlib.Path(sys.argv[-1]).absolute()
THREADS = "4"
# Kinds that every schedule shows alike.
WITHOUT_TRACE = {"empty-kernel", "input-modified", "unwritten-output", "wrong-value"}
COMMAND = re.compile(r"^ +(?:\S+ +)?= replay: (.*)$", re.M)
OUTCOME = re.compile(r"outcome ([0-9a-f]{32})")

RACE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry race(.param .u64 y, .param .u64 x, .param .u32 n) {
  .reg .b32 %t, %m, %v;
  .reg .b64 %y, %x, %o;
  ld.param.u64 %y, [y];
  ld.param.u64 %x, [x];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.u64 %x, %x, %o;
  ld.global.u32 %v, [%x];
  and.b32 %m, %t, 3;
  mul.wide.u32 %o, %m, 4;
  add.u64 %y, %y, %o;
  st.global.u32 [%y], %v;
  ret;
}
"""


class Place:
    """A folder that looks like the project's root, where ./assay is the program in use."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ("cases", "tests"):
            (self.folder / name).symlink_to(ROOT / name)

    def use(self, program):
        link = self.folder / "assay"
        link.unlink(missing_ok=True)
        link.symlink_to(program)

    def run(self, *words):
        done = subprocess.run(["./assay", *words], cwd=self.folder, capture_output=True, timeout=600)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def refused(self, words, *parts):
        code, out, err = self.run(*words)
        assert code == 2, f"exit code {code}, not 2: {words}\n{out}{err}"
        assert out == "" and err.startswith("error: ") and err.count("error: ") == 1, out + err
        for part in parts:
            assert part in err, f"{part!r} is not in {err}"


def recorded_outcome(place, command):
    trace = (place.folder / shlex.split(command)[2]).read_text().splitlines()
    assert trace[0] == "assay-trace 6" and trace[-1].startswith("end "), trace[-1]
    return trace[-1].split()[1]


def printed_commands_repeat(place, target):
    place.use(RECORDER)
    code, out, err = place.run("check", target, "--threads", THREADS, "--print-limit", "0")
    assert code in (0, 1), f"exit code {code}\n{out}{err}"
    commands = COMMAND.findall(out)
    kinds = set(re.findall(r"^error\[([a-z-]+)\]", out, re.M))
    assert commands or not kinds - WITHOUT_TRACE, f"no replay command in\n{out}"
    for command in commands:
        said = []
        for program, more in ((RECORDER, ""), (REPLAYER, " --threads 1")):
            place.use(program)
            done = subprocess.run(command + more, shell=True, cwd=place.folder, capture_output=True, timeout=600)
            text = done.stdout.decode() + done.stderr.decode()
            assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{text}"
            outcome = OUTCOME.search(text)
            assert outcome and outcome[1] == recorded_outcome(place, command), f"{command}: another outcome\n{text}"
            said.append(text)
        assert said[0] == said[1], f"{command}: the builds differ\n{said[0]}\n{said[1]}"
    return len(commands)


def record(place, *options):
    (place.folder / "race.ptx").write_text(RACE)
    (place.folder / "x.bin").write_bytes(bytes(range(256)))
    words = ["race.ptx", "--grid", "1", "--block", "64", "--arg", "out:16", "in:x.bin", "u32:64", *options]
    place.use(RECORDER)
    code, out, err = place.run("check", *words)
    assert code == 1, out + err
    command = COMMAND.findall(out)[0]
    place.use(REPLAYER)
    return shlex.split(command)[1:], place.folder / shlex.split(command)[2]


def changed(place):
    """Whatever the outcome follows is part of the trace's identity."""
    words, _ = record(place)
    code, out, err = place.run(*words)
    assert code == 0, out + err
    data = bytearray(range(256))
    data[255] ^= 1
    (place.folder / "x.bin").write_bytes(data)
    place.refused(words, "refused to replay", "the inputs changed")
    (place.folder / "x.bin").write_bytes(bytes(range(255)))
    place.refused(words, "refused to replay")
    (place.folder / "x.bin").unlink()
    place.refused(words, "x.bin")
    (place.folder / "x.bin").write_bytes(bytes(range(256)))
    (place.folder / "race.ptx").write_text(RACE.replace("and.b32 %m, %t, 3", "and.b32 %m, %t, 1"))
    place.refused(words, "refused to replay", "the kernel")
    (place.folder / "race.ptx").write_text("// a comment\n" + RACE)
    code, out, err = place.run(*words)
    assert code == 0, f"a comment is no change\n{out}{err}"

    def with_word(old, new):
        return [new if word == old else word for word in words]

    place.refused(with_word("64", "32"), "refused to replay", "launch")
    place.refused(with_word("u32:64", "u32:63"), "refused to replay", "launch")
    place.refused(with_word("out:16", "out:20"), "refused to replay", "the inputs")
    place.refused([*words, "--shared", "16"], "refused to replay", "launch")
    place.refused([*words, "--device", "a100"], "refused to replay", "the device model")
    place.refused(with_word("in:x.bin", "rand:u32[64]"), "refused to replay", "the inputs")
    code, out, err = place.run(*words[:2])
    assert code == 0, f"the trace says what it was made of\n{out}{err}"
    place.refused([*words[:2], "race.ptx", "race.ptx"], "replay needs")


def seeded(place):
    """The printed command carries the seed, and another one is another input."""
    (place.folder / "race.ptx").write_text(RACE)
    place.use(RECORDER)
    base = ["race.ptx", "--grid", "1", "--block", "64", "--arg", "out:16", "rand:u32[64]", "u32:64"]
    code, out, err = place.run("check", *base, "--seed", "9")
    assert code == 1, out + err
    words = shlex.split(COMMAND.findall(out)[0])[1:]
    assert words[-2:] == ["--seed", "9"], words
    assert place.run(*words)[0] == 0
    place.refused([*words[:-1], "8"], "refused to replay", "the inputs")
    place.refused(words[:-2], "refused to replay", "the inputs")


def budgeted(place):
    """A run that its budget cut off is cut off there again."""
    target = "cases/spin_lock/defect.toml"
    place.use(RECORDER)
    _, whole, _ = place.run("check", target)
    for budget in ("3000", "20000"):
        place.use(RECORDER)
        _, out, _ = place.run("check", target, "--budget", budget)
        for command in COMMAND.findall(out):
            place.use(REPLAYER)
            code, said, err = place.run(*shlex.split(command)[1:])
            assert code == 0 and recorded_outcome(place, command) in said, said + err
    assert COMMAND.findall(whole), whole


def damaged(place):
    """A trace that is cut short, of another version, or no trace."""
    words, trace = record(place)
    good = trace.read_bytes()
    for cut in sorted({*range(0, len(good), max(1, len(good) // 40)), len(good) - 1, len(good) - 2}):
        trace.write_bytes(good[:cut])
        place.refused(words, ".trace")
    trace.write_bytes(good.replace(b"assay-trace 6", b"assay-trace 4"))
    place.refused(words, "another version", "run the check again")
    trace.write_bytes(good + b"step 0 0 0 1\n")
    place.refused(words, "malformed trace line")
    trace.write_bytes(re.sub(rb"semantics \S+", b"semantics 0", good))
    place.refused(words, "refused to replay", "semantics")
    trace.write_bytes(re.sub(rb"end .*", b"end " + b"0" * 32, good))
    place.refused(words, "other bytes", "the trace was edited")
    trace.write_bytes(re.sub(rb"policy \S+", b"policy sideways", good))
    place.refused(words, "malformed trace line: policy")
    trace.write_bytes(re.sub(rb"(?m)^step .*\n", b"", good))
    place.refused(words, "asks for an agent that cannot run")
    for content in (b"", b"\0" * 100, b"\x7fELF\xff\xfe" * 50, b"choices 0x134217728\n"):
        trace.write_bytes(content)
        place.refused(words, ".trace", "no trace file")
    trace.write_bytes(good.replace(b"step", b"choices 0x134217728\nchoices 0x134217728\nstep", 1))
    place.refused(words, "malformed trace line: choices")
    trace.unlink()
    place.refused(words, ".trace")
    trace.mkdir()
    place.refused(words, ".trace", "directory")


def edited(place):
    """Numbers changed at random: refused or replayed, nothing else."""
    words, trace = record(place)
    good = trace.read_text()
    random_ = random.Random(1)
    numbers = [m.span() for m in re.finditer(r"\b\d+\b", good[good.index("policy"):good.index("end ")])]
    base = good.index("policy")
    for _ in range(60):
        start, end = random_.choice(numbers)
        with_ = random_.choice(["0", "1", "31", "32", "65536", "4294967295", "4294967296", "99999999999999999999", "-1"])
        trace.write_text(good[:base + start] + with_ + good[base + end:])
        code, out, err = place.run(*words)
        assert code in (0, 2), f"{with_} at {base + start}: exit code {code}\n{out}{err}"
        assert code == 0 or err.count("error: ") == 1, err


def main():
    if not RECORDER.exists():
        print(f"{RECORDER} is not there: ./test builds it for the label asan")
        return 77
    work = [(function.__name__, function) for function in (changed, seeded, budgeted, damaged, edited)]
    targets = sorted(ROOT.glob("cases/*/defect.toml")) + sorted(ROOT.glob("tests/litmus/*.bad.ptx"))
    for target in targets:
        name = str(target.relative_to(ROOT))
        work.append((name, lambda place, name=name: printed_commands_repeat(place, name)))
    failed = commands = 0
    for name, function in work:
        with tempfile.TemporaryDirectory() as folder:
            try:
                commands += function(Place(folder)) or 0
            except (AssertionError, subprocess.TimeoutExpired, ValueError, LookupError, OSError) as problem:
                failed += 1
                print(f"{name}: {problem}\n")
    print(f"{commands} printed commands were run")
    print(f"{len(work) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
