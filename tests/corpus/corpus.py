#!/usr/bin/env python3
"""The foreign corpus: PTX that others' compilers make of others' code.

  corpus.py generate [--out build/corpus] [--python PYTHON] [--cutlass INCLUDE] [--jobs 2]
  corpus.py check    [--out build/corpus] [--tool build/tests/corpus/corpus_check] [--table FILE]

generate compiles CUB, Thrust, libcu++ and the toolkit's headers (CCCL of the CUDA 13.0 toolkit),
CUTLASS (wheel nvidia-cutlass 4.2.0.0) with nvcc, and kernels.py with Triton 3.6.0, for sm_80, sm_90a
and sm_100a. Both wheels belong into the Python environment that --python names:
    python -m venv ENV && ENV/bin/pip install --no-deps triton==3.6.0 nvidia-cutlass==4.2.0.0

check parses every module, prints it, and compares what ptxas makes of the original and of the
printed text. Equal means: every section of the two cubins has the same bytes, but for the sections
that quote the PTX text or its line numbers (QUOTING below); failing that, the same once both
texts have lost their .loc lines and hold one statement a line. --table writes the results as Markdown.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Sections that hold the PTX text, its lines, or the command line of ptxas.
QUOTING = {".nv_debug_ptx_txt", ".nv_debug_line_sass", ".note.nv.tkinfo", ".debug_line"}
QUOTING |= {".nv.merc" + name for name in QUOTING}

TARGETS = ("sm_80", "sm_90a", "sm_100a")


def cuda_modules():
    """(name, source, target, defines, extra flags)."""
    plain = ["-std=c++17", "-lineinfo"]
    types = ("int", "float", "double")
    for algo in range(4):
        yield f"hopper{algo}", "hopper.cu", "sm_90a", [f"ALGO={algo}"], plain
    for algo in (0, 1, 2, 4, 5):
        yield f"hopper{algo}", "hopper.cu", "sm_100a", [f"ALGO={algo}"], plain
    for index, target in enumerate(TARGETS):
        for algo in range(10):
            yield f"toolkit{algo}", "toolkit.cu", target, [f"ALGO={algo}"], plain
        yield "toolkit6_G", "toolkit.cu", target, ["ALGO=6"], ["-std=c++17", "-G"]
        yield "toolkit8_G", "toolkit.cu", target, ["ALGO=8"], ["-std=c++17", "-G"]
        for algo in range(8):
            yield f"libcudacxx{algo}", "libcudacxx.cu", target, [f"ALGO={algo}"], plain
        for algo in range(8):
            t = types[(algo + index) % 3]
            yield f"cub_block{algo}_{t}", "cub_block.cu", target, [f"ELEMENT={t}", f"ALGO={algo}"], plain
    for algo in range(7):
        target = "sm_100a" if algo >= 3 else "sm_90a"
        if algo in (0, 2, 3, 4):
            yield (f"cutlass_sm90_{algo}", "cutlass_sm90.cu", target, [f"ALGO={algo}"],
                   ["-std=c++17", "--expt-relaxed-constexpr", "cutlass"])
        yield f"cutlass_sm80_{algo}", "cutlass_sm80.cu", "sm_80", [f"ALGO={algo}"], ["-std=c++17", "cutlass"]
    for algo in range(7):  # the slow ones: each algorithm for one target
        yield f"cub_device{algo}", "cub_device.cu", TARGETS[algo % 3], ["ELEMENT=int", f"ALGO={algo}"], ["-std=c++17"]
    for algo in range(5):
        yield (f"thrust{algo}", "thrust_algorithms.cu", TARGETS[algo % 3], ["ELEMENT=float", f"ALGO={algo}"],
               ["-std=c++17"])


def find_tool(name):
    found = shutil.which(name) or os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", name)
    return found if os.path.exists(found) else None


def compile_cuda(nvcc, out, cutlass, module):
    name, source, target, defines, flags = module
    path = os.path.join(out, f"{name}_{target}.ptx")
    if os.path.exists(path):
        return None
    command = [nvcc, "-ptx", f"-arch={target}", os.path.join(HERE, "cuda", source), "-o", path + ".tmp"]
    command += [f"-D{d}" for d in defines] + [f for f in flags if f != "cutlass"]
    if "cutlass" in flags:
        if not cutlass:
            return f"{name}: no CUTLASS headers"
        command.append("-I" + cutlass)
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return f"{name}_{target}: " + "\n".join(l for l in run.stderr.splitlines() if "error" in l)[:300]
    os.rename(path + ".tmp", path)
    return None


def generate(options):
    os.makedirs(options.out, exist_ok=True)
    nvcc = find_tool("nvcc")
    cutlass = options.cutlass
    if not cutlass:
        cutlass = next(iter(glob.glob(os.path.join(os.path.dirname(os.path.dirname(options.python)), "lib", "python*",
                                                   "site-packages", "cutlass_library", "source", "include"))), None)
    if nvcc:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for message in pool.map(lambda m: compile_cuda(nvcc, options.out, cutlass, m), cuda_modules()):
                if message:
                    print(message, file=sys.stderr)
    subprocess.run([options.python, os.path.join(HERE, "triton", "compile.py"), options.out, "80", "90", "100"], check=False)
    print(len(glob.glob(os.path.join(options.out, "*.ptx"))), "modules in", options.out)
    return 0


def sections(path):
    """Name -> bytes of an ELF file's sections."""
    data = open(path, "rb").read()
    offset, = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * 64) for i in range(count)]

    def name(header):
        start = headers[names][4] + header[0]
        return data[start:data.index(b"\0", start)].decode()

    return {name(h): b"" if h[1] == 8 else data[h[4]:h[4] + h[5]] for h in headers}


