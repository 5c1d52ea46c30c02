"""record.py [NAME…]: the case files of CUB's device primitives.

Each .cu here calls one of them on buffers 0, 1, …. It is compiled for the host too, linked with recorder.cpp, and run:
which kernels are launched, in which grids and with which arguments is what CUB's own dispatch does on a
GPU of sm_80 with four multiprocessors. Addresses among the arguments become buffers again; the temporary storage
becomes a buffer for each address into it.
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KERNEL = 'kernel = {{file = "{0}.cu", entry = "{1}", arch = "sm_80"}}'
REGENERATE = HERE.parents[2] / "cases" / "regenerate"


def buffer(kind, dtype, *shape, **more):
    return {"kind": kind, "dtype": dtype, "shape": list(shape), **more}


def out(dtype, *shape, **more):
    return buffer("out", dtype, *shape, want=True, **more)


BUFFERS = {
    "device_reduce": {"x": buffer("in", "f32", 20000, domain="[-1, 1)"), "sum": out("f32", 1, within=1e-1)},
    "device_scan": {"x": buffer("in", "s32", 20000), "y": out("s32", 20000)},
    "device_radix_sort": {"keys": buffer("in", "u32", 9000, family="uniform"), "keys_out": out("u32", 9000),
                          "values": buffer("in", "s32", 9000, family="structure/iota"), "values_out": out("s32", 9000)},
    "device_radix_sort_digit": {"keys": buffer("in", "u32", 9000, family="uniform"), "keys_out": out("u32", 9000),
                                "values": buffer("in", "s32", 9000, family="structure/iota"), "values_out": out("s32", 9000)},
    "device_select": {"x": buffer("in", "s32", 20000, domain="[0, 3)"), "y": out("s32", 20000, written="partial", fill=0),
                      "count": out("s32", 1)},
    "device_partition": {"x": buffer("in", "s32", 20000), "flags": buffer("in", "u8", 20000, domain="[0, 2)"),
                         "y": out("s32", 20000), "count": out("s32", 1)},
    "device_histogram": {"x": buffer("in", "f32", 20000, domain="[-1.25, 1.25)"), "counts": out("s32", 100)},
    "device_run_length_encode": {"x": buffer("in", "s32", 20000, domain="[0, 2)"), "values": out("s32", 20000, written="partial", fill=0),
                                 "lengths": out("s32", 20000, written="partial", fill=0), "count": out("s32", 1)},
    "device_reduce_by_key": {"keys": buffer("in", "s32", 15360, domain="[0, 2)"), "keys_out": out("s32", 15360, written="partial", fill=0),
                             "values": buffer("in", "s32", 15360), "sums": out("s32", 15360, written="partial", fill=0),
                             "count": out("s32", 1)},
    "device_segmented_reduce": {"x": buffer("in", "f32", 20000, domain="[-1, 1)"), "sums": out("f32", 40, within=1e-2),
                                "offsets": buffer("in", "s32", 41, file="device_segmented_reduce.offsets.npy")},
    "device_merge_sort": {"keys": buffer("inout", "s32", 12000, domain="[-500, 500)", want=True),
                          "values": buffer("inout", "s32", 12000, family="structure/iota", want=True)},
    "device_adjacent_difference": {"x": buffer("in", "s32", 20000), "y": out("s32", 20000)},
    "device_unique_by_key": {"keys": buffer("in", "s32", 20000, domain="[0, 2)"), "values": buffer("in", "s32", 20000),
                             "keys_out": out("s32", 20000, written="partial", fill=0),
                             "values_out": out("s32", 20000, written="partial", fill=0), "count": out("s32", 1)},
}


# Parts of the temporary storage that the dispatch addresses piece by piece and a kernel as a whole: the
# digits' bins of all passes.
WHOLE = {"device_radix_sort": [(0, 4096)], "device_radix_sort_digit": [(0, 1024)]}


def parameters_of(ptx):
    """Kernel -> (type, bytes) of each parameter."""
    sizes = {"u64": 8, "b64": 8, "s64": 8, "f64": 8, "u32": 4, "b32": 4, "s32": 4, "f32": 4, "u16": 2, "b16": 2, "s16": 2,
             "u8": 1, "b8": 1, "s8": 1}
    found = {}
    for name, text in re.findall(r"\.entry (\w+)\(\n(.*?)\n\)", ptx, re.S):
        found[name] = [(kind, int(count[1:-1]) if count else sizes[kind])
                       for kind, count in re.findall(r"\.param (?:\.align \d+ )?\.(\w+)[^,\n]*?(\[\d+\])?,?$", text, re.M)]
    return found


def make_ptx(name):
    """By cases/regenerate, which compiles every .cu of a folder: the others have no part in this."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".cu", ".toml", ".ptx"):
            file = HERE / f"{name}{suffix}"
            if file.exists():
                pathlib.Path(folder, file.name).write_bytes(file.read_bytes())
        subprocess.run([REGENERATE, folder], check=True, stdout=subprocess.DEVNULL)
        (HERE / f"{name}.ptx").write_bytes(pathlib.Path(folder, f"{name}.ptx").read_bytes())


