"""The command line as a user meets it: exit codes, messages and outputs. Prints `N passed, N failed, N skipped`."""

import json
import pathlib
import re
import shlex
import struct
import sys

from harness import ARGUMENTS, GOOD, LAUNCH, ROOT, SCALE, Ran, main, refused, test


@test
def help_of_every_command(folder):
    top = Ran(folder, "--help").expect(0, "Exit codes").out
    for command in ["check", "determinism", "exec", "replay", "minimize", "mutate", "run", "explain", "case", "doctor"]:
        assert command in top
        Ran(folder, command, "--help").expect(0, "--help")
    Ran(folder, "exec", "--help").expect(0, "--grid", "--arg", "rand:TYPE", "--fail-on")
    Ran(folder).expect(0, "First steps")
    Ran(folder, "--version").expect(0, "assay ")


@test
def wrong_words(folder):
    refused(folder, ["chekc", "x"], "did you mean 'check'?")
    refused(folder, ["check"], "target")
    refused(folder, ["check", "--jsn", SCALE], "did you mean '--json'?")
    refused(folder, ["exec", SCALE, "--gird", "1"], "did you mean '--grid'?")
    refused(folder, ["exec", *GOOD, "--schedule", "revrese"], "did you mean 'reverse'?")
    refused(folder, ["explain", "rase"], "did you mean 'race'?")


@test
def wrong_arguments(folder):
    refused(folder, ["exec", SCALE, *LAUNCH], "takes 4 arguments and 0 are given", "3: u32")
    refused(folder, ["exec", *GOOD, "--arg", "u32:1"], "takes 4 arguments and 5 are given")
    refused(folder, ["exec", SCALE, *LAUNCH, "--arg", "out:16", "out:16", "u32:2", "u32:4"], "parameter 2", "f32")
    refused(folder, ["exec", SCALE, *LAUNCH, "--arg", "out:16", "out:16", "f64:2", "u32:4"], "8 bytes")
    refused(folder, ["exec", SCALE, *LAUNCH, "--arg", "u32:1", "out:16", "f32:2", "u32:4"], "parameter 0", "4 bytes")
    refused(folder, ["exec", SCALE, *LAUNCH, "--arg", "out:16", "same:7", "f32:2", "u32:4"], "no earlier argument")
    refused(folder, ["exec", *GOOD, "--out", "2=y.bin"], "no buffer")
    refused(folder, ["exec", *GOOD, "--out", "9=y.bin"], "4 parameters")


@test
def wrong_launches(folder):
    refused(folder, ["exec", SCALE, "--block", "4", *ARGUMENTS], "--grid")
    refused(folder, ["exec", SCALE, "--grid", "1", *ARGUMENTS], "--block")
    refused(folder, ["exec", SCALE, "--grid", "1", "--block", "2048", *ARGUMENTS], "1024")
    refused(folder, ["exec", SCALE, "--grid", "1,70000", "--block", "4", *ARGUMENTS], "65535")
    refused(folder, ["exec", SCALE, "--grid", "2147483647,65535", "--block", "4", *ARGUMENTS], "2^26")
    refused(folder, ["exec", SCALE, "--grid", "99999999999", "--block", "4", *ARGUMENTS], "outside")
    refused(folder, ["exec", *GOOD, "--shared", "300000"], "shared memory")
    refused(folder, ["exec", *GOOD, "--device", "h20"], "h20", "h200")
    refused(folder, ["exec", SCALE, "--entry", "skale", *LAUNCH, *ARGUMENTS], "scale")