def check_module(ptxas, tool, folder, path):
    """(name, parse result, cubin result, rows)."""
    name = os.path.splitext(os.path.basename(path))[0]
    base = os.path.join(folder, name)
    run = subprocess.run([tool, "--print", base + ".printed.ptx", "--rows", base + ".rows", path],
                         capture_output=True, text=True)
    rows = {}
    if os.path.exists(base + ".rows"):
        rows = {int(r): int(n) for r, n in (line.split() for line in open(base + ".rows"))}
    if run.returncode:
        return name, run.stdout.strip()[:500] or "crash", "-", rows
    if not ptxas:
        return name, "parses", "not compared", rows
    original, printed = open(path).read(), open(base + ".printed.ptx").read()
    verdict = compare(ptxas, folder, name, original, printed)
    if verdict.startswith("different"):
        # The printer drops a .loc that repeats the one before and puts every statement on a line
        # of its own; ptxas schedules by such lines, with -g even by those of the PTX text.
        # The first changes are none: of some texts ptxas makes one of two codes, by chance.
        for change in (str, str, str, without_loc, laid_out, laid_out):
            if compare(ptxas, folder, name, change(original), change(printed)) == SAME:
                verdict = SAME if change is str else SAME_BUT_LINES
                break
    return name, "parses", verdict, rows


SAME, SAME_BUT_LINES = "same cubin", "same cubin but for lines"


def without_loc(text):
    return re.sub(r"(?m)^\s*\.loc\s.*\n", "", text)


def laid_out(text):
    """Without comments and .loc, one statement on each line."""
    text = without_loc(re.sub(r"//.*", "", text))
    text = re.sub(r"([;{}]|^\s*[\w$]+:(?!:))", r"\1\n", text, flags=re.M)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"


def compare(ptxas, folder, name, original, printed):
    target = re.search(r"\.target\s+(\w+)", original).group(1)
    flags = ["-arch=" + target] + (["-g"] if re.search(r"\.target.*\bdebug\b", original) else [])
    cubins = []
    for which, text in (("the original", original), ("the printed text", printed)):
        path = os.path.join(folder, name + ".ptx")  # the same path, which cubins quote
        with open(path, "w") as out:
            out.write(text)
        run = subprocess.run([ptxas, *flags, path, "-o", path + ".cubin"], capture_output=True, text=True)
        if run.returncode:
            return f"ptxas rejects {which}: " + run.stderr.strip()[:200]
        cubins.append(sections(path + ".cubin"))
    a, b = cubins
    different = sorted(s for s in set(a) | set(b) if a.get(s) != b.get(s) and s not in QUOTING
                       and not s.startswith((".rel.nv_debug", ".rel.debug_line")))
    return SAME if not different else "different: " + " ".join(different)[:200]


def family(name):
    return re.match(r"[a-z]+", name).group(0)


def write_table(path, results):
    groups = {}
    for name, parsed, cubin, _ in results:
        group = groups.setdefault(family(name), [0, 0, 0, 0])
        group[0] += 1
        group[1] += parsed == "parses"
        group[2] += cubin == SAME
        group[3] += cubin == SAME_BUT_LINES
    with open(path, "w") as out:
        out.write("| source | modules | parse | print to the same cubin | the same but for lines |\n|---|---|---|---|---|\n")
        for group, numbers in sorted(groups.items()):
            out.write(f"| {group} | " + " | ".join(map(str, numbers)) + " |\n")
        total = [sum(g[i] for g in groups.values()) for i in range(4)]
        out.write("| all | " + " | ".join(map(str, total)) + " |\n")


def check(options):
    paths = sorted(glob.glob(os.path.join(options.out, "*.ptx")))
    if not paths:
        print("no modules: run corpus.py generate first")
        return 77
    ptxas = find_tool("ptxas")
    results = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda p: check_module(ptxas, options.tool, folder, p), paths):
            results.append(result)
            if result[1] != "parses" or result[2] not in (SAME, SAME_BUT_LINES, "not compared"):
                print(f"{result[0]}: {result[1]}; {result[2]}", flush=True)
    if options.table:
        write_table(options.table, results)
    if options.rows:
        counts = {}
        for _, _, _, rows in results:
            for row, n in rows.items():
                modules, uses = counts.get(row, (0, 0))
                counts[row] = (modules + 1, uses + n)
        with open(options.rows, "w") as out:
            for row, (modules, uses) in sorted(counts.items()):
                out.write(f"{row}\t{modules}\t{uses}\n")
    bad = sum(r[1] != "parses" or r[2] not in (SAME, SAME_BUT_LINES, "not compared") for r in results)
    print(f"{len(results) - bad} passed, {bad} failed, 0 skipped")
    return bad != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("generate", "check"))
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "corpus"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--cutlass")
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "tests", "corpus", "corpus_check"))
    parser.add_argument("--table")
    parser.add_argument("--rows")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    return generate(options) if options.command == "generate" else check(options)


if __name__ == "__main__":
    sys.exit(main())
