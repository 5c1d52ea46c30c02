#!/usr/bin/env python3
"""Runs the one-file PTX tests of tests/isa on this machine's GPU and compares with their `want` lines.

    tests/gpu/run_isa.py [FILE|DIR…]        prints 'N passed, N failed, N skipped'

Needs the CUDA driver alone (libcuda through ctypes): the driver compiles each file's PTX. A test for
a newer architecture than the card's is skipped, as is one that expects something but `pass`.
"""

import ctypes
import os
import sys

import onefile

HERE = os.path.dirname(os.path.abspath(__file__))


class Driver:
    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
        self.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
        self.arch = major.value * 10 + minor.value

    def call(self, name, *args):
        code = getattr(self.cu, name)(*args)
        if code:
            raise RuntimeError("%s: error %d" % (name, code))

    def load(self, text):
        """A module from PTX text; the compiler's log is the error's message."""
        log = ctypes.create_string_buffer(16384)
        keys = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        module = ctypes.c_void_p()
        code = self.cu.cuModuleLoadDataEx(
            ctypes.byref(module), text.encode() + b"\0", 2, keys, values
        )
        if code:
            raise RuntimeError(
                "does not load (%d): %s" % (code, log.value.decode(errors="replace")[:400])
            )
        return module

    def run(self, test):
        """Launches the kernel; returns the bytes of each buffer parameter after it."""
        module = self.load(test.text)
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, test.entry.encode())
        buffers, params = {}, []
        for i, spec in enumerate(test.args):
            data, scalar = onefile.buffer_of(spec)
            if data is None:
                params.append(ctypes.create_string_buffer(scalar, len(scalar)))
                continue
            pointer = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(len(data), 1)))
            self.call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(len(data)))
            buffers[i] = (pointer, len(data))
            params.append(pointer)
        addresses = (ctypes.c_void_p * max(len(params), 1))(*[ctypes.addressof(p) for p in params])
        if test.shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, 8, test.shared)
        self.call(
            "cuLaunchKernel", function, *test.grid, *test.block, test.shared, None, addresses, None
        )
        self.call("cuCtxSynchronize")
        result = {}
        for i, (pointer, size) in buffers.items():
            host = ctypes.create_string_buffer(size)
            self.call("cuMemcpyDtoH_v2", host, pointer, ctypes.c_size_t(size))
            result[i] = host.raw
            self.call("cuMemFree_v2", pointer)
        self.call("cuModuleUnload", module)
        return result


def rows_of_want(test, param):
    """The statement that fills output `param`, for the message: the line before its address."""
    lines = test.text.splitlines()
    for i, line in enumerate(lines):
        if "[p%d]" % param in line:
            return " ".join(l.strip() for l in lines[max(0, i - 1) : i])
    return ""


def check(driver, path):
    """Returns 'passed', 'failed' or 'skipped' and prints what differs."""
    test = onefile.Test(path)
    arch = int("".join(c for c in test.target() if c.isdigit()))
    if arch > driver.arch or any(e.split()[0] != "pass" for e in test.expect):
        return "skipped"
    try:
        result = driver.run(test)
    except RuntimeError as e:
        print("FAIL %s: %s" % (path, e))
        return "failed"
    bad = 0
    for want in test.wants:
        wrong = list(want.differences(result[want.param]))
        if wrong:
            bad += 1
            text = ", ".join("[%d] want %s got 0x%x" % w for w in wrong[:6])
            print(
                "FAIL %s: parameter %d %s (%s): %d values differ: %s"
                % (path, want.param, want.type, rows_of_want(test, want.param), len(wrong), text)
            )
            if os.environ.get("ISA_INPUTS"):
                for arg in test.args[:3]:
                    if arg.startswith("list:"):
                        v = list(onefile.expand(arg[arg.index("[") + 1 : -1].split(",")))
                        print("    ", arg[:10], [v[w[0]] for w in wrong[:6]])
    return "failed" if bad else "passed"


def main():
    paths = []
    for root in sys.argv[1:] or [os.path.join(HERE, "..", "isa")]:
        if os.path.isdir(root):
            paths += [
                os.path.join(d, f)
                for d, _, files in os.walk(root)
                for f in files
                if f.endswith(".ptx")
            ]
        else:
            paths.append(root)
    driver = Driver()
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for path in sorted(paths):
        count[check(driver, path)] += 1
        if driver.cu.cuCtxSynchronize():
            print("the device is in error after %s: stopping" % path)
            break
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % count)
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
