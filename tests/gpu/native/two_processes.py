"""Two processes share device memory by IPC, and a kernel of one waits for the other: a launch that must be
skipped with its reason, not hung. Needs libcuda alone; kernels are PTX. Prints `done` when both ended.
"""

import ctypes
import multiprocessing
import sys

PTX = b"""
.version 7.8
.target sm_70
.address_size 64
.visible .entry ping(.param .u64 flags, .param .u32 mine, .param .u32 theirs) {
  .reg .u64 %p; .reg .u32 %m, %t, %v; .reg .pred %q;
  ld.param.u64 %p, [flags];
  ld.param.u32 %m, [mine];
  ld.param.u32 %t, [theirs];
  mul.wide.u32 %p, %m, 4;
  .reg .u64 %base;
  ld.param.u64 %base, [flags];
  add.u64 %p, %p, %base;
  atom.global.sys.exch.b32 %v, [%p], 1;
  mul.wide.u32 %p, %t, 4;
  add.u64 %p, %p, %base;
wait:
  ld.volatile.global.u32 %v, [%p];
  setp.eq.u32 %q, %v, 0;
  @%q bra wait;
  ret;
}
"""


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def check(code):
    if code:
        raise RuntimeError("CUDA error %d" % code)


def start():
    cu = ctypes.CDLL("libcuda.so.1")
    check(cu.cuInit(0))
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(cu.cuDeviceGet(ctypes.byref(device), 0))
    check(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cu.cuCtxSetCurrent(context))
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    check(cu.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cu.cuModuleGetFunction(ctypes.byref(kernel), module, b"ping"))
    return cu, kernel


def launch(cu, kernel, memory, mine):
    words = [ctypes.c_uint64(memory), ctypes.c_uint32(mine), ctypes.c_uint32(1 - mine)]
    pointers = (ctypes.c_void_p * 3)(*[ctypes.cast(ctypes.byref(w), ctypes.c_void_p) for w in words])
    check(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, pointers, None))
    check(cu.cuCtxSynchronize())


def other(handle_bytes):
    cu, kernel = start()
    handle = Handle.from_buffer_copy(handle_bytes)
    memory = ctypes.c_uint64()
    check(cu.cuIpcOpenMemHandle_v2(ctypes.byref(memory), handle, 1))
    launch(cu, kernel, memory.value, 1)


def main():
    multiprocessing.set_start_method("spawn")
    cu, kernel = start()
    memory = ctypes.c_uint64()
    check(cu.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)))
    check(cu.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(4096)))
    check(cu.cuCtxSynchronize())
    handle = Handle()
    check(cu.cuIpcGetMemHandle(ctypes.byref(handle), memory))
    peer = multiprocessing.Process(target=other, args=(bytes(handle),))
    peer.start()
    launch(cu, kernel, memory.value, 0)
    peer.join()
    print("done", peer.exitcode)
    return peer.exitcode


if __name__ == "__main__":
    sys.exit(main())
