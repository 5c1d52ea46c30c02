"""Runs one exported case on this machine's GPU many times, each time in fresh memory, and prints what it left.

    tests/gpu/agreement.py FOLDER/NAME.json TIMES LIMIT        started by run_agreement.py, a process for each case

Nothing is instrumented: the driver compiles the case's PTX (libcuda through ctypes), the kernels are launched as any
program would. What varies is what a program does not control: part of the repetitions find other values in the shared
memory of all multiprocessors and in memory that nobody wrote, part run beside a kernel that keeps some multiprocessors
and the memory busy. Needs numpy and xxhash, with which outcomes are digested as Outcome::digest does (src/vgpu/memory.cpp).
"""

import ctypes
import json
import os
import random
import re
import sys
import time

import numpy
import xxhash

P, U64, SIZE, U32 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_uint
NOT_READY, NOT_FOUND = 600, 500
COOPERATIVE, CLUSTER = 2, 4  # CUlaunchAttributeID
MAX_DYNAMIC_SHARED = 8  # CUfunction_attribute
MULTIPROCESSORS, SHARED_OPTIN = 16, 97  # CUdevice_attribute
SIGNATURES = {
    "cuMemAlloc_v2": [P, SIZE],
    "cuMemHostAlloc": [P, SIZE, U32],
    "cuMemcpyHtoD_v2": [U64, P, SIZE],
    "cuMemcpyDtoH_v2": [P, U64, SIZE],
    "cuMemcpyDtoDAsync_v2": [U64, U64, SIZE, P],
    "cuMemcpyDtoHAsync_v2": [P, U64, SIZE, P],
    "cuStreamCreate": [P, U32],
    "cuStreamQuery": [P],
    "cuModuleLoadDataEx": [P, P, U32, P, P],
    "cuModuleGetFunction": [P, P, ctypes.c_char_p],
    "cuModuleGetGlobal_v2": [P, P, P, ctypes.c_char_p],
    "cuFuncSetAttribute": [P, ctypes.c_int, ctypes.c_int],
    "cuLaunchKernelEx": [P, P, P, P],
    "cuDeviceGetAttribute": [P, ctypes.c_int, ctypes.c_int],
}

# Other contents for shared memory, and company. `company` reads and writes at scattered places until its time is over.
HELPERS = """.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 all[];
.visible .entry refill(.param .u32 words, .param .u32 value) {
  .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u32 %r0, [words]; ld.param.u32 %r1, [value]; mov.u32 %r2, %tid.x; mov.u32 %r3, all;
next: setp.ge.u32 %p, %r2, %r0; @%p bra done;
  shl.b32 %r4, %r2, 2; add.u32 %r4, %r4, %r3; xor.b32 %r5, %r1, %r2; and.b32 %r5, %r5, 0xffffff; or.b32 %r5, %r5, %r1;
  st.volatile.shared.u32 [%r4], %r5; add.u32 %r2, %r2, 1024; bra next;
done: ret;
}
.visible .entry company(.param .u64 memory, .param .u64 mask, .param .u64 duration) {
  .reg .b64 %d<8>; .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u64 %d0, [memory]; ld.param.u64 %d1, [mask]; ld.param.u64 %d2, [duration];
  mov.u64 %d3, %globaltimer; add.u64 %d3, %d3, %d2;
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 7919, %r0; cvt.u64.u32 %d4, %r0; mov.u32 %r2, 0;
again: mad.lo.u64 %d4, %d4, 6364136223846793005, 1442695040888963407; shr.u64 %d5, %d4, 20; and.b64 %d5, %d5, %d1;
  add.u64 %d5, %d5, %d0; ld.volatile.global.u32 %r3, [%d5]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%d5], %r3;
  red.global.add.u32 [%d5], 3; add.u32 %r2, %r2, 1; setp.ge.u32 %p, %r2, 20000; @%p bra done;
  mov.u64 %d6, %globaltimer; setp.lt.u64 %p, %d6, %d3; @%p bra again;
done: ret;
}
"""
COMPANY_BYTES = 32 << 20
# Multiplications and additions that ptxas may fuse (PTX manual, mul: without a rounding modifier); `.rn` forbids it.
FUSIBLE = re.compile(r"\b(mul|add|sub)((?:\.ftz)?(?:\.sat)?\.(?:f32|f64|f16|f16x2|bf16|bf16x2))\b")


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("padding", ctypes.c_int), ("value", U32 * 16)]


