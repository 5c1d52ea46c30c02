"""generate.py ASSAY [--check] [NAME…]: compiles the Triton and Gluon kernels beside it and writes, for each
case, PTX for sm_80 and sm_90, case files, and what the outputs must hold.

Runs Triton's compiler alone: neither a GPU nor PyTorch is used. `../regenerate` calls it in an
environment with the pinned versions; then the bytes are the same everywhere. For that the compiler
is told that the sources lie in FOLDER: where they really do would show in the debugging information, if
not by name, then by the offsets behind the name. With --check nothing is written, and what differs
from the committed files is printed.

What outputs must hold is computed in double precision from the inputs (which ASSAY writes), and how
far a result may be from it is derived there: `u` is half a unit in the last place of fp32.
"""
import functools
import importlib.machinery
import importlib.util
import linecache
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ.pop("TRITON_DISABLE_LINE_INFO", None)

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource

import cases

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.PurePath("/assay/tests/kernels/triton")
check_only = "--check" in sys.argv
different = []


def write(path, data):
    data = data.encode() if isinstance(data, str) else data
    if path.exists() and path.read_bytes() == data:
        return
    if check_only:
        different.append(path)
        return
    path.write_bytes(data)
    print("wrote", path.relative_to(HERE))


@functools.cache
def source_of(folder):
    """The module FOLDER/folder/folder.py, which need not be there: Triton reads the lines from linecache."""
    text = (HERE / folder / f"{folder}.py").read_text()
    name = str(FOLDER / folder / f"{folder}.py")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(folder, None, origin=name))
    module.__file__ = name
    sys.modules[folder] = module
    exec(compile(text, name, "exec"), vars(module))
    return module


def compile_kernel(case, capability):
    """PTX and bytes of shared memory."""
    module = source_of(case.folder)
    types = {a.name: a.triton for a in case.arguments}
    types.update({c: "constexpr" for c in case.constants})
    names = list(getattr(module, case.kernel).arg_names)
    signature = {n: types[n] for n in names}
    kind = GluonASTSource if case.folder.startswith("gluon") else ASTSource
    attributes = {(names.index(a.name),): [["tt.divisibility", 16]] for a in case.arguments if a.divisible}
    source = kind(getattr(module, case.kernel), signature=signature,
                  constexprs={(names.index(k),): v for k, v in case.constants.items()}, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=case.options(capability))
    ptx = re.sub(r'(?m)^(\s*\.file\s+\d+\s+)"([^"]*)"', shorten, compiled.asm["ptx"])
    return without_folder(ptx), compiled.metadata.shared


def shorten(match):
    """Own sources by name, Triton's library as triton/…"""
    path = pathlib.PurePath(match[2])
    library = match[2].find("/triton/")
    own = FOLDER in path.parents
    return f'{match[1]}"{path.name if own else match[2][library + 1:]}"'


def without_folder(ptx):
    """The debugging information names the folder it was compiled in, a byte a line."""

    def emptied(match):
        return match[1] + ".b8 0\n"

    return re.sub(r"(?m)(^\.b32 \.debug_line .*\n)\.b8 .*DW_AT_comp_dir\n(?:\.b8 [1-9]\d*\n)*\.b8 0\n", emptied, ptx)


def without_barrier(ptx, source, which):
    """The PTX without one barrier: the `which`-th of those that the Python line marked `which[0]` causes."""
    mark, index = which
    text = (HERE / source).read_text().splitlines()
    line = next(n for n, t in enumerate(text, 1) if re.search(rf"# @{mark}\b", t))
    name = pathlib.PurePath(source).name
    lines = ptx.splitlines(keepends=True)
    place, found = "", []
    for number, content in enumerate(lines):
        if ".loc" in content:
            place = content
        if re.match(r"\s*bar\.sync", content) and re.search(rf"{name}:{line}:\d+", place.replace("\t", " ")):
            found.append(number)
    if index >= len(found):
        sys.exit(f"{source}: line {line} has {len(found)} barriers")
    del lines[found[index]]
    return "".join(lines)


