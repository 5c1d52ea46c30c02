"""Calls and what lives on a stack (PTX ISA 9.7.12, 9.7.17, 7)."""

from .control import FLOW, out
from .emit import Free

FUNCTIONS = """
.func (.param .b32 r) twice(.param .b32 a)
{
    .reg .b32 %x;
    ld.param.b32 %x, [a];
    shl.b32 %x, %x, 1;
    st.param.b32 [r], %x;
    ret;
}
.func (.param .b32 r) square(.param .b32 a)
{
    .reg .b32 %x;
    ld.param.b32 %x, [a];
    mul.lo.u32 %x, %x, %x;
    st.param.b32 [r], %x;
    ret;
}
.func (.param .b32 r) negate(.param .b32 a)
{
    .reg .b32 %x;
    ld.param.b32 %x, [a];
    neg.s32 %x, %x;
    st.param.b32 [r], %x;
    ret;
}
.global .align 8 .u64 functions[3] = {twice, square, negate};
"""
CALL = "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %s;\n%s\nld.param.b32 %s, [r];\n}\n"


def calls():
    yield Free(
        "control-flow/call-direct",
        FLOW + "call",
        "Values by .param and by register, in uniform and divergent code.",
        ["call", "call.uni"],
        ["out:128"],
        [(0, "u32", [(i * 2) ** 2 + (i + 7 if i % 2 else 2 * (i + 7)) + i + 3 for i in range(32)])],
        CALL % ("%lane", "call.uni (r), twice, (a);", "%r1")
        + CALL % ("%r1", "call.uni (r), square, (a);", "%r2")
        + "add.u32 %r3, %lane, 7;\nand.b32 %r4, %lane, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra SKIP;\n"
        + CALL % ("%r3", "call (r), twice, (a);", "%r3")
        + "SKIP:\nadd.u32 %r2, %r2, %r3;\ncall (%r5), addregs, (%lane, 3);\nadd.u32 %r2, %r2, %r5;\n"
        + out("%r2"),
        module=FUNCTIONS
        + ".func (.reg .b32 r) addregs(.reg .b32 a, .reg .b32 b)\n{\n    add.u32 r, a, b;\n    ret;\n}",
    )


def indirect_calls():
    yield Free(
        "control-flow/call-indirect",
        FLOW + "call",
        "Lanes call different functions through a pointer: with a prototype, a target list and a table in memory.",
        ["call (indirect)"],
        ["out:128"],
        [
            (
                0,
                "b32",
                [
                    (lambda f, g: (f + g) & 0xFFFFFFFF)(
                        (2 * (i + 1), (i + 1) ** 2, -(i + 1))[i % 3], (i * i if i % 2 else 2 * i)
                    )
                    for i in range(32)
                ],
            )
        ],
        """
               proto: .callprototype (.param .b32 _) _ (.param .b32 _);
               rem.u32 %r1, %lane, 3;
               mul.wide.u32 %rd2, %r1, 8;
               mov.u64 %rd3, functions;
               add.s64 %rd3, %rd3, %rd2;
               ld.global.u64 %rd4, [%rd3];
               add.u32 %r2, %lane, 1;
               """
        + CALL % ("%r2", "call (r), %rd4, (a), proto;", "%r3")
        + """
               and.b32 %r4, %lane, 1;
               setp.ne.u32 %p1, %r4, 0;
               mov.u64 %rd5, twice;
               @%p1 mov.u64 %rd5, square;
               list: .calltargets twice, square;
               """
        + CALL % ("%lane", "call (r), %rd5, (a), list;", "%r5")
        + "add.u32 %r3, %r3, %r5;\n"
        + out("%r3"),
        module=FUNCTIONS,
    )


def recursion():
    fib = [0, 1]
    while len(fib) < 16:
        fib.append(fib[-1] + fib[-2])
    yield Free(
        "control-flow/call-recursion",
        FLOW + "call",
        "Fibonacci of lane mod 16 by plain recursion, each lane to its own depth.",
        ["call (recursive)"],
        ["out:128"],
        [(0, "u32", [fib[i % 16] for i in range(32)])],
        "and.b32 %r1, %lane, 15;\n" + CALL % ("%r1", "call.uni (r), fib, (a);", "%r2") + out("%r2"),
        module="""
.func (.param .b32 r) fib(.param .b32 a)
{
    .reg .b32 %n, %m, %x, %y; .reg .pred %p;
    ld.param.b32 %n, [a];
    setp.lt.u32 %p, %n, 2;
    @%p bra BASE;
    sub.u32 %m, %n, 1;
    { .param .b32 a0; .param .b32 r0;
    st.param.b32 [a0], %m;
    call (r0), fib, (a0);
    ld.param.b32 %x, [r0]; }
    sub.u32 %m, %n, 2;
    { .param .b32 a0; .param .b32 r0;
    st.param.b32 [a0], %m;
    call (r0), fib, (a0);
    ld.param.b32 %y, [r0]; }
    add.u32 %n, %x, %y;
BASE:
    st.param.b32 [r], %n;
    ret;
}
""",
    )


