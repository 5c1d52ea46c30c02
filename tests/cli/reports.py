"""Reports in files, suppressions, baselines and timelines, on kernels that race.

    tests/cli/reports.py PROGRAM
"""

import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

from harness import ROOT, Ran, main, refused, test

EXAMPLES = ROOT / "docs" / "examples"
RACY, FIXED = str(EXAMPLES / "matmul.toml"), str(EXAMPLES / "matmul_fixed.toml")
SUPPRESS = '[[suppress]]\nkind = "race"\nfunction = "mat*"\nreason = "a demonstration"\n'


def copied(folder, name="matmul"):
    """An example in a folder of the test's own, to be edited."""
    for suffix in [".cu", ".ptx", ".toml"]:
        (folder / (name + suffix)).write_bytes((EXAMPLES / (name + suffix)).read_bytes())
    return name + ".toml"


@test
def formats_for_one_case(folder):
    files = ["--html", "a.html", "--sarif", "a.sarif", "--junit", "a.xml", "--svg", "a.svg"]
    Ran(folder, "check", RACY, *files).expect(1, "error[race]")
    page = (folder / "a.html").read_text()
    assert "<svg" in page and "matmul.cu" in page and "Fix:" in page and "assay replay" in page
    result = json.loads((folder / "a.sarif").read_text())["runs"][0]["results"][0]
    lines = [l["physicalLocation"]["region"]["startLine"] for l in result["locations"] + result["relatedLocations"]]
    assert set(lines) <= {9, 10, 12} and 12 in lines, lines
    assert len(result["codeFlows"][0]["threadFlows"]) == 2 and result["partialFingerprints"]
    suite = ElementTree.parse(folder / "a.xml").getroot().find("testsuite")
    assert suite.get("failures") == "1" and "error[race]" in suite.find("testcase/failure").text
    ElementTree.parse(folder / "a.svg")
    before = {f: (folder / f).read_bytes() for f in ["a.html", "a.sarif", "a.xml", "a.svg"]}
    Ran(folder, "check", RACY, *files)
    for name, text in before.items():
        assert (folder / name).read_bytes() == text, f"{name} is not the same twice"


@test
def formats_for_a_folder_and_errors(folder):
    copied(folder)
    (folder / "bad.toml").write_text("kernel = {file = \n")
    Ran(folder, "check", ".", "--junit", "a.xml", "--sarif", "a.sarif", "--html", "a.html").expect(2)
    suite = ElementTree.parse(folder / "a.xml").getroot().find("testsuite")
    assert [suite.get(k) for k in ["tests", "failures", "errors"]] == ["2", "1", "1"]
    run = json.loads((folder / "a.sarif").read_text())["runs"][0]
    assert not run["invocations"][0]["executionSuccessful"]
    assert "bad.toml" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    refused(folder, ["check", FIXED, "--html", "/dev/null/x.html"], "cannot write")


@test
def determinism_and_exec_write_too(folder):
    Ran(folder, "determinism", RACY, "--sarif", "a.sarif").expect(1)
    assert json.loads((folder / "a.sarif").read_text())["runs"][0]["results"]
    Ran(folder, "exec", RACY, "--html", "a.html").expect(1)
    assert "error[race]" in (folder / "a.html").read_text()


@test
def what_cannot_be_prepared_is_reported_too(folder):
    (folder / "k.ptx").write_text("no PTX\n")
    good = ["--grid", "2,2", "--block", "16,16", "--arg", "rand:f32[32,32]"]
    (folder / "b.json").write_text("kept")
    for words, part in ((["k.ptx", *good], "k.ptx:1"), ([str(EXAMPLES / "matmul.ptx"), *good], "parameter")):
        for command in ("check", "determinism", "exec"):
            files = ["--html", "a.html", "--sarif", "a.sarif", "--junit", "a.xml"]
            refused(folder, [command, *words, *files], part)
            suite = ElementTree.parse(folder / "a.xml").getroot().find("testsuite")
            assert suite.get("errors") == "1", command
            assert part in (folder / "a.html").read_text() and part in (folder / "a.sarif").read_text()
            for name in ("a.html", "a.sarif", "a.xml"):
                (folder / name).unlink()
    for command in ("check", "determinism", "exec"):  # what was not looked at is not free of findings
        refused(folder, [command, "k.ptx", *good, "--write-baseline", "b.json"], "k.ptx:1")
        assert (folder / "b.json").read_text() == "kept"