class Config(ctypes.Structure):
    _fields_ = [("grid", U32 * 3), ("block", U32 * 3), ("shared", U32), ("stream", P),
                ("attributes", ctypes.POINTER(Attribute)), ("count", U32)]


class Failure(Exception):
    """What ended the case: the driver's name of an error, or `hang`."""


class Unable(Exception):
    """Why this card cannot run the case at all."""


class Driver:
    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        for name, types in SIGNATURES.items():
            getattr(self.cu, name).argtypes = types
        self.call("cuInit", 0)
        context = P()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def check(self, code):
        if code:
            name = ctypes.c_char_p()
            self.cu.cuGetErrorName(code, ctypes.byref(name))
            raise Failure((name.value or b"CUDA error %d" % code).decode())

    def call(self, name, *args):
        self.check(getattr(self.cu, name)(*args))

    def attribute(self, which):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), which, 0)
        return value.value

    def allocate(self, size):
        address = U64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), max(size, 1))
        return address.value

    def stream(self):
        stream = P()
        self.call("cuStreamCreate", ctypes.byref(stream), 1)  # not waiting for the default stream
        return stream

    def module(self, text):
        log = ctypes.create_string_buffer(16384)
        keys, values = (ctypes.c_int * 2)(5, 6), (P * 2)(ctypes.addressof(log), len(log))  # error log, its size
        module = P()
        code = self.cu.cuModuleLoadDataEx(ctypes.byref(module), text.encode() + b"\0", 2, keys, values)
        if code:
            raise Unable("does not load (%d): %s" % (code, log.value.decode(errors="replace")[:300]))
        return module

    def function(self, module, name, shared=0):
        function = P()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        if shared:
            self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared)
        return function

    def variable(self, module, name):
        address, size = U64(), SIZE()
        code = self.cu.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, name.encode())
        if code == NOT_FOUND:
            raise Unable("the driver does not show the variable " + name)
        self.check(code)
        return address.value, size.value


class Launch:
    """A launch with its parameters packed once."""

    def __init__(self, function, stream, grid, block, shared, parameters, attributes=()):
        self.function, self.parameters = function, [ctypes.create_string_buffer(p, len(p)) for p in parameters]
        self.pointers = (P * max(len(parameters), 1))(*[ctypes.addressof(p) for p in self.parameters])
        self.attributes = (Attribute * max(len(attributes), 1))(*attributes)
        self.config = Config((U32 * 3)(*grid), (U32 * 3)(*block), shared, stream, self.attributes, len(attributes))

    def go(self, driver):
        driver.check(driver.cu.cuLaunchKernelEx(ctypes.byref(self.config), self.function, self.pointers, None))


def words(*values):
    return [value.to_bytes(size, "little") for value, size in values]