def toml(case, capability, suffix, shared, wants, expect, shape):
    lines = [f"# {case.title}, compiled by Triton {triton.__version__} for sm_{capability}. Written by ../generate.py.",
             f'kernel = {{file = "{case.name}.sm_{capability}{suffix}.ptx", source = "{case.folder}.py", entry = "{case.kernel}"}}',
             f"launch = {{grid = {quoted(case.grid)}, block = [{32 * case.warps(capability)}], shared = {shared}}}",
             "shape = {" + ", ".join(f"{k} = {v}" for k, v in shape.items()) + "}"]
    if expect:
        lines.append(expect)
    for a in case.arguments:
        lines += ["", "[[arg]]", f'name = "{a.name}"', f'kind = "{a.kind}"', f'dtype = "{a.dtype}"']
        if a.kind == "scalar":
            lines.append(f'value = "{a.value}"')
            continue
        lines.append(f"shape = {quoted(a.shape)}")
        lines += [f"{k} = {v!r}".replace("'", '"') for k, v in a.more.items()]
        if a.name in wants:
            path, within = wants[a.name]
            lines.append(f'want = "{path}"')
            if within:
                lines.append(f"within = {within:.3g}")
    for name in ("global_scratch", "profile_scratch"):
        lines += ["", "[[arg]]", f'name = "{name}"', 'kind = "scalar"', 'dtype = "u64"', 'value = "0"']
    return "\n".join(lines) + "\n"


def quoted(items):
    return "[" + ", ".join(str(i) if isinstance(i, int) else f'"{i}"' for i in items) + "]"


NUMPY = {"f16": np.float16, "f32": np.float32, "s32": np.int32, "u8": np.uint8, "u32": np.uint32}


def inputs_of(assay, path, case):
    """The inputs that Assay makes for a case file."""
    values = {}
    with tempfile.TemporaryDirectory() as scratch:
        buffers = [(n, a) for n, a in enumerate(case.arguments) if a.kind in ("in", "inout")]
        command = [assay, "exec", "--check", "none", "--budget", "1", str(path)]
        for n, a in buffers:
            command += ["--out", f"{n}={scratch}/{a.name}"]
        subprocess.run(command, capture_output=True)
        for n, a in buffers:
            values[a.name] = np.fromfile(f"{scratch}/{a.name}", NUMPY[a.dtype]).reshape(case.extents(a))
    for a in case.arguments:
        if a.kind == "scalar":
            values[a.name] = case.value(a)
    return values


def main():
    assay = sys.argv[1]
    names = [a for a in sys.argv[2:] if a != "--check"]
    for case in cases.CASES:
        if names and case.name not in names and case.folder not in names:
            continue
        folder = HERE / case.folder
        wants = None
        for capability in case.capabilities:
            ptx, shared = compile_kernel(case, capability)
            stem = f"{case.name}.sm_{capability}"
            write(folder / f"{stem}.ptx", ptx)
            if wants is None:
                draft = folder / f".{stem}.toml"
                draft.write_text(toml(case, capability, "", shared, {}, "", case.shape))
                try:
                    results = case.reference(**inputs_of(assay, draft, case))
                finally:
                    draft.unlink()
                wants = {}
                for name, (value, within) in results.items():
                    dtype = next(a.dtype for a in case.arguments if a.name == name)
                    path = f"{case.name}.{name}.npy"
                    with tempfile.TemporaryFile() as file:
                        np.save(file, np.ascontiguousarray(value.astype(NUMPY[dtype])))
                        file.seek(0)
                        write(folder / path, file.read())
                    wants[name] = (path, within)
            write(folder / f"{stem}.toml", toml(case, capability, "", shared, wants, case.expect, case.shape))
            for twin in case.twins:
                if capability not in twin.capabilities:
                    continue
                source = f"{case.folder}/{case.folder}.py"
                write(folder / f"{stem}.{twin.name}.ptx", without_barrier(ptx, source, twin.barrier))
                kinds = ", ".join(f'"{k}"' for k in twin.kinds)
                write(folder / f"{stem}.{twin.name}.toml",
                      toml(case, capability, "." + twin.name, shared, {},
                           f'expect = {{verdict = "fail", kinds = [{kinds}]}}', case.shape | twin.shape))
    for path in different:
        print("differs:", path.relative_to(HERE))
    return 1 if different else 0


sys.exit(main())