@test
def names_of_files_are_looked_at_first(folder):
    flags = ["--html", "--sarif", "--junit", "--svg", "--write-baseline"]
    (folder / "kept").write_text("kept")
    (folder / "link").symlink_to("kept")
    (folder / "sub").mkdir()
    for command in ("check", "determinism", "exec"):
        for i, flag in enumerate(flags):
            other = flags[i - 1]
            for a, b in (("x", "x"), ("x", "./x"), ("x", str(folder / "sub/../x")), ("kept", "link")):
                refused(folder, [command, RACY, flag, a, other, b], flag, other, "the same file")
            refused(folder, [command, RACY, flag, "no/deep/x"], "'no/deep/x'", "no folder 'no/deep'")
            refused(folder, [command, RACY, flag, "sub"], "'sub'", "directory")
        refused(folder, [command, RACY, "--html", "x", "--out", "2=x"], "--html", "--out 2", "the same file")
    copied(folder)
    before = (folder / "matmul.toml").read_text()
    refused(folder, ["check", "matmul.toml", "--html", "matmul.toml"], "the target", "the same file")
    assert (folder / "matmul.toml").read_text() == before and (folder / "kept").read_text() == "kept"
    refused(folder, ["case", "new", RACY.replace("toml", "ptx"), "--output", "no/c.toml"], "no folder 'no'")
    assert not (folder / "no").exists() and not (folder / ".assay").exists(), "something ran"
    Ran(folder, "check", RACY, "--html", "/dev/null", "--sarif", "/dev/null", "--trace-dir", "no/traces").expect(1)


@test
def not_with_a_real_gpu(folder):
    refused(folder, ["determinism", RACY, "--executor", "native", "--html", "a.html"], "vgpu executor")


@test
def suppressions(folder):
    (folder / "s.toml").write_text(SUPPRESS)
    Ran(folder, "check", RACY, "--suppress", "s.toml").expect(
        0, "suppressed[race]", "reason: a demonstration (s.toml:1)", "pass-with-suppressions", "suppressed")
    Ran(folder, "check", RACY).expect(1)
    answer = json.loads(Ran(folder, "check", RACY, "--json", "--suppress", "s.toml").expect(0).out)
    assert answer["verdict"] == "pass-with-suppressions" and answer["race_free"] is False
    assert all(f["suppressed"].startswith("a demonstration") for f in answer["findings"])
    Ran(folder, "check", FIXED, "--suppress", "s.toml").expect(0, "unused suppression: s.toml:1", "proved")
    Ran(folder, "check", RACY, "--suppress", "s.toml", "--sarif", "a.sarif").expect(0)
    results = json.loads((folder / "a.sarif").read_text())["runs"][0]["results"]
    assert all(r["suppressions"][0]["justification"] for r in results if r["level"] == "error")


@test
def suppressions_fit_narrowly(folder):
    for rule, code in [('file = "matmul.cu"', 0), ('file = "mul.cu"', 1), ('file = "matmul.cu"\nline = 12', 0),
                       ('file = "matmul.cu"\nline = 13', 1), ('function = "other"', 1),
                       ('function = "matmul"\nspace = "global"', 1), ('fingerprint = "0"', 1)]:
        (folder / "s.toml").write_text(f'[[suppress]]\nkind = "race"\nreason = "r"\n{rule}\n')
        Ran(folder, "check", RACY, "--suppress", "s.toml").expect(code)


@test
def wrong_suppressions(folder):
    for text, part in [('[[suppress]]\nkind = "race"\nfunction = "f"\n', "needs a reason"),
                       ('[[suppress]]\nkind = "rase"\nfunction = "f"\nreason = "r"\n', "did you mean 'race'?"),
                       ('[[suppress]]\nkind = "race"\nreason = "r"\n', "hides every race"),
                       ('[[suppress]]\nkind = "race"\nfile = "f"\nline = 0\nreason = "r"\n', "number of a line"),
                       ('[[suppress]]\nkind = "race"\nline = 3\nfunction = "f"\nreason = "r"\n', "needs its file"),
                       ('[[suppress]]\nkynd = "race"\n', "did you mean 'kind'?"), ("suppress = 3\n", "tables"), ("[[", "s.toml:1")]:
        (folder / "s.toml").write_text(text)
        refused(folder, ["check", FIXED, "--suppress", "s.toml"], "s.toml:", part)
    refused(folder, ["check", FIXED, "--suppress", "missing.toml"], "missing.toml")