def record(name, buffers, parameters):
    with tempfile.TemporaryDirectory() as folder:
        program, table = f"{folder}/program", pathlib.Path(folder, "parameters")
        table.write_text("".join(f"{k} {' '.join(str(b) for _, b in p)}\n" for k, p in parameters.items()))
        subprocess.run(["nvcc", "-std=c++17", "-arch=sm_80", "-cudart", "none",
                        "-Xcompiler=-ftrivial-auto-var-init=zero", "-o", program, f"{name}.cu", "recorder.cpp"],
                       cwd=HERE, check=True)
        done = subprocess.run([program, table, str(len(buffers))], capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


class Writer:
    def __init__(self, name, buffers, parameters):
        self.name, self.buffers, self.parameters = name, list(buffers), parameters
        self.temp_bytes, self.temp = 0, set()
        self.arguments, self.launches = [], []

    def place(self, word):
        """(buffer, offset) of an address, or None."""
        index, offset = (word >> 40) - 1, word & (1 << 40) - 1
        if word >> 56 or not 0 <= index <= len(self.buffers):
            return None
        if index == len(self.buffers):
            start = next((a for a, b in WHOLE.get(self.name, []) if a <= offset < b), offset)
            self.temp.add(start)
            return f"temp_{start}", offset - start
        return self.buffers[index], offset

    def scalar(self, value, dtype, prefix=""):
        return f'{prefix}kind = "scalar", dtype = "{dtype}", value = "{value}"'

    def fields(self, data):
        out, at = [], 0
        while at < len(data):
            if at % 8 == 0 and at + 8 <= len(data):
                place = self.place(struct.unpack_from("<Q", data, at)[0])
                if place:
                    assert place[1] == 0, "an address inside a buffer, in a struct"
                    out.append(f'{{offset = {at}, same = "{place[0]}"}}')
                    at += 8
                    continue
            width = 4 if at % 4 == 0 and at + 4 <= len(data) else 1
            value = int.from_bytes(data[at:at + width], "little")
            if value:
                out.append("{" + self.scalar(value, {4: "u32", 1: "u8"}[width], f"offset = {at}, ") + "}")
            at += width
        return ", ".join(out)

    def argument(self, kind, data, label):
        """The name of an argument with these bytes."""
        word = int.from_bytes(data, "little")
        place = self.place(word) if len(data) == 8 and kind != "b8" else None
        if place and place[1] == 0:
            return place[0]
        if place:
            text = f'same = "{place[0]}", offset = {place[1]}'
        elif kind == "b8" and len(data) > 1 or kind == "b8":
            text = f'kind = "struct", size = {len(data)}, fields = [{self.fields(data)}]'
        else:
            text = self.scalar(hex(word), "b" + str(8 * len(data)))
        self.arguments.append(f'  {{name = "{label}", {text}}},')
        return label

    def launch(self, entry, grid, block, shared, names):
        self.launches.append(f'[[launch]]\nentry = "{entry}"\ngrid = [{grid}]\nblock = [{block}]\n'
                             + (f"shared = {shared}\n" if shared else "") + f"args = [{', '.join(chr(34) + n + chr(34) for n in names)}]\n")

    def event(self, words):
        number = len(self.launches)
        if words[0] == "temp":
            self.temp_bytes = int(words[1])
        elif words[0] == "memset":
            self.memset(int(words[1], 16) & (1 << 40) - 1, int(words[2]), int(words[3]))
        else:
            kinds = self.parameters[words[1]]
            # An empty struct has a byte that nobody writes.
            names = [self.argument(kind, bytes.fromhex(d) if size > 1 or kind != "b8" else b"\0", f"l{number}p{i}")
                     for i, ((kind, size), d) in enumerate(zip(kinds, words[5:]))]
            self.launch(words[1], words[2], words[3], int(words[4]), names)

    def memset(self, offset, value, size):
        """Of a part of the temporary storage, which may be several buffers here."""
        starts = sorted(self.temp | {offset})
        for start, end in zip(starts, [*starts[1:], self.temp_bytes]):
            if start < offset or start >= offset + size:
                continue
            number = len(self.launches)
            self.arguments.append(f'  {{name = "value{number}", {self.scalar(value, "s32")}}},')
            self.arguments.append(f'  {{name = "bytes{number}", {self.scalar(min(end, offset + size) - start, "u64")}}},')
            self.temp.add(start)
            self.launch("fill", 8, 128, 0, [f"temp_{start}", f"value{number}", f"bytes{number}"])

    def text(self, buffers):
        lines = ["# Launches as CUB's dispatch makes them; written by record.py.",
                 KERNEL.format(self.name, re.search(r'entry = "(\w+)"', self.launches[0])[1]), "arg = ["]
        for name, b in buffers.items():
            keys = [f'name = "{name}"']
            for key, value in b.items():
                value = f"{self.name}.{name}.npy" if value is True else value
                keys.append(f"{key} = " + (f'"{value}"' if isinstance(value, str) else str(value)))
            lines.append("  {" + ", ".join(keys) + "},")
        for offset, end in zip(sorted(self.temp), [*sorted(self.temp)[1:], self.temp_bytes]):
            lines.append(f'  {{name = "temp_{offset}", kind = "scratch", dtype = "u8", shape = [{max(end - offset, 1)}]}},')
        return "\n".join([*lines, *self.arguments, "]", "", *self.launches])


def main():
    for name, buffers in BUFFERS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        case = HERE / f"{name}.toml"
        if not case.exists():
            case.write_text(KERNEL.format(name, "k") + "\n")
        make_ptx(name)
        print(name, flush=True)
        parameters = parameters_of((HERE / f"{name}.ptx").read_text())
        writer = Writer(name, buffers, parameters)
        try:
            events = record(name, buffers, parameters)
        except subprocess.CalledProcessError as error:
            print(name, "failed:", error)
            continue
        for words in events:  # once more when every address into the temporary storage is known
            writer.event(words)
        known, writer = writer.temp, Writer(name, buffers, parameters)
        writer.temp = known
        for words in events:
            writer.event(words)
        text = writer.text(buffers)
        if case.read_text() != text:
            case.write_text(text)
            print("wrote", case)


main()