@test
def wrong_files(folder):
    refused(folder, ["exec", "missing.ptx", *LAUNCH], "missing.ptx")
    refused(folder, ["exec", str(folder), *LAUNCH], "neither a case file")
    refused(folder, ["exec", SCALE, *LAUNCH, "--arg", "in:missing.bin", "out:16", "f32:2", "u32:4"], "missing.bin")
    text = pathlib.Path(SCALE).read_text()
    (folder / "cut.ptx").write_text(text[: len(text) * 2 // 3])
    refused(folder, ["exec", "cut.ptx", *LAUNCH, *ARGUMENTS], "cut.ptx:")
    (folder / "empty.ptx").write_text("")
    refused(folder, ["exec", "empty.ptx", *LAUNCH, *ARGUMENTS], "empty.ptx")
    (folder / "case.toml").write_text('kernal = {file = "scale.ptx"}\n')
    refused(folder, ["check", "case.toml"], "case.toml:1:1", "unknown key 'kernal'", "did you mean 'kernel'?")
    (folder / "case.toml").write_text("kernel = {file = \n")
    refused(folder, ["check", "case.toml"], "case.toml:1")


@test
def exec_leaves_the_bytes(folder):
    ran = Ran(folder, "exec", *GOOD, "--out", "0=y.bin", "--out", "0=y.npy", "--show", "0=f32").expect(0, "2 4 6 8", "pass")
    assert ran.out.splitlines()[-1].startswith("pass"), "the verdict is not the last line"
    values = struct.pack("<4f", 2, 4, 6, 8)
    assert (folder / "y.bin").read_bytes() == values
    assert (folder / "y.npy").read_bytes()[-16:] == values
    Ran(folder, "exec", *GOOD, "--want", "0=y.bin").expect(0)
    (folder / "want.bin").write_bytes(struct.pack("<4f", 2, 4, 7, 8))
    Ran(folder, "exec", *GOOD, "--want", "0=want.bin").expect(1, "wrong-value")
    refused(folder, ["exec", *GOOD, "--want", f"0={SCALE}"], "bytes")


@test
def every_command_shows_and_writes_buffers(folder):
    for command in ("check", "determinism"):
        ran = Ran(folder, command, *GOOD, "--show", "0=f32", "--out", f"0={command}.bin").expect(0, "0: 2 4 6 8", "pass")
        assert (folder / f"{command}.bin").read_bytes() == struct.pack("<4f", 2, 4, 6, 8)
        ran = Ran(folder, command, *GOOD, "--show", "0=f32", "--json")
        assert "2 4 6 8" in ran.err and json.loads(ran.out)["verdict"] == "pass"
    for option in ("--show", "--out"):
        (folder / "several").mkdir(exist_ok=True)
        refused(folder, ["check", "several", option, "0=f32"], "not several")
    racy = str(ROOT / "cases/block_reduce_reuse/defect.toml")
    ran = Ran(folder, "check", racy).expect(1)
    values = set()
    for line in ran.out.splitlines():
        if "= replay: " in line:
            words = shlex.split(line.split("= replay: ")[1])[1:]
            replayed = Ran(folder, *words, "--show", "1=f32").expect(0, "replayed")
            values.add(replayed.out.split("replayed")[0])
    assert len(values) == 2, values


@test
def unwritten_bytes(folder):
    words = [SCALE, *LAUNCH, "--arg", "out:32", "list:f32[1,2,3,4]", "f32:2", "u32:4"]
    Ran(folder, "exec", *words, "--out", "0=y.bin").expect(0, "note[unwritten-output]")
    assert (folder / "y.bin").read_bytes()[16:] == b"\xff" * 16
    Ran(folder, "check", *words).expect(1, "error[unwritten-output]")


@test
def bounds(folder):
    words = [SCALE, *LAUNCH, "--arg", "out:12", "list:f32[1,2,3,4]", "f32:2", "u32:4"]
    Ran(folder, "exec", *words).expect(1, "error[out-of-bounds]", "thread (3,0,0) of block (0,0,0)", "scale.ptx")


@test
def case_files_and_overrides(folder):
    (folder / "scale.ptx").write_text(pathlib.Path(SCALE).read_text())
    (folder / "case.toml").write_text(
        'kernel = {file = "scale.ptx"}\nlaunch = {grid = ["ceildiv(n, 32)"], block = [32]}\n'
        'shape = {n = 40}\nvariants = [{n = 1}, {n = 100}]\n'
        '[[arg]]\nname = "y"\nkind = "out"\ndtype = "f32"\nshape = ["n"]\n'
        '[[arg]]\nname = "x"\nkind = "in"\ndtype = "f32"\nshape = ["n"]\n'
        '[[arg]]\nname = "factor"\nkind = "scalar"\ndtype = "f32"\nvalue = 0.5\n'
        '[[arg]]\nname = "n"\nkind = "scalar"\ndtype = "u32"\nvalue = "n"\n')
    ran = Ran(folder, "check", "case.toml").expect(0, "[n=1]", "[n=100]", "proved for this input")
    Ran(folder, "check", "case.toml", "--set", "n=7").expect(0)
    Ran(folder, "check", "case.toml", "--set", "n=7", "--grid", "5").expect(0)
    Ran(folder, "exec", "case.toml", "--set", "n=64", "--grid", "1").expect(0, "unwritten-output")
    refused(folder, ["check", "case.toml", "--set", "m=7"], "no shape symbol 'm'")
    Ran(folder, "check", ".").expect(0, "1 passed, 0 failed, 0 skipped")
    assert ran.out == Ran(folder, "check", "case.toml").out, "the same input and seed gave other bytes"


@test
def rounding_of_atomics_can_be_allowed(folder):
    pair = ROOT / "cases" / "float_atomic_sum"
    for file in ("defect.cu", "defect.ptx"):
        (folder / file).write_bytes((pair / file).read_bytes())
    text = (pair / "defect.toml").read_text()
    (folder / "plain.toml").write_text(text)
    (folder / "allowed.toml").write_text('allow = {fp-atomic-order = "sums of gradients"}\n' + text)
    Ran(folder, "check", "plain.toml").expect(1, "error[nondeterministic]", "note[fp-atomic-order]")
    Ran(folder, "check", "allowed.toml").expect(0, "note[fp-atomic-order]", "sums of gradients", "not deterministic")


@test
def vectors_are_torn_on_request(folder):
    file = str(ROOT / "tests/litmus/verdict_vector_atomicity.bad.ptx")
    Ran(folder, "check", file).expect(0, "note[relies-on-vector-atomicity]")
    Ran(folder, "check", file, "--vector-atomicity", "element").expect(1, "error[nondeterministic]")
    refused(folder, ["check", file, "--vector-atomicity", "elements"], "element")


@test
def case_new_writes_a_case_that_reads(folder):
    (folder / "scale.ptx").write_text(pathlib.Path(SCALE).read_text())
    Ran(folder, "case", "new", "scale.ptx").expect(0, "wrote scale.toml")
    refused(folder, ["case", "new", "scale.ptx"], "exists already")
    Ran(folder, "exec", "scale.toml", "--json").expect(0)


@test
def json_is_a_verdict(folder):
    verdict = json.loads(Ran(folder, "check", *GOOD, "--json").expect(0).out)
    assert verdict["schema"].startswith("assay/verdict/") and verdict["verdict"] == "pass"
    assert verdict["deterministic"] is True and verdict["race_free"] is True
    keys = ["schema", "verdict", "reason", "deterministic", "race_free", "findings", "notes", "coverage", "seed"]
    assert [key for key in verdict if key in keys] == keys


@test
def a_case_as_data_for_a_gpu(folder):
    case = ROOT / "cases" / "function_table" / "sound.toml"
    Ran(folder, "native-export", str(case), "--to", "out").expect(0, "1 cases written, 0 refused")
    (head,) = (json.loads(path.read_text()) for path in (folder / "out").glob("*.json"))
    data = (folder / "out" / head["data"]).read_bytes()
    assert head["verdict"] == "pass" and len(head["outcomes"]) == 1 and head["outcomes"][0]["mask"] == 0
    x, y, table = (data[at:at + size] for at, size in head["memory"])
    at, size = head["buffers"][0]["data"]
    assert x == data[at:at + size] and len(y) == head["buffers"][1]["bytes"] and y != bytes(len(y))
    assert [offset for offset, _ in head["globals"][0]["addresses"]] == list(range(0, len(table), 8)), "function addresses"
    offset, size = head["masks"][0][1]
    assert data[offset:offset + size] == b"\xff" * (len(y) // 8), "every byte of y was written"
    assert [buffer for argument in head["launches"][0]["arguments"] for _, buffer, _ in argument["pointers"]] == [0, 1]


def race(folder):
    """The first error[race] among the shipped cases, as JSON, with its folder's files at hand."""
    case = ROOT / "cases" / "warp_exchange" / "defect.toml"
    return case, json.loads(Ran(folder, "check", str(case), "--json").expect(1).out)


@test
def a_race_has_its_evidence_and_replays(folder):
    case, verdict = race(folder)
    finding = verdict["findings"][0]
    assert finding["kind"] == "race" and len(finding["locations"]) == 2 and finding["missing_edge"]
    assert finding["differing"], "no differing bytes"
    for command in (finding["replay"], finding["replay_other"]):
        words = command.split()[1:]
        digests = {Ran(folder, *words).expect(0, "replayed").out for _ in range(2)}
        assert len(digests) == 1, "two replays differ"
    first, other = (Ran(folder, *finding[key].split()[1:]).out for key in ("replay", "replay_other"))
    assert first.splitlines()[-1] != other.splitlines()[-1], "both orders leave the same bytes"
    words = finding["replay"].split()[1:]
    refused(folder, [*words, "--set", "turns=3"], "refused to replay")
    refused(folder, [*words, "--seed", "5"], "refused to replay", "inputs")


def case_files(folder, name):
    """Defect and twin of a case in a folder of their own, so that they can be edited."""
    for file in (ROOT / "cases" / name).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())


def finding_of(folder, *words):
    return json.loads(Ran(folder, "check", "--json", *words).expect(1).out)["findings"][0]


@test
def mutants_are_found_or_settled(folder):
    case_files(folder, "warp_exchange")
    ran = Ran(folder, "mutate", "sound.toml").expect(0, "warp-barrier-deleted", "0 not settled, 0 invalid")
    found = json.loads(Ran(folder, "mutate", "--json", "sound.toml").expect(0).out)
    assert found["schema"] == "assay/mutate/1"
    assert f'{found["all"]["mutants"]} mutants: {found["all"]["found"]} found' in ran.out
    some = json.loads(Ran(folder, "mutate", "--json", "--kinds", "mask-shrunk", "--limit", "1", "sound.toml").expect(0).out)
    assert [m["fault"] for m in some["mutants"]] == ["mask-shrunk"] and some["left_out_by_limit"] == 19
    none = json.loads(Ran(folder, "mutate", "--json", "--within", "1e-9", "sound.toml").expect(3).out)
    assert not none["mutants"] and none["left_out_by_time"] == found["all"]["mutants"]
    Ran(folder, "mutate", "--each", "1e-9", str(ROOT / "cases/spin_lock/sound.toml")).expect(3, "out of time")
    Ran(folder, "mutate", "sound.toml", "--write", "out", "--no-run").expect(0, "mutants written to out")
    assert len(list((folder / "out").glob("*.ptx"))) == found["all"]["mutants"]
    Ran(folder, "mutate", "defect.toml").expect(1, "does not pass by itself")
    Ran(folder, "mutate", ".").expect(0, "left out, since they do not pass by themselves: 1")
    refused(folder, ["mutate", "sound.toml", "--kinds", "mask-shrink"], "did you mean 'mask-shrunk'?")
    refused(folder, ["mutate", "sound.toml", "--no-run"], "--write")


@test
def minimise_a_witness(folder):
    case_files(folder, "block_reduce_reuse")
    before = finding_of(folder, "defect.toml")
    ran = Ran(folder, "minimize", "defect.toml").expect(0, "minimised: race at defect.cu:18 and defect.cu:22", "blocks: 2 -> 1", "rows: 3 -> 2")
    check, *replays = [line.split(":  " if "check" in line else ": ", 1)[1] for line in ran.out.splitlines()
                       if line.startswith(("  check", "  replay"))]
    after = finding_of(folder, *shlex.split(check)[2:])
    assert after["kind"] == before["kind"], after
    assert [at["line"] for at in after["locations"]] == [at["line"] for at in before["locations"]]
    outcomes = {Ran(folder, *shlex.split(replay)[1:]).expect(0, "replayed").out.splitlines()[-1] for replay in replays}
    assert len(replays) == 2 and len(outcomes) == 2, ran.out
    # A trace alone says what it was made of; its launch can stay.
    trace = shlex.split(before["replay_other"])[2]
    ran = Ran(folder, "minimize", "--keep-launch", trace).expect(0, "preemptions:", "race at defect.cu:18")
    small = json.loads(Ran(folder, "minimize", "--keep-launch", "--json", trace).expect(0).out)
    assert small["schema"] == "assay/minimize/1" and small["traces"][0]["after"] <= small["traces"][0]["before"]
    refused(folder, ["minimize", "sound.toml"], "nothing to minimise")


@test
def what_is_minimised_gets_no_fault_of_its_own(folder):
    # With fewer elements than threads the reads would leave their buffer: another defect.
    (folder / "race.cu").write_text(
        "__global__ void turn(const float* x, float* y) {\n  __shared__ float s[64];\n  s[threadIdx.x] = threadIdx.x;\n"
        "  float own = s[63 - threadIdx.x];\n  y[threadIdx.x] = own + x[threadIdx.x];\n}\n")
    ran = Ran(folder, "minimize", "race.cu", "--grid", "1", "--block", "64", "--arg", "rand:f32[96]", "out:256").expect(
        0, "minimised: race at race.cu:3 and race.cu:4", "96 among the arguments -> 64", "block: 64 -> 48")
    check = next(line for line in ran.out.splitlines() if line.startswith("  check:"))
    after = json.loads(Ran(folder, "check", "--json", *shlex.split(check)[3:]).expect(1).out)
    assert "out-of-bounds" not in {found["kind"] for found in after["findings"]}, ran.out


@test
def a_repaired_line_is_known_again(folder):
    """What the help proposes: a fence on the same line, __ldg() taken away, an update made atomic."""
    launch = ["--grid", "2", "--block", "32", "--arg", "zeros:u32[2]", "--arg", "out:4"]
    head = "__global__ void k(unsigned* p, unsigned* o) {\n  if (threadIdx.x) return;\n"
    last = "  if (atomicAdd(&p[1], 1) == 1) { __threadfence(); *o = atomicAdd(&p[0], 0); }\n}\n"
    repairs = [(head + "  atomicAdd(&p[0], blockIdx.x + 1);\n" + last,
                head + "  atomicAdd(&p[0], blockIdx.x + 1); __threadfence();\n" + last),
               (head + "  p[0] += 1;\n" + last, head + "  atomicAdd(&p[0], 1), __threadfence();\n" + last),
               ("__global__ void k(unsigned* p, unsigned* o) {\n  p[threadIdx.x & 1] = threadIdx.x & 1;\n  __syncthreads();\n"
                "  if (threadIdx.x == 0) o[0] = __ldg(&p[1]);\n}\n",
                "__global__ void k(unsigned* p, unsigned* o) {\n  p[threadIdx.x & 1] = threadIdx.x & 1;\n  __syncthreads();\n"
                "  if (threadIdx.x == 0) o[0] = p[1];\n}\n")]
    for number, (bad, good) in enumerate(repairs):
        (folder / f"bad{number}.cu").write_text(bad)
        (folder / f"good{number}.cu").write_text(good)
        trace = shlex.split(finding_of(folder, f"bad{number}.cu", *launch)["replay"])[2]
        told = json.loads(Ran(folder, "replay", "--json", trace, "--kernel", f"good{number}.cu").out)
        assert told["result"] != "lines-gone" and any(place["changed"] for place in told["places"]), told
    # A line that uses other names is another one.
    (folder / "other.cu").write_text(repairs[0][0].replace("atomicAdd(&p[0], blockIdx.x + 1)", "atomicAdd(&o[0], 1)"))
    trace = shlex.split(finding_of(folder, "bad0.cu", *launch)["replay"])[2]
    Ran(folder, "replay", trace, "--kernel", "other.cu").expect(3, "the lines no longer exist", "bad0.cu:3 is no longer there")


@test
def a_witness_is_aimed_at_a_repaired_kernel(folder):
    case_files(folder, "block_reduce_reuse")
    trace = shlex.split(finding_of(folder, "defect.toml")["replay"])[2]
    gone = Ran(folder, "replay", trace, "--kernel", "sound.cu").expect(
        0, "defect.cu:22 is now sound.cu:", "the race is gone: the two accesses are ordered now by bar.sync 0 at sound.cu:")
    assert "pass: proved for this input" in gone.out
    told = json.loads(Ran(folder, "replay", "--json", trace, "--kernel", "sound.cu", "defect.toml").expect(0).out)
    assert told["result"] == "gone" and told["ordered_by"], told
    Ran(folder, "replay", trace, "--kernel", "defect.cu").expect(1, "still there: race")
    # Lines that have moved are found, and those that are no longer there are not.
    moved = folder / "moved"
    moved.mkdir()
    (moved / "sound.ptx").write_bytes((folder / "sound.ptx").read_bytes())
    lines = (folder / "sound.cu").read_text().splitlines()
    (moved / "sound.cu").write_text("\n".join(["// moved", *lines]) + "\n")
    Ran(folder, "replay", trace, "--kernel", "moved/sound.ptx").expect(3, "the lines no longer exist", "defect.cu:22")
    ptx = re.sub(r"(?m)^(\s*\.loc\s+1\s+)(\d+)", lambda m: m[1] + str(int(m[2]) + 1), (folder / "sound.ptx").read_text())
    (moved / "sound.ptx").write_text(ptx)
    Ran(folder, "replay", trace, "--kernel", "moved/sound.ptx").expect(0, "the race is gone")


@test
def colours_only_on_a_terminal(folder):
    case = ROOT / "cases" / "warp_exchange" / "defect.toml"
    ran = Ran(folder, "check", str(case))
    assert "\033" not in ran.out + ran.err
    assert ran.err == "", f"standard error holds {ran.err!r}"
    assert ran.out.splitlines()[-1].startswith("fail"), ran.out
    assert Ran(folder, "check", "-q", str(case)).expect(1).out.count("\n") == 1


@test
def explain_and_doctor(folder):
    listing = Ran(folder, "explain").expect(0).out
    for kind in ["race", "deadlock", "order-conflict", "wrong-value"]:
        assert kind in listing
        Ran(folder, "explain", kind).expect(0, "Usual fix")
    Ran(folder, "doctor").expect(0, "virtual GPU")
    json.loads(Ran(folder, "doctor", "--json").expect(0).out)


@test
def run_without_a_gpu(folder):
    """What of `run` needs no GPU: the words of the command, exit codes, messages."""
    libraries = {"ASSAY_NATIVE_LIBRARY": "/no/library.so", "ASSAY_SANITIZER": "/no/sanitizer.so"}

    def run(*words, env=None):
        return Ran(folder, "run", *words, env=libraries | (env or {}))

    run("--", "sh", "-c", "exit 5").expect(5, "no process of the command used CUDA")
    run("-q", "--", "true").expect(3, "0 launches examined")
    run("--", "sh", "-c", "kill -9 $$").expect(137)
    # What looks like a flag of ours behind -- is the command's.
    ran = run("--json", "--kernel-name", "a*", "--kernel-name", "b", "--", "echo", "--json", "-q").expect(3, "--json -q")
    assert json.loads(ran.out[ran.out.index("{"):])["schema"] == "assay/run/1"
    run("--", "/no/such/program").expect(127, "cannot start")
    run().expect(2, "needs a command")
    run("--preset", "papers", "--", "true").expect(2, "preset")
    run("--html", "page.html", "--", "true").expect(3)
    assert "0 launches examined" in (folder / "page.html").read_text()
    run("--html", "no_such_folder/page.html", "--", "echo", "ran").expect(2, "no_such_folder")
    run("--cycles", "0", "--", "true").expect(2)
    run("--", "true", env={"CUDA_INJECTION64_PATH": "/other.so"}).expect(4, "only one tool")
    # A case on the GPU: its own process says that there is none.
    case = str(ROOT / "cases/block_reduce_reuse/sound.toml")
    if not pathlib.Path("/dev/nvidiactl").exists():
        Ran(folder, "determinism", "--executor", "native", case, env=libraries).expect(4, "libcuda")
    Ran(folder, "determinism", "--executor", "gpu", case).expect(2, "native")
    refused(folder, ["run", "--kernelname", "x", "--", "true"], "did you mean '--kernel-name'?")


if __name__ == "__main__":
    sys.exit(main())