@test
def baseline(folder):
    target = copied(folder)
    Ran(folder, "check", target, "--write-baseline", "b.json").expect(1, "written to b.json")
    Ran(folder, "check", target, "--baseline", "b.json").expect(0, "known from the baseline b.json", "pass-with-suppressions")
    # Lines move: still known. That the PTX is older than its source, its stamp says; so it is taken off.
    source = folder / "matmul.cu"
    source.write_text("// moved\n\n\n" + source.read_text())
    ptx = (folder / "matmul.ptx").read_text().split("\n", 2)[2]
    ptx = re.sub(r"^(\s*\.loc\s+1 )(\d+)", lambda m: f"{m[1]}{int(m[2]) + 3}", ptx, flags=re.M)
    (folder / "matmul.ptx").write_text(ptx)
    (folder / target).write_text((folder / target).read_text().replace("matmul.cu", "matmul.ptx"))
    Ran(folder, "check", target, "--baseline", "b.json").expect(0, "matmul.cu:15", "known from the baseline")
    # Another line of text: new.
    source.write_text(source.read_text().replace("sum += tile_a", "sum -= tile_a"))
    Ran(folder, "check", target, "--baseline", "b.json").expect(1, "error[race]")


@test
def baseline_tells_what_is_fixed(folder):
    copied(folder)
    Ran(folder, "check", "matmul.toml", "--write-baseline", "b.json").expect(1)
    for suffix in [".cu", ".ptx"]:
        (folder / ("matmul" + suffix)).write_bytes((EXAMPLES / ("matmul_fixed" + suffix)).read_bytes())
    (folder / "matmul_fixed.cu").write_bytes((EXAMPLES / "matmul_fixed.cu").read_bytes())
    (folder / "matmul.toml").write_text((folder / "matmul.toml").read_text().replace('"matmul.cu"', '"matmul.ptx"'))
    (folder / "matmul.ptx").write_text((folder / "matmul.ptx").read_text().split("\n", 2)[2])
    Ran(folder, "check", "matmul.toml", "--baseline", "b.json").expect(0, "fixed since the baseline: race", "proved")
    (folder / "b.json").write_text("{}")
    refused(folder, ["check", "matmul.toml", "--baseline", "b.json"], "is no baseline", "--write-baseline")


TWICE = """__global__ void k(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t + 1;
  out[t] += s[63 - t];
  __syncthreads();
  s[t] = 1000;
  __syncthreads();
  s[t] = t + 1;
  SECOND
  out[t] += s[63 - t];
}
"""


@test
def baseline_counts(folder):
    words = ["check", "k.cu", "--grid", "1", "--block", "64", "--arg", "zeros:s32[64]"]
    one, two = TWICE.replace("SECOND", "__syncthreads();"), TWICE.replace("SECOND", "")
    (folder / "k.cu").write_text(one)
    if Ran(folder, *words, "--write-baseline", "one.json").code == 4:  # no compiler here
        return
    Ran(folder, *words, "--baseline", "one.json").expect(0, "known from the baseline")
    (folder / "k.cu").write_text(two)
    ran = Ran(folder, *words, "--baseline", "one.json", "--write-baseline", "two.json").expect(
        1, "beyond the baseline one.json, which has one of this text", "suppressed[race]", "baseline of 2 findings")
    assert ran.out.count("error[race]") == 1, ran.out
    Ran(folder, *words, "--baseline", "two.json").expect(0, "pass-with-suppressions")
    (folder / "k.cu").write_text(one)
    Ran(folder, *words, "--baseline", "two.json").expect(0, "of 2 with this text, 1 left")
    # The same defect in a case that was sound when the baseline was made; in one with a new name.
    sound = one.replace("out[t] += s[63 - t];\n  __syncthreads", "__syncthreads();\n  out[t] += s[63 - t];\n  __syncthreads")
    (folder / "l.cu").write_text("// launch: --grid 1 --block 64 --arg zeros:s32[64]\n" + sound)
    (folder / "k.cu").write_text("// launch: --grid 1 --block 64 --arg zeros:s32[64]\n" + one)
    Ran(folder, "check", "k.cu", "l.cu", "--write-baseline", "b.json").expect(1, "1 passed, 1 failed")
    Ran(folder, "check", "k.cu", "l.cu", "--baseline", "b.json").expect(0)
    (folder / "l.cu").write_text((folder / "k.cu").read_text())
    Ran(folder, "check", "k.cu", "l.cu", "--baseline", "b.json").expect(1, "1 passed, 1 failed")
    (folder / "l.cu").rename(folder / "m.cu")
    Ran(folder, "check", "m.cu", "--baseline", "b.json").expect(0)