class Surroundings:
    """What a kernel finds on the card: shared memory that others used, and others at work."""

    def __init__(self, driver, stream):
        self.driver, self.stream, self.beside = driver, stream, driver.stream()
        module = driver.module(HELPERS)
        self.processors, shared = driver.attribute(MULTIPROCESSORS), driver.attribute(SHARED_OPTIN)
        self.shared, self.refill = shared, driver.function(module, "refill", shared)
        self.company, self.memory = driver.function(module, "company"), driver.allocate(COMPANY_BYTES)

    def other_shared_memory(self, value):
        parameters = words((self.shared // 4, 4), (value, 4))
        Launch(self.refill, self.stream, (self.processors, 1, 1), (1024, 1, 1), self.shared, parameters).go(self.driver)

    def some_company(self, dice):
        if self.driver.cu.cuStreamQuery(self.beside) == NOT_READY:
            return
        parameters = words((self.memory, 8), (COMPANY_BYTES - 4, 8), (dice.choice((10, 40, 160)) * 1000, 8))
        grid, block = dice.randint(1, 2 * self.processors), 32 * dice.randint(1, 32)
        Launch(self.company, self.beside, (grid, 1, 1), (block, 1, 1), 0, parameters).go(self.driver)


class Memory:
    """The buffers in one allocation, with room between them; the module's variables; both restored at once."""

    def __init__(self, driver, case, stream, module):
        self.driver, self.stream, self.case = driver, stream, case
        self.places, end = [], 0
        for buffer in case.head["buffers"]:
            # As the virtual GPU lays them: at 256, or at exactly the alignment that the case asks for.
            start = end + (buffer["align"] if buffer["align"] < 256 else 0)
            self.places.append((start, buffer["bytes"]))
            end = (start + buffer["bytes"] + 1024) // 256 * 256
        self.size, self.base, self.fills = end, driver.allocate(end), {}
        self.addresses = [self.base + start for start, _ in self.places]
        self.variables = [driver.variable(module, v["name"]) for v in case.head["globals"]]
        self.saved = [driver.allocate(size) for _, size in self.variables]
        for (address, size), copy in zip(self.variables, self.saved):
            driver.call("cuMemcpyDtoDAsync_v2", copy, address, size, stream)
        self.fresh = [self.content(address, size) for address, size in self.variables]
        for _, size in self.variables:
            self.places.append((end, size))
            end += (size + 255) // 256 * 256
        self.slot = max(end, 1)

    def content(self, address, size):
        host = numpy.zeros(size, numpy.uint8)
        self.driver.call("cuMemcpyDtoH_v2", host.ctypes.data, address, size)
        return host

    def regions(self, slot):
        """What a run left. An address that a variable was initialised with, and still has, reads as on the virtual GPU."""
        found = [slot[start:start + size] for start, size in self.places]
        count = len(self.case.head["buffers"])
        for i, (variable, fresh) in enumerate(zip(self.case.head["globals"], self.fresh)):
            for offset, value in variable["addresses"]:
                here = slice(offset, offset + 8)
                if numpy.array_equal(found[count + i][here], fresh[here]):
                    found[count + i] = found[count + i].copy()
                    found[count + i][here] = numpy.frombuffer(value.to_bytes(8, "little"), numpy.uint8)
        return found

    def initial(self, fill):
        """A copy on the device of what the buffers hold before; `fill` where nobody wrote."""
        if fill not in self.fills:
            image = numpy.full(max(self.size, 1), fill, numpy.uint8)
            for buffer, (start, _) in zip(self.case.head["buffers"], self.places):
                data = self.case.blob(buffer["data"])
                image[start:start + len(data)] = data
            self.fills[fill] = self.driver.allocate(self.size)
            self.driver.call("cuMemcpyHtoD_v2", self.fills[fill], image.ctypes.data, self.size)
            self.driver.call("cuCtxSynchronize")  # its last part may still be on the way, and our stream would not wait
        return self.fills[fill]

    def restore(self, fill):
        if self.size:
            self.driver.call("cuMemcpyDtoDAsync_v2", self.base, self.initial(fill), self.size, self.stream)
        for (address, size), copy in zip(self.variables, self.saved):
            self.driver.call("cuMemcpyDtoDAsync_v2", address, copy, size, self.stream)

    def fetch(self, host):
        if self.size:
            self.driver.call("cuMemcpyDtoHAsync_v2", host, self.base, self.size, self.stream)
        for (address, size), (start, _) in zip(self.variables, self.places[len(self.case.head["buffers"]):]):
            self.driver.call("cuMemcpyDtoHAsync_v2", host + start, address, size, self.stream)


class Case:
    def __init__(self, path):
        self.head, folder = json.load(open(path)), os.path.dirname(path)
        self.data = numpy.fromfile(os.path.join(folder, self.head["data"]), numpy.uint8)
        self.ptx = open(os.path.join(folder, self.head["ptx"])).read()
        # For each outcome's mask: a mask of bytes and the bits, or None, for each region.
        self.masks = [[None if region is None else self.mask(region) for region in mask]
                      for mask in self.head["masks"]]
        self.counted = None  # bytes that count in some outcome
        if self.masks:
            self.counted = [None if any(m[r] is None for m in self.masks)
                            else numpy.bitwise_or.reduce([m[r][0] for m in self.masks])
                            for r in range(len(self.masks[0]))]

    def blob(self, place):
        return self.data[place[0]:place[0] + place[1]]

    def mask(self, place):
        bits = self.blob(place)
        return numpy.unpackbits(bits, bitorder="little") * numpy.uint8(255), bits.tobytes()

    def functions(self):
        found = {name for l in self.head["launches"] for a in l["arguments"] for _, name in a.get("functions", [])}
        return sorted(found)

    def text(self):
        """The PTX, with a kernel behind it for each function whose address is an argument: it tells the address."""
        extra = "\n.visible .entry assay_address_%d(.param .u64 to) {\n  .reg .b64 %%a, %%b;\n  ld.param.u64 %%a, [to];\n" \
                "  mov.u64 %%b, %s;\n  st.global.u64 [%%a], %%b;\n  ret;\n}\n"
        return self.ptx + "".join(extra % (i, name) for i, name in enumerate(self.functions()))

    def key(self, regions):
        """What two runs must agree in to be one outcome."""
        hasher = xxhash.xxh3_128()
        for region, counts in zip(regions, self.counted or [None] * len(regions)):
            hasher.update(region.tobytes() if counts is None else (region & counts[:len(region)]).tobytes())
        return hasher.hexdigest()

    def known_as(self, regions):
        """The first outcome of the virtual GPU that has these bytes, or None."""
        digests = {}
        for i, outcome in enumerate(self.head["outcomes"]):
            if outcome["mask"] not in digests:
                hasher = xxhash.xxh3_128()
                for region, mask in zip(regions, self.masks[outcome["mask"]]):
                    hasher.update(region.tobytes() if mask is None else (region & mask[0][:len(region)]).tobytes())
                    if mask is not None:
                        hasher.update(mask[1])
                digests[outcome["mask"]] = hasher.hexdigest()
            if digests[outcome["mask"]] == outcome["digest"]:
                return i
        return None

    def first_difference(self, regions):
        """Against the virtual GPU's first outcome: how many bytes, and where they begin."""
        if "memory" not in self.head or not self.masks:
            return None
        names = [b["name"] for b in self.head["buffers"] + self.head["globals"]]
        first, count = None, 0
        for name, region, place, mask in zip(names, regions, self.head["memory"], self.masks[0]):
            wanted = self.blob(place)
            differs = (region != wanted) if mask is None else ((region ^ wanted) & mask[0][:len(region)]) != 0
            where = numpy.flatnonzero(differs)
            count += len(where)
            if first is None and len(where):
                at = int(where[0]) & ~3
                first = {"where": name, "offset": at, "hardware": region[at:at + 16].tobytes().hex(),
                         "virtual": wanted[at:at + 16].tobytes().hex()}
        return first and dict(first, bytes=count)


class Runner:
    # Name, share of the repetitions, what unwritten memory holds, contents for shared memory, company.
    PHASES = (("alone", 0.4, 0xA5, None, False), ("refilled", 0.2, 0x00, 0x7F000000, False),
              ("company", 0.2, 0xA5, None, True), ("both", 0.2, 0x3C, 0, True))
    MOST = 64  # outcomes of which more than the count is kept

    def __init__(self, case, limit, fused=True):
        self.case, self.limit, self.driver = case, limit, Driver()
        self.stream = self.driver.stream()
        module = self.driver.module(case.text() if fused else FUSIBLE.sub(r"\1.rn\2", case.text()))
        self.memory = Memory(self.driver, case, self.stream, module)
        self.around = Surroundings(self.driver, self.stream)
        addresses = self.function_addresses(module)
        self.launches = [self.launch(module, l, addresses) for l in case.head["launches"]]
        # Where a run may break the context, what came before it should be known.
        self.slots = 1 if case.head["verdict"] != "pass" else max(1, min(16, (16 << 20) // self.memory.slot))
        host = P()
        self.driver.call("cuMemHostAlloc", ctypes.byref(host), self.slots * self.memory.slot, 0)
        self.host = host.value
        raw = (ctypes.c_uint8 * (self.slots * self.memory.slot)).from_address(self.host)
        self.view = numpy.frombuffer(raw, numpy.uint8).reshape(self.slots, self.memory.slot)
        self.outcomes, self.done = {}, 0

    def function_addresses(self, module):
        found, at = {}, self.driver.allocate(8)
        for i, name in enumerate(self.case.functions()):
            kernel = self.driver.function(module, "assay_address_%d" % i)
            Launch(kernel, self.stream, (1, 1, 1), (1, 1, 1), 0, words((at, 8))).go(self.driver)
            self.driver.call("cuCtxSynchronize")
            value = U64()
            self.driver.call("cuMemcpyDtoH_v2", ctypes.byref(value), at, 8)
            found[name] = value.value
        return found

    def launch(self, module, head, addresses):
        parameters = []
        for argument in head["arguments"]:
            data = bytearray(self.case.blob(argument["bytes"]).tobytes())
            for offset, buffer, addend in argument.get("pointers", []):
                value = self.memory.addresses[buffer] + addend & (1 << 64) - 1
                data[offset:offset + 8] = value.to_bytes(8, "little")
            for offset, name in argument.get("functions", []):
                data[offset:offset + 8] = addresses[name].to_bytes(8, "little")
            parameters.append(bytes(data))
        attributes = []
        if head["cooperative"]:
            attributes.append(Attribute(COOPERATIVE, 0, (U32 * 16)(1)))
        if head["cluster"] != [1, 1, 1]:
            attributes.append(Attribute(CLUSTER, 0, (U32 * 16)(*head["cluster"])))
        function = self.driver.function(module, head["symbol"], head["shared"])
        return Launch(function, self.stream, head["grid"], head["block"], head["shared"], parameters, attributes)

    def wait(self):
        end = time.monotonic() + self.limit
        while True:
            code = self.driver.cu.cuStreamQuery(self.stream)
            if code != NOT_READY:
                return self.driver.check(code)
            if time.monotonic() > end:
                raise Failure("hang")

    def some(self, count, phase):
        name, _, fill, shared, company = phase
        for slot in range(count):
            self.memory.restore(fill)
            if shared is not None:
                self.around.other_shared_memory(shared)
            if company:
                self.around.some_company(self.dice)
            for launch in self.launches:
                launch.go(self.driver)
            self.memory.fetch(self.host + slot * self.memory.slot)
        self.wait()
        for slot in range(count):
            self.take(self.memory.regions(self.view[slot]), name)

    def take(self, regions, phase):
        self.done += 1
        key = self.case.key(regions)
        if key not in self.outcomes:
            self.outcomes[key] = {"known": self.case.known_as(regions), "phases": {}, "digest": key}
            if len(self.outcomes) <= self.MOST and self.outcomes[key]["known"] != 0:
                self.outcomes[key]["difference"] = self.case.first_difference(regions)
        phases = self.outcomes[key]["phases"]
        phases[phase] = phases.get(phase, 0) + 1

    def run(self, times, seed=1):
        self.dice, ended = random.Random(seed), None
        begin = time.monotonic()
        try:
            for phase in self.PHASES:
                left = round(times * phase[1])
                while left:
                    count = min(self.slots, left)
                    self.some(count, phase)
                    left -= count
        except Failure as failure:
            ended = str(failure)
        found = sorted(self.outcomes.values(), key=lambda o: -sum(o["phases"].values()))
        outside = [o for o in found if o["known"] is None]
        return {"done": self.done, "ended": ended, "distinct": len(found), "outside": len(outside),
                "outside_runs": sum(sum(o["phases"].values()) for o in outside), "outcomes": found[:self.MOST],
                "seconds": round(time.monotonic() - begin, 3)}


def main():
    path, times, limit = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    try:
        case = Case(path)
        result = Runner(case, limit).run(times)
        if result["done"] == times and result["distinct"] == result["outside"] == 1 and FUSIBLE.search(case.ptx):
            result["unfused"] = Runner(case, limit, False).run(times)
    except Unable as why:
        result = {"unable": re.sub(r"\s+", " ", str(why))}
    except Failure as why:
        result = {"unable": "before the first run: " + str(why)}
    print(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)  # not through the driver's own end, which waits for kernels that hang


if __name__ == "__main__":
    main()