def struct_calls():
    yield Free(
        "control-flow/call-struct",
        FLOW + "call",
        "A structure of 24 bytes goes in, one of 16 comes out; the callee's copy is its own.",
        ["st.param.b64", "ld.param.b64"],
        ["out:1024"],
        [(0, "u64", [v for i in range(32) for v in (i + 1000, 3 * i, 7, 1000 + i * 3 + i)])],
        """
               cvt.u64.u32 %rd2, %lane;
               add.s64 %rd3, %rd2, 1000;
               mul.lo.s64 %rd4, %rd2, 3;
               {
               .param .align 8 .b8 s[24];
               .param .align 8 .b8 t[16];
               st.param.b64 [s], %rd3;
               st.param.b32 [s+8], 7;
               st.param.b64 [s+16], %rd4;
               call (t), shuffle, (s);
               ld.param.b64 %rd5, [t];
               ld.param.b64 %rd6, [t+8];
               }
               mul.wide.u32 %rd1, %lane, 32;
               add.s64 %rd1, %q0, %rd1;
               st.global.u64 [%rd1], %rd3;
               st.global.u64 [%rd1+8], %rd4;
               st.global.u64 [%rd1+16], %rd5;
               st.global.u64 [%rd1+24], %rd6;
               """,
        module="""
.func (.param .align 8 .b8 t[16]) shuffle(.param .align 8 .b8 s[24])
{
    .reg .b64 %x, %y; .reg .b32 %z; .reg .b64 %w;
    ld.param.b64 %x, [s];
    ld.param.b32 %z, [s+8];
    ld.param.b64 %y, [s+16];
    add.s64 %x, %x, %y;
    cvt.u64.u32 %w, %z;
    st.param.b64 [t], %w;
    st.param.b64 [t+8], %x;
    ret;
}
""",
    )


def stack():
    yield Free(
        "stack/alloca",
        "PTX ISA, Stack Manipulation Instructions: stacksave, stackrestore, alloca",
        "lane + 1 words on the stack, filled and summed; after stackrestore the next allocation starts where the first did.",
        ["stacksave.u64", "stackrestore.u64", "alloca.u64"],
        ["out:256"],
        [(0, "u32", [v for i in range(32) for v in (sum(k * k for k in range(i + 1)), 1)])],
        """
               stacksave.u64 %rd2;
               mov.u64 %rd3, 256;
               alloca.u64 %rd4, %rd3, 16;
               mov.u32 %r1, 0;
               mov.u64 %rd5, %rd4;
               FILL:
               mul.lo.u32 %r2, %r1, %r1;
               st.local.u32 [%rd5], %r2;
               add.s64 %rd5, %rd5, 4;
               add.u32 %r1, %r1, 1;
               setp.le.u32 %p1, %r1, %lane;
               @%p1 bra FILL;
               mov.u32 %r3, 0;
               mov.u64 %rd5, %rd4;
               SUM:
               ld.local.u32 %r2, [%rd5];
               add.u32 %r3, %r3, %r2;
               add.s64 %rd5, %rd5, 4;
               sub.u32 %r1, %r1, 1;
               setp.ne.u32 %p1, %r1, 0;
               @%p1 bra SUM;
               stackrestore.u64 %rd2;
               alloca.u64 %rd6, %rd3, 16;
               setp.eq.u64 %p2, %rd6, %rd4;
               stackrestore.u64 %rd2;
               selp.u32 %r4, 1, 0, %p2;
               mul.wide.u32 %rd1, %lane, 8;
               add.s64 %rd1, %q0, %rd1;
               st.global.v2.u32 [%rd1], {%r3, %r4};
               """,
    )


def local_arrays():
    yield Free(
        "stack/local-array",
        "PTX ISA, State Spaces, Types, and Variables: Local State Space",
        "Local memory is private: each lane indexes its own array with its own index, also through a generic pointer in a function.",
        ["ld.local.u32", "st.local.u32"],
        ["out:128"],
        [(0, "u32", [100 * i + (i * 5) % 16 + 1 for i in range(32)])],
        """
               .local .align 4 .b8 array[64];
               mov.u64 %rd2, array;
               mov.u32 %r1, 0;
               L:
               mad.lo.u32 %r2, %lane, 100, %r1;
               mul.wide.u32 %rd3, %r1, 4;
               add.s64 %rd4, %rd2, %rd3;
               st.local.u32 [%rd4], %r2;
               add.u32 %r1, %r1, 1;
               setp.lt.u32 %p1, %r1, 16;
               @%p1 bra L;
               mul.lo.u32 %r3, %lane, 5;
               and.b32 %r3, %r3, 15;
               mul.wide.u32 %rd3, %r3, 4;
               cvta.local.u64 %rd5, %rd2;
               add.s64 %rd5, %rd5, %rd3;
               {
               .param .b64 a;
               st.param.b64 [a], %rd5;
               call bump, (a);
               }
               add.s64 %rd4, %rd2, %rd3;
               ld.local.u32 %r4, [%rd4];
               """ + out("%r4"),
        module=""".func bump(.param .b64 a)
{
    .reg .b64 %at; .reg .b32 %x;
    ld.param.b64 %at, [a];
    ld.u32 %x, [%at];
    add.u32 %x, %x, 1;
    st.u32 [%at], %x;
    ret;
}""",
    )


def tables():
    for group in (calls, indirect_calls, recursion, struct_calls, stack, local_arrays):
        yield from group()
