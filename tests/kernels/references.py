"""references.py ASSAY [--check] [NAME…]: what the outputs of the CUDA kernels here must hold.

For each case file under cub/, cub_device/ and large/ that wants something: Assay makes the inputs, a function of
NumPy computes the outputs in integers or in double precision, and the wanted files are written
beside the case file. Where floats are wanted `within` a distance, the function derives how far a
right result may be, and the case file's distance must be between that and a hundred times that.
"""
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s16": np.int16, "s32": np.int32, "s64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
u = 2.0**-24


def number(expression, shape):
    names = dict(shape, ceildiv=lambda a, b: -(-a // b), min=min, max=max)
    return eval(str(expression).replace("/", "//"), {"__builtins__": {}}, names)


def inputs_of(assay, path, case):
    text = re.sub(r',?\s*\b(want|within|ulp) = ("[^"]*"|[0-9.e+-]+)', "", path.read_text())
    arguments = {a["name"]: a for a in case["arg"]}
    values = {}
    shape = case.get("shape", {})
    with tempfile.TemporaryDirectory() as scratch:
        draft = path.with_name(f".{path.name}")
        draft.write_text(text)
        try:
            for name, a in arguments.items():
                if "kind" not in a:  # another name of one of the others
                    continue
                if a["kind"] == "scalar":
                    values[name] = float(a["value"]) if a["dtype"][0] == "f" else number(a["value"], shape)
                elif "file" in a:
                    values[name] = np.load(path.with_name(a["file"]))
                elif a["kind"] in ("in", "inout"):
                    values[name] = generated(assay, a, case, name, scratch, draft)
        finally:
            draft.unlink()
    return values


def generated(assay, a, case, name, scratch, draft):
    """The input as Assay makes it: run the first launch that has it for one step, and have the buffer written."""
    launches = case["launch"] if isinstance(case["launch"], list) else [case["launch"]]
    names = [l.get("args", [x["name"] for x in case["arg"]]) for l in launches]
    first = next(n for n, l in enumerate(names) if name in l)
    command = [assay, "exec", str(draft), "--check", "none", "--budget", "1"]
    for n in range(len(launches)):
        if n:
            command.append("--launch")
        if n == first:
            command += ["--out", f"{names[n].index(name)}={scratch}/{name}"]
    subprocess.run(command, capture_output=True)
    extents = [number(e, case.get("shape", {})) for e in a["shape"]]
    return np.fromfile(f"{scratch}/{name}", NUMPY[a["dtype"]]).reshape(extents)


def main():
    import cub_references
    import large_references

    assay, check = sys.argv[1], "--check" in sys.argv
    for name, array in large_references.FILES.items():
        file = io.BytesIO()
        np.save(file, array.astype(np.int32))
        target = HERE / ("cub_device" if name.startswith("device") else "large") / name
        if not target.exists() or target.read_bytes() != file.getvalue():
            print("differs:" if check else "wrote", target.relative_to(HERE))
            if check:
                return 1
            target.write_bytes(file.getvalue())
    functions = vars(cub_references) | vars(large_references)
    names = [a for a in sys.argv[2:] if a != "--check"]
    bad = 0
    for path in sorted([*HERE.glob("cub*/[a-z]*.toml"), *HERE.glob("large/[a-z]*.toml")]):
        case = tomllib.loads(path.read_text())
        if (names and path.stem not in names) or not any("want" in a for a in case["arg"]):
            continue
        results = functions[path.stem](**inputs_of(assay, path, case))
        for a in case["arg"]:
            if "want" not in a:
                continue
            value = results[a["name"]]
            value, bound = value if isinstance(value, tuple) else (value, 0)
            extents = [number(e, case.get("shape", {})) for e in a["shape"]]
            file = io.BytesIO()
            np.save(file, np.ascontiguousarray(np.asarray(value).reshape(extents).astype(NUMPY[a["dtype"]])))
            target = path.with_name(a["want"])
            if bound and not bound <= a.get("within", 0) <= 100 * bound:
                print(f"{path.name}: {a['name']} is wanted within {a.get('within')}; derived: {bound:.3g}")
                bad = 1
            if target.exists() and target.read_bytes() == file.getvalue():
                continue
            bad |= check
            print("differs:" if check else "wrote", target.relative_to(HERE))
            if not check:
                target.write_bytes(file.getvalue())
    return bad


sys.exit(main())