@test
def only_sources_are_quoted(folder):
    secret = "a line of nobody's business\n"
    (folder / "k").mkdir()
    (folder / "src").mkdir()
    copied(folder / "k")
    for name in ("secret.txt", "secret.cu"):
        (folder / name).write_text(secret * 40)
    (folder / "src" / "matmul.cu").write_bytes((EXAMPLES / "matmul.cu").read_bytes())
    (folder / "k" / "link.cu").symlink_to(folder / "secret.txt")
    ptx = (folder / "k" / "matmul.ptx").read_text()
    words = ["k/t.ptx", "--grid", "2,2", "--block", "16,16", "--arg", "rand:f32[32,32]", "rand:f32[32,32]", "out:4096",
             "s32:32"]
    for name, shown in (("matmul.cu", True), (folder / "src/matmul.cu", True), ("../src/matmul.cu", True),
                        (folder / "secret.txt", False), ("../secret.txt", False), ("link.cu", False)):
        (folder / "k" / "t.ptx").write_text(re.sub(r'(\.file\s+1 )".*"', lambda m: f'{m[1]}"{name}"', ptx))
        ran = Ran(folder, "check", *words, "--html", "a.html").expect(1, "error[race]")
        assert ("sum += tile_a" in ran.out) == shown, f"{name}\n{ran.out}"
        assert "nobody" not in ran.out + (folder / "a.html").read_text(), name
    racy = TWICE.replace("SECOND", "__syncthreads();")
    for name in ("secret.txt", "secret.cu"):
        for directive in ("#line", " # line", "#"):
            (folder / "k" / "k.cu").write_text(f'{directive} 1 "{folder / name}"\n{racy}')
            ran = Ran(folder, "check", "k/k.cu", "--grid", "1", "--block", "64", "--arg", "zeros:s32[64]")
            assert ran.code in (1, 4) and "nobody" not in ran.out, ran.out
    # A kernel in a header of an -I folder.
    (folder / "src" / "k.cuh").write_text("#pragma once\n" + racy)
    (folder / "k" / "k.cu").write_text('#include "k.cuh"\n')
    ran = Ran(folder, "check", "k/k.cu", "-I", "../src", "--grid", "1", "--block", "64", "--arg", "zeros:s32[64]")
    assert ran.code == 4 or "s[t] = t + 1;" in ran.out, ran.out


@test
def odd_names_of_sources(folder):
    words = ["--grid", "1", "--block", "64", "--arg", "zeros:s32[64]"]
    for name in ('q"x.cu', 'a\\b.cu', "\u00fcn\u00ef.cu", "a b'$;#%.cu", 'd"d/k.cu', "\u00e4/k.cu"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(TWICE.replace("SECOND", "__syncthreads();"))
        ran = Ran(folder, "check", name, *words)
        assert ran.code == 4 or (ran.code == 1 and "5 |   out[t] += s[63 - t];" in ran.out), name + ran.out + ran.err
        (folder / name).write_text("__global__ void k() { nope; }")
        ran = Ran(folder, "check", name, *words)
        assert ran.code == 4 or (ran.code == 2 and f"{name}:1" in ran.err and "%22" not in ran.err), ran.err


@test
def timelines_name_the_construct(folder):
    for name, lines in [("matmul", ["missing: __syncthreads() [block]", "add __syncthreads() after line 12"]),
                        ("handoff", ["missing: __threadfence() in line", "[device]", "fence, block scope"]),
                        ("prefetch", ["cp.async.wait_group 1 (__pipeline_wait_prior(1))", "prefetch.cu:16"])]:
        ran = Ran(folder, "check", str(EXAMPLES / (name + ".toml"))).expect(1, "= timeline", "✗ unordered", *lines)
        assert "\033" not in ran.out
        widest = max(len(l) for l in ran.out.splitlines() if "│" in l or "╎" in l)
        assert widest <= 100, f"a timeline of {widest} columns"
        Ran(folder, "check", str(EXAMPLES / (name + "_fixed.toml"))).expect(0)


@test
def old_traces_go(folder):
    traces = folder / ".assay" / "traces"
    traces.mkdir(parents=True)
    (traces / "notes.txt").write_text("a person's")
    for i in range(1003):
        old = traces / f"{i:016x}.trace"
        old.write_text("")
        os.utime(old, (1000 + i, 1000 + i))
    ran = Ran(folder, "check", RACY).expect(1)
    left = {f.name for f in traces.iterdir()}
    assert len(left) == 1001 and "notes.txt" in left, len(left)
    assert f"{0:016x}.trace" not in left and f"{1002:016x}.trace" in left
    for name in re.findall(r"traces/(\w+\.trace)", ran.out):
        assert name in left


@test
def bare_kernels_have_a_hint(folder):
    arguments = ["--grid", "2,2", "--block", "16,16", "--arg", "rand:f32[32,32]", "rand:f32[32,32]", "out:4096", "s32:32"]
    Ran(folder, "check", str(EXAMPLES / "matmul.ptx"), *arguments).expect(1, "hint: grid, block, sizes")
    assert "hint:" not in Ran(folder, "check", RACY).out


sys.exit(main())
