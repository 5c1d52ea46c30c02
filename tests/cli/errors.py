"""What users get wrong: each mistake has one clear message, with its place where there is one, and exit code 2; nothing
crashes, hangs or takes memory without bound. Prints `N passed, N failed, N skipped`."""

import os
import pathlib
import sys

from harness import ARGUMENTS, GOOD, LAUNCH, SCALE, Ran, main, refused, test

TEXT = pathlib.Path(SCALE).read_text()
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
CASE = """kernel = {file = "scale.ptx"}
launch = {grid = [2], block = [32]}
shape = {n = 40}
[[arg]]
name = "y"
kind = "out"
dtype = "f32"
shape = ["n"]
[[arg]]
name = "x"
kind = "in"
dtype = "f32"
shape = ["n"]
[[arg]]
name = "factor"
kind = "scalar"
dtype = "f32"
value = 0.5
[[arg]]
name = "n"
kind = "scalar"
dtype = "u32"
value = "n"
"""


RACE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd1], %r1;
  ret;
}
"""


def data(content):
    return content if isinstance(content, bytes) else content.encode()


def ptx(folder, content, *parts, arguments=()):
    (folder / "t.ptx").write_bytes(data(content))
    refused(folder, ["exec", "t.ptx", *LAUNCH, *arguments], *parts)


def kernel(declarations="", body="ret;", parameters="", module=""):
    return f"{HEADER}{module}.visible .entry k({parameters}) {{\n{declarations}\n{body}\n}}\n"


def case(folder, content, *parts, words=()):
    (folder / "scale.ptx").write_text(TEXT)
    (folder / "c.toml").write_bytes(data(content))
    refused(folder, ["check", "c.toml", *words], *parts)


def swapped(old, new):
    assert old in CASE, old
    return CASE.replace(old, new, 1)


@test
def the_case_is_good(folder):
    (folder / "scale.ptx").write_text(TEXT)
    (folder / "c.toml").write_text(CASE)
    Ran(folder, "check", "c.toml").expect(0)


@test
def no_text_at_all(folder):
    for name in ("x.ptx", "x.cu", "x.toml"):
        (folder / name).mkdir()
        refused(folder, ["exec", name, *LAUNCH], "directory")
        refused(folder, ["check", name, *LAUNCH], "no case")
        (folder / name).rmdir()
    endless = "/dev/zero"
    (folder / "x.ptx").symlink_to(endless)
    (folder / "x.toml").symlink_to(endless)
    refused(folder, ["exec", "x.ptx", *LAUNCH], "x.ptx", "too large")
    refused(folder, ["check", "x.toml"], "x.toml", "too large")
    refused(folder, ["exec", SCALE, *LAUNCH, "--arg", "out:16", f"in:{endless}", "f32:2", "u32:4"], endless)
    refused(folder, ["exec", SCALE, *LAUNCH, "--arg", "out:16", "in:.", "f32:2", "u32:4"], "directory")
    for content in (b"", b"\0" * 1000, b"\x7fELF\2\1\1" + bytes(range(256)) * 40, b"\xef\xbb\xbf", b"\xff\xfe" * 100):
        (folder / "y.ptx").write_bytes(content)
        refused(folder, ["exec", "y.ptx", *LAUNCH], "y.ptx:1:")
        (folder / "y.toml").write_bytes(content)
        refused(folder, ["check", "y.toml"], "y.toml:1:")
    if os.getuid() != 0:
        (folder / "y.ptx").chmod(0)
        refused(folder, ["exec", "y.ptx", *LAUNCH], "y.ptx", "ermission")


@test
def odd_bytes(folder):
    ptx(folder, TEXT.replace("mul.f32", "mul\0.f32"), "t.ptx:30:8", "zero")
    ptx(folder, data(TEXT).replace(b"%v, %v, %f", b"%v, %\xff\xfe, %f"), "t.ptx:30:17")
    ptx(folder, data(TEXT).replace(b".entry scale", b".entry sc\x1b[31male"), "t.ptx:6", "\\x1b")
    case(folder, data(CASE).replace(b"factor", b"fac\xfftor"), "c.toml:15", "utf-8")
    case(folder, CASE.replace("factor", "fac\0tor"), "c.toml:15")
    case(folder, swapped("scale.ptx", "\\u0000.ptx"), "c.toml:1:18", "\\x00")
    case(folder, swapped('{file = "scale.ptx"}', '{file = "scale.ptx", entry = "\\u0007"}'), "\\x07")
    (folder / "latin.ptx").write_bytes(TEXT.replace("Multiplies", "Multipli\xe9s").encode("latin-1"))
    Ran(folder, "exec", "latin.ptx", *LAUNCH, *ARGUMENTS).expect(0)
    (folder / "odd.ptx").write_bytes(data(TEXT).replace(b"%v, %v, %f", b"%v, %\xff, %f"))
    Ran(folder, "exec", "odd.ptx", *LAUNCH, *ARGUMENTS, "--json").expect(2, '"reason": "odd.ptx:30:17')


@test
def truncated_ptx(folder):
    for end in range(0, len(TEXT.rstrip()) - 1, 23):
        ptx(folder, TEXT[:end], "t.ptx:", arguments=ARGUMENTS)


@test
def sizes_in_ptx(folder):
    for declaration in (".shared .b8 s[5000000000];", ".shared .b8 s[4294967296];", ".shared .b64 s[1099511627776]"
                        "[1099511627776];", ".shared .b8 s[1073741824]; .shared .b8 t[3221225473];"):
        ptx(folder, kernel(declaration), "t.ptx:5:", "shared variables")
    ptx(folder, kernel(".shared .b8 s[232449];"), "232448")
    for declaration in (".local .b8 s[5000000000];", ".local .b8 s[524289];", ".local .b64 s[1099511627776]"
                        "[1099511627776];", ".local .align 1073741824 .b8 s[4];"):
        ptx(folder, kernel(declaration), "t.ptx:4:", "local memory", "524288")
    for variable in ("g[1099511627776]", "g[1099511627776][1099511627776]"):
        ptx(folder, kernel(module=f".global .b8 {variable};\n"), "t.ptx:4:", "module's variables")
    ptx(folder, kernel(module=".global .b8 g[2][200000000] = {{1},{2}};\n"), "t.ptx:4:", "zeros")
    ptx(folder, kernel(module="".join(f".global .b8 g{i}[2][4000000] = {{{{1}},{{2}}}};\n" for i in range(99))), "zeros")
    ptx(folder, kernel(parameters=".param .b8 p[32765]"), "t.ptx:4:", "parameters", "32764")
    ptx(folder, kernel(parameters=".param .b8 p[5000000000]"), "t.ptx:4:", "parameters")
    ptx(folder, kernel(".reg .b32 %r<99999999999>;"), "t.ptx:5:")
    ptx(folder, kernel(".shared .align 3 .b8 s[4];"), "t.ptx:5:16", "power of two")
    call = "{ .param .b8 p[2000000000]; call f, (p); } ret;"
    ptx(folder, kernel(body=call, module=".func f(.param .b8 p[2000000000]) { ret; }\n"), "t.ptx:", "local memory")


@test
def depth_and_length_of_ptx(folder):
    ptx(folder, kernel(body="{" * 100000), "expected '}'")
    ptx(folder, kernel(".reg .b32 %r;", f"mov.b32 %r, {'(' * 100000}1{')' * 100000}; ret;"), "t.ptx:6:", "nested")
    ptx(folder, kernel(body=f"mov.u32 %{'r' * 1000000}, 1; ret;"), "t.ptx:6:", "declared nowhere", "…")
    (folder / "t.ptx").write_text(kernel(body=f"{'foo' * 1000000}.b32 %r; ret;"))
    ran = Ran(folder, "exec", "t.ptx", *LAUNCH).expect(3, "unsupported foofoo", "…")
    assert len(ran.out) < 5000, "the message is as long as the mistake"


@test
def registers_of_other_widths(folder):
    declarations = ".reg .b16 %h; .reg .b32 %r; .reg .b64 %d; .reg .b128 %o; .reg .pred %p; .reg .f32 %f;"
    for body, *parts in (
            ("add.u64 %r, %d, %d;", "t.ptx:6:9", "'%r' has 32 bits where 64 are written"),
            ("add.u32 %d, %r, %r;", "'%d' has 64 bits where 32 are written"),
            ("add.u64 %d, %r, %d;", "'%r' has 32 bits where 64 are read"),
            ("cvta.to.global.u64 %r, %d;", "'%r' has 32 bits where 64 are written"),
            ("mov.u32 %h, %tid.x;", "'%h' has 16 bits where 32 are written"),
            ("setp.eq.u32 %r, %r, %r;", "'%r' is not a predicate"),
            ("add.u32 %p, %r, %r;", "'%p' is a predicate"),
            ("popc.b64 %d, %d;", "'%d' has 64 bits"),
            ("mul.wide.u32 %r, %r, %r;", "'%r' has 32 bits where 64 are written"),
            ("@%r add.u32 %r, %r, %r;", "%r"),
            ("atom.global.add.u64 %r, [%d], %d;", "'%r' has 32 bits where 64 are written"),
            ("shfl.sync.idx.b32 %d, %r, 0, 31, -1;", "'%d' has 64 bits"),
            ("vote.sync.ballot.b32 %p, %p, -1;", "'%p' is a predicate"),
            ("match.any.sync.b64 %d, %d, -1;", "'%d' has 64 bits"),
            ("mov.b64 {%r, %h}, %d;", "'%h' has 16 bits where 32 are written"),
            ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d}, [%r];", "'%d' has 64 bits")):
        ptx(folder, kernel(declarations, body + " ret;"), "t.ptx:6:", *parts)
    for body in ("cp.async.ca.shared.global [%r], [%d], 12;", "st.global.v2.b64 [%d], {%r, %r};",
                 "ld.global.b128 %d, [%d];", "alloca.u64 %r, 16;"):
        (folder / "t.ptx").write_text(kernel(declarations, body + " ret;").replace("8.0", "8.8"))
        ran = Ran(folder, "exec", "t.ptx", *LAUNCH)
        assert ran.code in (2, 3) and "t.ptx:6" in ran.out + ran.err, body + ran.out + ran.err


@test
def names_in_ptx(folder):
    ptx(folder, kernel(body="bra NOPE;"), "t.ptx:6:5", "'NOPE' is declared nowhere")
    ptx(folder, kernel(body="A: A: bra A;"), "t.ptx:6:4", "'A' stands twice")
    ptx(folder, kernel(body="call f; ret;"), "t.ptx:6:6", "'f'")
    ptx(folder, kernel() + ".visible .entry k() { ret; }\n", "t.ptx:8", "'k' is defined twice")
    twice = ".func f { ret; }\n.func f { ret; }\n"
    ptx(folder, kernel(body="call f; ret;", module=twice), "t.ptx:5", "'f' is defined twice")
    ptx(folder, HEADER, "t.ptx", "no kernel")
    ptx(folder, kernel().replace("8.0", "99999999999.0"), "t.ptx:1:10", "version")
    (folder / "t.ptx").write_text(kernel().replace("_size 64", "_size 32"))
    Ran(folder, "exec", "t.ptx", *LAUNCH).expect(3, "unsupported 32-bit addresses")


@test
def launches(folder):
    for grid, block, part in (("0", "4", "outside"), ("1", "0", "outside"), ("1", "1025", "1024"), ("1", "1,1,65", "64"),
                              ("-1", "4", "whole number"), ("1", "-4", "whole number"), ("1,2,3,4", "1", "three"),
                              ("", "4", "whole number"), ("1e3", "4", "whole number"), ("67108865", "4", "2^26"),
                              ("18446744073709551617", "4", "64 bits"), ("2147483647,65535,65535", "1024", "2^26")):
        refused(folder, ["exec", SCALE, "--grid", grid, "--block", block, *ARGUMENTS], part)
    for shared in ("-1", "1.5", "x", "232449", "4294967296", "18446744073709551616"):
        refused(folder, ["exec", *GOOD, "--shared", shared], "shared")
    for option, value in (("--seed", "-1"), ("--seed", "99999999999999999999"), ("--budget", "0"), ("--budget", "nans"),
                          ("--budget", "1e400s"), ("--threads", "-1"), ("--threads", "99999999999"), ("--level", "sse"),
                          ("--device", ""), ("--show", "0=f33"), ("--out", "0"), ("--want", "=x"), ("--want", "0="),
                          ("--set", "n=1"), ("--cluster", "0"), ("--print-limit", "-1")):
        refused(folder, ["exec", *GOOD, option, value], option if option != "--show" and option != "--device" else "")
    refused(folder, ["exec", SCALE, "--grid", "5", "--block", "4", "--cluster", "2", *ARGUMENTS], "multiple")
    refused(folder, ["exec", *GOOD, "--grid", "2"], "twice")
    refused(folder, ["exec", SCALE, "--grid"], "--grid needs a value")


@test
def numbers_of_options(folder):
    odd = ("-1", "-0", "nan", "inf", "1x", "1.5", "1e3", " 1", "+1", "true", "18446744073709551616", "99999999999999999999999")
    options = [(["exec", *GOOD], "--threads", "4097"), (["exec", *GOOD], "--print-limit", "4294967296"),
               (["mutate", *GOOD], "--limit", "4294967296"), (["native-worker", SCALE], "--variant", "4294967296"),
               (["native-export", SCALE, "--to", "t"], "--runs", "0"), (["run"], "--launch-skip", ""), (["run"], "--launch-count", ""),
               (["run"], "--plain", "4294967296"), (["run"], "--outside", "1001"), (["run"], "--conflict-blocks", ""), (["run"], "--perturbed", "4294967296"), (["run"], "--seed", ""),
               (["run"], "--cycles", "0"), (["run"], "--limit", "0"), (["run"], "--probability", "101")]
    for words, option, beyond in options:
        for value in (*odd, beyond):
            tail = ["--", "true"] if words[0] == "run" else []
            refused(folder, [*words, f"{option}={value}", *tail], option)
        refused(folder, [*words, option, "", *(["--", "true"] if words[0] == "run" else [])], option)
    for value in ("-1", "0", "-0.0", "nan", "inf", "1e400", "1e300", "1x", "1 2", " 1", "", "1s"):
        refused(folder, ["minimize", *GOOD, f"--seconds={value}"], "--seconds")


@test
def argument_words(folder):
    for word, *parts in (
            ("out:-1",), ("out:99999999999999999999",), ("out:68719476737", "64 GiB"), ("out:16:256", "one byte"),
            ("zeros:f32[-1]",), ("zeros:f32[4294967296,4294967296,4294967296]", "64 GiB"), ("rand:f33[4]", "f33"),
            ("rand:f32[4]:nope", "nope"), ("list:u8[256]", "256"), ("list:u8[x]",), ("list:f64[1*68719476736]", "64 GiB"),
            ("same:0",), ("same:4294967296.0",), ("same:99999999999",), ("func:x", "no device function"), ("struct:8",),
            ("struct:8{18446744073709551608:u64:1}", "offset"), ("struct:8{1:u64:1}", "beyond"), ("struct:0{}",),
            ("struct:99999{}",), ("bytes:1",), ("bytes:zz",), ("u64:99999999999999999999",), ("u32:0x1ffffffff",)):
        refused(folder, ["exec", SCALE, *LAUNCH, "--arg", word, "out:16", "f32:2", "u32:4"], *parts)
    absurd = 60000000000  # more than a machine has for several copies of it
    for words in ([f"out:{absurd}"], [f"zeros:u8[{absurd}]"], [f"rand:u8[{absurd}]"], [f"list:u8[1*{absurd}]"],
                  [f"out:{absurd}:7"]):
        ran = Ran(folder, "exec", SCALE, *LAUNCH, "--arg", *words, "out:16", "f32:2", "u32:4")
        assert ran.code == 4 and "GiB of memory" in ran.err, ran.out + ran.err


@test
def files_of_arguments(folder):
    (folder / "e.bin").write_bytes(b"")
    refused(folder, ["exec", *GOOD, "--want", "0=e.bin"], "0 bytes", "16")
    (folder / "w.bin").write_bytes(b"\0" * 17)
    refused(folder, ["exec", *GOOD, "--want", "0=w.bin"], "17 bytes", "16")
    refused(folder, ["exec", *GOOD, "--want", "0=."], "directory")
    refused(folder, ["exec", *GOOD, "--want", "0=nope"], "nope")
    refused(folder, ["exec", *GOOD, "--out", "0=."], "write")
    refused(folder, ["exec", *GOOD, "--out", "0=e.bin/y"], "write")
    refused(folder, ["exec", *GOOD, "--out", "0=nowhere/deep/y"], "no folder 'nowhere/deep'")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }"
    for content in (b"", b"\x93NUMPY", b"\x93NUMPY\x01\0\xff\xff", b"\x93NUMPY\x02\0\xff\xff\xff\xff" + b"x" * 20,
                    b"\x93NUMPY\x01\0\x50\0" + (header % (b"9" * 20)).ljust(80),
                    b"\x93NUMPY\x01\0\x50\0" + (header % b"4").ljust(80)):
        (folder / "a.npy").write_bytes(content)
        refused(folder, ["exec", SCALE, *LAUNCH, "--arg", "out:16", "in:a.npy", "f32:2", "u32:4"], "a.npy")


@test
def files_that_cannot_be_read(folder):
    """Each command that takes a kernel or case says that it cannot read it, and nothing else."""
    (folder / "folder.cu").mkdir()
    (folder / "empty.ptx").write_text("")
    (folder / "dangling.cu").symlink_to("nowhere.cu")
    (folder / "race.ptx").write_text(RACE)
    launch = ["--grid", "1", "--block", "64", "--arg", "out:4"]
    assert Ran(folder, "check", "race.ptx", *launch, "--trace-dir", "t").code == 1
    trace = str(next((folder / "t").glob("*.trace")))
    for name, *parts in (("nosuch.cu", "cannot read 'nosuch.cu'", "No such file"), ("nosuch.ptx", "cannot read 'nosuch.ptx'"),
                         ("nosuch.toml", "cannot read 'nosuch.toml'"), ("dangling.cu", "cannot read 'dangling.cu'"),
                         ("folder.cu", "folder.cu'"), ("empty.ptx", "empty.ptx:1:1")):
        for command in ("check", "determinism", "exec", "mutate", "minimize"):
            refused(folder, [command, name, *launch], *parts)
        refused(folder, ["replay", trace, name, *launch], *parts)
        refused(folder, ["minimize", trace, name, *launch], *parts)
        refused(folder, ["replay", trace, "--kernel", name], *parts)
    for name in ("nosuch.trace", "folder.trace"):
        if name.startswith("folder"):
            (folder / name).mkdir()
        refused(folder, ["replay", name, "race.ptx"], f"cannot read '{name}'")
        refused(folder, ["minimize", name, "race.ptx"], f"cannot read '{name}'")


@test
def types_in_case_files(folder):
    for key, first in (("kernel", 1), ("launch", 2), ("shape", 3)):
        for value in ("5", '"x"', "true", "1.5", "2020-01-01", "[1]"):
            lines = CASE.splitlines()
            lines[first - 1] = f"{key} = {value}"
            case(folder, "\n".join(lines), f"c.toml:{first}:", f"'{key}' must be a table")
    for value in ("5", "[5]", '"x"', "{}"):
        case(folder, f"arg = {value}\n" + CASE.split("[[arg]]")[0], "c.toml:1:", "[[arg]]")
    launch = "{grid = [2], block = [32]}"
    for key, values in {"grid": ["5", '"1"', "[true]", "[1.5]", "[nan]"], "block": ["5", "[]"], "cluster": ['"x"', "[0]"],
                        "shared": ["[]", "-1", '"x"', "4294967296"], "entry": ["5"], "cooperative": ["5"],
                        "args": ["5", "[5]", '["nope"]', '["y"]'], "nope": ["1"]}.items():
        for value in values:
            new = launch.replace("[2]" if key == "grid" else "[32]", value) if key in ("grid", "block") else \
                launch.replace("}", f", {key} = {value}}}")
            case(folder, swapped(launch, new), "c.toml:2:")
    for key, values in {"shape": ["5", "[-1]", '["q"]', "[]"], "dtype": ["5", '"f33"'], "kind": ["5", '"inn"', '"struct"'],
                        "family": ["5", '"x"'], "domain": ["5", '"x"', '"[1,0]"', '"[nan,1]"'], "written": ["5", '"x"'],
                        "align": ["3", "0", '"x"', "9223372036854775807"], "fill": ["300", "-1", '"1/0"'],
                        "strides": ["5", "[1,2]", "[-1]", "[9223372036854775807]"], "file": ["5", '"nope"', '"."'],
                        "same": ["5", '"q"'], "func": ["5", '"x"'], "value": ["5"], "name": ["5", '""', '"y"'],
                        "nope": ["1"]}.items():
        block = {"name": '"x"', "kind": '"in"', "dtype": '"f32"', "shape": '["n"]'}
        for value in values:
            old = "\n".join(f"{k} = {v}" for k, v in block.items())
            new = "\n".join(f"{k} = {v}" for k, v in (block | {key: value}).items())
            case(folder, swapped(old, new), "c.toml:")


@test
def values_in_case_files(folder):
    for value, part in (('"n*"', "too early"), ('"1/0"', "division by zero"), ('"n%0"', "division by zero"),
                        ('"9223372036854775807+1"', "64 bits"), ('"-9223372036854775807-2"', "64 bits"),
                        ('"m"', "no shape symbol 'm'"), ('"foo(1,2)"', "no function 'foo'"), ('"min(1)"', "two values"),
                        ('"ceildiv(1,0)"', "not positive"), ('"' + "(" * 300 + '"', "nested"), ("99999999999999999999", ""),
                        ("2147483648", "outside"), ("-1", "outside"), ("0", "grid is 0"), ("[1]", ""), ('"1\\u0000"', "")):
        case(folder, swapped("grid = [2]", f"grid = [{value}]"), "c.toml:2:", part)
    case(folder, swapped("[2]", "[1,2,3,4]"), "c.toml:2:", "three")
    case(folder, swapped("[32]", "[1025]"), "c.toml:2:", "1024")
    case(folder, swapped("[32]}", "[32], shared = 300000}"), "c.toml:2:", "shared memory")
    case(folder, swapped("[32]", "[32], cluster = [4]"), "c.toml:2:", "multiple")
    for value in ('"m"', "4294967296", '"99999999999999999999"', "true", "nan", '""', '"(((("'):
        case(folder, swapped('value = "n"', f"value = {value}"), "c.toml:23:")
    for value in ("9223372036854775808", "4.5", '"40"'):
        case(folder, swapped("n = 40", f"n = {value}"), "c.toml:3:")
    case(folder, swapped("n = 40", "n = 9223372036854775807"), "outside")
    case(folder, swapped('shape = ["n"]', "shape = [16777216, 16777216, 16777216]"), "c.toml:8:", "64 GiB")
    case(folder, swapped('shape = ["n"]', "shape = [268435457, 2]\nstrides = [68719476735, 1]"), "64 GiB")
    scalar = 'kind = "scalar"\ndtype = "f32"\nvalue = 0.5'
    for field in ("size = -4", "size = 99999", "size = 4\nfields = [5]", "size = 4\nfields = [{offset = 0}]",
                  "size = 4\nfields = [{offset = 3, dtype = 'u32', value = 1}]",
                  "size = 4\nfields = [{offset = 9223372036854775807, dtype = 'u32', value = 1}]"):
        case(folder, swapped(scalar, 'kind = "struct"\n' + field), "c.toml:")
    (folder / "empty.bin").write_bytes(b"")
    case(folder, swapped('shape = ["n"]\n[[arg]]\nname = "factor"', 'shape = ["n"]\nfile = "empty.bin"\n[[arg]]\n'
                         'name = "factor"'), "160 bytes by its shape and 0 in its file")
    for word in ("q=1", "n=x", "n=-5", "n=99999999999999999999", "="):
        case(folder, CASE, words=["--set", word])


@test
def tables_in_case_files(folder):
    for text, *parts in (("variants = [5]", "c.toml:1:"), ("variants = [{m = 5}]", "unknown key 'm'"),
                         ("variants = 5", "c.toml:1:"), ('variants = [{n = "5"}]', "whole number"),
                         ('allow = {nope = "x"}', "unknown key 'nope'"), ('allow = {value-race = ""}', "needs a reason"),
                         ("expect = 5", "must be a table"), ("expect = {nope = 5}", "unknown key 'nope'"),
                         ("reference = 5", "must be a table"), ("reference = {nope = 5}", "unknown key 'nope'"),
                         ("accuracy = {nope = 5}", "unknown key 'nope'"), ("shape = {n = 40}", "c.toml:4:"),
                         ("nope = 1", "unknown key 'nope'"), ("a = " + "[" * 100000, "c.toml:1:"),
                         ("a = " + "{a=" * 5000, "c.toml:1:"), ("a" * 1000000 + " = 1", "unknown key 'aaa")):
        case(folder, text + "\n" + CASE, *parts)
    case(folder, swapped("scale.ptx", "nope.ptx"), "c.toml:1:18", "nope.ptx")
    case(folder, swapped("scale.ptx", "."), "c.toml:1:18", "neither")
    case(folder, swapped("scale.ptx", "x" * 100000 + ".ptx"), "c.toml:1:18", "name too long")
    case(folder, swapped('{file = "scale.ptx"}', '{file = "scale.ptx", entry = "nope"}'), "no kernel 'nope'")


@test
def printf_of_any_format(folder):
    body = """mov.u64 %a, args; cvta.local.u64 %a, %a; mov.u64 %f, fmt; cvta.global.u64 %f, %f;
    st.local.u32 [args], 2147483647; st.local.u32 [args+4], -2147483648;
    { .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %f; st.param.b64 [p1], %a;
      call.uni (q), vprintf, (p0, p1); ld.param.b32 %r, [q]; }
    ret;"""
    for text in ("%999999999d", "%99999999999999999999d", "%-+ #0999.999999999f", "%*d", "%.*s", "%", "%l", "%q", "%5",
                 "%#s", "%+c", "%05c", "%.99999999999s", "%hhd", "%.", "%n", "%s" * 20):
        codes = ",".join(str(c) for c in data(text) + b"\0")
        module = (".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                  f".global .align 1 .b8 fmt[64] = {{{codes}}};\n")
        declarations = ".local .align 8 .b8 args[64]; .reg .b64 %f, %a; .reg .b32 %r;"
        (folder / "t.ptx").write_text(kernel(declarations, body, module=module))
        ran = Ran(folder, "exec", "t.ptx", *LAUNCH)
        assert ran.code in (0, 1) and len(ran.out) < 200000, f"{text}: exit code {ran.code}, {len(ran.out)} characters"


if __name__ == "__main__":
    sys.exit(main())
