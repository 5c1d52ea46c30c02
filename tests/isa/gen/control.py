"""Control flow, barriers, special registers, stack (PTX ISA 9.7.12, 9.7.13, 9.7.17, 10)."""

from .emit import Free, list_arg

FLOW = "PTX ISA, Control Flow Instructions: "
SYNC = "PTX ISA, Parallel Synchronization and Communication Instructions: "
OUT = "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd1, %q0, %rd1;\n"


def out(reg):
    return OUT + "st.global.u32 [%%rd1], %s;\n" % reg


def branches():
    collatz = []
    for i in range(64):
        n, steps = i + 1, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        collatz.append(steps)
    yield Free("control-flow/bra-loop", FLOW + "bra", "Collatz steps of lane + 1: a loop that each lane leaves at its own turn, with an if and else inside.",
               ["bra", "bra.uni"], ["out:256"], [(0, "u32", collatz)],
               """
               add.u32 %r1, %lane, 1;
               mov.u32 %r2, 0;
               LOOP:
               setp.eq.u32 %p1, %r1, 1;
               @%p1 bra DONE;
               and.b32 %r3, %r1, 1;
               setp.ne.u32 %p2, %r3, 0;
               @%p2 bra ODD;
               shr.u32 %r1, %r1, 1;
               bra.uni NEXT;
               ODD:
               mad.lo.u32 %r1, %r1, 3, 1;
               NEXT:
               add.u32 %r2, %r2, 1;
               bra LOOP;
               DONE:
               """ + out("%r2"), block="64")

    def nested(i):
        t = 0
        for a in range(i % 4 + 1):
            for b in range(i % 3):
                if (a + b + i) % 2:
                    continue
                t += 10 * a + b + 1
                if t > 60:
                    break
        return t
    yield Free("control-flow/bra-nested", FLOW + "bra", "Nested loops with continue and break; @!p and @p forms.", ["bra"], ["out:256"],
               [(0, "u32", [nested(i) for i in range(64)])],
               """
               rem.u32 %r1, %lane, 4;
               add.u32 %r1, %r1, 1;
               rem.u32 %r2, %lane, 3;
               mov.u32 %r3, 0;
               mov.u32 %r4, 0;
               OUTER:
               setp.ge.u32 %p1, %r3, %r1;
               @%p1 bra END;
               mov.u32 %r5, 0;
               INNER:
               setp.lt.u32 %p2, %r5, %r2;
               @!%p2 bra NEXTA;
               add.u32 %r6, %r3, %r5;
               add.u32 %r6, %r6, %lane;
               and.b32 %r6, %r6, 1;
               setp.ne.u32 %p3, %r6, 0;
               @%p3 bra NEXTB;
               mad.lo.u32 %r7, %r3, 10, %r5;
               add.u32 %r7, %r7, 1;
               add.u32 %r4, %r4, %r7;
               setp.gt.u32 %p4, %r4, 60;
               @%p4 bra NEXTA;
               NEXTB:
               add.u32 %r5, %r5, 1;
               bra INNER;
               NEXTA:
               add.u32 %r3, %r3, 1;
               bra OUTER;
               END:
               """ + out("%r4"), block="64")
    yield Free("control-flow/brx-idx", FLOW + "brx.idx", "Jump tables, divergent and uniform (.uni).", ["brx.idx", "brx.idx.uni"], ["out:128"],
               [(0, "u32", [(100, 200, 300, 7)[i % 4] + i + 2000 for i in range(32)])],
               """
               ts: .branchtargets A, B, C, D;
               tu: .branchtargets U0, U1;
               rem.u32 %r1, %lane, 4;
               brx.idx %r1, ts;
               A: mov.u32 %r2, 100; bra J;
               B: mov.u32 %r2, 200; bra J;
               C: mov.u32 %r2, 300; bra J;
               D: mov.u32 %r2, 7;
               J:
               add.u32 %r2, %r2, %lane;
               mov.u32 %r3, %nctaid.x;
               brx.idx.uni %r3, tu;
               U0: mov.u32 %r4, 1000; bra.uni K;
               U1: mov.u32 %r4, 2000;
               K:
               add.u32 %r2, %r2, %r4;
               """ + out("%r2"))
    yield Free("control-flow/guards", FLOW + "@", "Guarded instructions of every kind act in the lanes whose predicate holds (or not, with !).",
               ["@p", "@!p"], ["inlist:u32[5*64]"], [(0, "u32", [v for i in range(32) for v in ((100 + i, 6) if i % 3 == 0 else (5 + i, 5))])],
               """
               rem.u32 %r1, %lane, 3;
               setp.eq.u32 %p1, %r1, 0;
               mul.wide.u32 %rd1, %lane, 8;
               add.s64 %rd1, %q0, %rd1;
               mov.u32 %r2, 5;
               @%p1 mov.u32 %r2, 100;
               add.u32 %r2, %r2, %lane;
               @%p1 st.global.u32 [%rd1], %r2;
               @!%p1 atom.global.add.u32 %r3, [%rd1], %lane;
               @%p1 red.global.add.u32 [%rd1+4], 1;
               setp.gt.u32 %p2, %lane, 500;
               mov.u64 %rd2, 0;
               @%p2 st.global.u32 [%rd2], %r2;
               @%p2 trap;
               """)
    yield Free("control-flow/exit-ret", FLOW + "exit, ret", "Lanes that leave early, by exit inside a function and by ret at the top; the rest goes on and shuffles.",
               ["exit", "ret"], ["inlist:u32[9*32]"], [(0, "u32", [9 if i < 4 else 1 if i == 5 or i == 7 else 40 + (i ^ 16) if i >= 16 else 9 for i in range(32)])],
               """
               mul.wide.u32 %rd1, %lane, 4;
               add.s64 %rd1, %q0, %rd1;
               setp.lt.u32 %p1, %lane, 4;
               @%p1 exit;
               setp.lt.u32 %p2, %lane, 16;
               @%p2 bra LOW;
               xor.b32 %r2, %lane, 16;
               add.u32 %r2, %r2, 40;
               st.global.u32 [%rd1], %r2;
               ret;
               LOW:
               {
               .param .b64 a;
               .param .b32 b;
               st.param.b64 [a], %rd1;
               st.param.b32 [b], %lane;
               call maybe, (a, b);
               }
               """, module="""
.func maybe(.param .b64 a, .param .b32 b)
{
    .reg .b64 %at; .reg .b32 %l, %t; .reg .pred %p, %q;
    ld.param.b64 %at, [a];
    ld.param.b32 %l, [b];
    setp.eq.u32 %p, %l, 5;
    setp.eq.or.u32 %p, %l, 7, %p;
    @!%p exit;
    mov.u32 %t, 1;
    st.global.u32 [%at], %t;
    ret;
}
""")


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
    yield Free("control-flow/call-direct", FLOW + "call", "Values by .param and by register, in uniform and divergent code.", ["call", "call.uni"], ["out:128"],
               [(0, "u32", [(i * 2) ** 2 + (i + 7 if i % 2 else 2 * (i + 7)) + i + 3 for i in range(32)])],
               CALL % ("%lane", "call.uni (r), twice, (a);", "%r1") + CALL % ("%r1", "call.uni (r), square, (a);", "%r2") +
               "add.u32 %r3, %lane, 7;\nand.b32 %r4, %lane, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra SKIP;\n" + CALL % ("%r3", "call (r), twice, (a);", "%r3") +
               "SKIP:\nadd.u32 %r2, %r2, %r3;\ncall (%r5), addregs, (%lane, 3);\nadd.u32 %r2, %r2, %r5;\n" + out("%r2"),
               module=FUNCTIONS + ".func (.reg .b32 r) addregs(.reg .b32 a, .reg .b32 b)\n{\n    add.u32 r, a, b;\n    ret;\n}")
    yield Free("control-flow/call-indirect", FLOW + "call", "Lanes call different functions through a pointer: with a prototype, a target list and a table in memory.",
               ["call (indirect)"], ["out:128"],
               [(0, "b32", [(lambda f, g: (f + g) & 0xFFFFFFFF)((2 * (i + 1), (i + 1) ** 2, -(i + 1))[i % 3], (i * i if i % 2 else 2 * i)) for i in range(32)])],
               """
               proto: .callprototype (.param .b32 _) _ (.param .b32 _);
               rem.u32 %r1, %lane, 3;
               mul.wide.u32 %rd2, %r1, 8;
               mov.u64 %rd3, functions;
               add.s64 %rd3, %rd3, %rd2;
               ld.global.u64 %rd4, [%rd3];
               add.u32 %r2, %lane, 1;
               """ + CALL % ("%r2", "call (r), %rd4, (a), proto;", "%r3") +
               """
               and.b32 %r4, %lane, 1;
               setp.ne.u32 %p1, %r4, 0;
               mov.u64 %rd5, twice;
               @%p1 mov.u64 %rd5, square;
               list: .calltargets twice, square;
               """ + CALL % ("%lane", "call (r), %rd5, (a), list;", "%r5") + "add.u32 %r3, %r3, %r5;\n" + out("%r3"), module=FUNCTIONS)
    fib = [0, 1]
    while len(fib) < 16:
        fib.append(fib[-1] + fib[-2])
    yield Free("control-flow/call-recursion", FLOW + "call", "Fibonacci of lane mod 16 by plain recursion, each lane to its own depth.", ["call (recursive)"], ["out:128"],
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
""")
    yield Free("control-flow/call-struct", FLOW + "call", "A structure of 24 bytes goes in, one of 16 comes out; the callee's copy is its own.", ["st.param.b64", "ld.param.b64"], ["out:1024"],
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
               """, module="""
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
""")


def stack():
    yield Free("stack/alloca", "PTX ISA, Stack Manipulation Instructions: stacksave, stackrestore, alloca",
               "lane + 1 words on the stack, filled and summed; after stackrestore the next allocation starts where the first did.",
               ["stacksave.u64", "stackrestore.u64", "alloca.u64"], ["out:256"],
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
               """)
    yield Free("stack/local-array", "PTX ISA, State Spaces, Types, and Variables: Local State Space",
               "Local memory is private: each lane indexes its own array with its own index, also through a generic pointer in a function.",
               ["ld.local.u32", "st.local.u32"], ["out:128"], [(0, "u32", [100 * i + (i * 5) % 16 + 1 for i in range(32)])],
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
               """ + out("%r4"), module=""".func bump(.param .b64 a)
{
    .reg .b64 %at; .reg .b32 %x;
    ld.param.b64 %at, [a];
    ld.u32 %x, [%at];
    add.u32 %x, %x, 1;
    st.u32 [%at], %x;
    ret;
}""")


def barriers():
    n = 96
    rev = [1000 + n - 1 - i for i in range(n)]
    forms = ["bar.sync 0;", "bar.cta.sync 1;", "barrier.sync 2;", "barrier.sync.aligned 3;", "barrier.cta.sync 15;", "bar.sync 4, 96;", "barrier.sync 5, 96;", "bar.sync %r10;", "barrier.sync.aligned %r10, %r11;"]
    body = "mov.u32 %r10, 7;\nmov.u32 %r11, 96;\nmov.u32 %r1, sm;\nshl.b32 %r2, %lane, 2;\nadd.u32 %r3, %r1, %r2;\nmov.u32 %r4, 95;\nsub.u32 %r4, %r4, %lane;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\n" + OUT
    want = []
    for k, f in enumerate(forms):
        body += "add.u32 %%r5, %%lane, %d;\nst.shared.u32 [%%r3], %%r5;\n%s\nld.shared.u32 %%r6, [%%r4];\nst.global.u32 [%%rd1+%d], %%r6;\n%s\n" % (1000 + k, f, 384 * k, f)
        want += [v + k for v in rev]
    yield Free("synchronization/bar-sync", SYNC + "bar, barrier", "Three warps write and read mirrored through shared memory, by every form and number.",
               ["bar.sync", "barrier.sync", "barrier.sync.aligned"], ["out:%d" % (384 * len(forms))], [(0, "u32", want)], body, module=".shared .align 4 .b8 sm[384];", block="96")
    yield Free("synchronization/bar-partial", SYNC + "bar, barrier", "Two warps of four meet at barrier 1, the other two at barrier 2, all at 0.", ["bar.sync"], ["out:512"],
               [(0, "u32", [10 * (i // 64) + (i % 64 ^ 32) for i in range(128)])],
               """
               mov.u32 %r1, sm;
               shl.b32 %r2, %lane, 2;
               add.u32 %r3, %r1, %r2;
               and.b32 %r5, %lane, 63;
               shr.u32 %r6, %lane, 6;
               add.u32 %r7, %r6, 1;
               mad.lo.u32 %r8, %r6, 10, %r5;
               st.shared.u32 [%r3], %r8;
               bar.sync %r7, 64;
               xor.b32 %r4, %r3, 128;
               ld.shared.u32 %r9, [%r4];
               bar.sync 0;
               """ + out("%r9"), module=".shared .align 512 .b8 sm[512];", block="128")
    yield Free("synchronization/bar-arrive", SYNC + "bar, barrier", "Producer and consumer: warp 0 stores, arrives at 1 and waits at 2; warp 1 waits at 1, reads, arrives at 2. Three rounds.",
               ["bar.arrive", "barrier.arrive"], ["out:384"], [(0, "u32", [100 * r + i * 3 for r in range(3) for i in range(32)])],
               """
               and.b32 %r1, %lane, 31;
               mov.u32 %r2, sm;
               shl.b32 %r3, %r1, 2;
               add.u32 %r2, %r2, %r3;
               mov.u32 %r4, 0;
               mul.wide.u32 %rd1, %r1, 4;
               add.s64 %rd1, %q0, %rd1;
               setp.ge.u32 %p1, %lane, 32;
               @%p1 bra CONSUMER;
               PRODUCER:
               mul.lo.u32 %r5, %r4, 100;
               mad.lo.u32 %r5, %r1, 3, %r5;
               st.shared.u32 [%r2], %r5;
               bar.arrive 1, 64;
               bar.sync 2, 64;
               add.u32 %r4, %r4, 1;
               setp.lt.u32 %p2, %r4, 3;
               @%p2 bra PRODUCER;
               bra END;
               CONSUMER:
               bar.sync 1, 64;
               ld.shared.u32 %r6, [%r2];
               barrier.arrive 2, 64;
               st.global.u32 [%rd1], %r6;
               add.s64 %rd1, %rd1, 128;
               add.u32 %r4, %r4, 1;
               setp.lt.u32 %p2, %r4, 3;
               @%p2 bra CONSUMER;
               END:
               """, module=".shared .align 4 .b8 sm[128];", block="64")
    body, want = OUT, []
    preds = [("setp.lt.u32 %p1, %lane, 40;", [i < 40 for i in range(64)]), ("setp.lt.u32 %p1, %lane, 64;", [True] * 64), ("setp.gt.u32 %p1, %lane, 64;", [False] * 64)]
    k = 0
    for text, v in preds:
        for form in ("bar.red.popc.u32 %%r2, 0, %s;", "barrier.red.popc.u32 %%r2, 1, 64, %s;", "bar.red.and.pred %%p2, 2, %s;", "barrier.red.or.pred %%p2, 3, %s;", "barrier.red.and.aligned.pred %%p2, 0, 64, %s;"):
            for neg in ("", "!"):
                w = [x != bool(neg) for x in v]
                r = sum(w) if "popc" in form else int(all(w)) if ".and" in form else int(any(w))
                body += text + "\n" + form % (neg + "%p1") + "\n" + ("" if "popc" in form else "selp.u32 %r2, 1, 0, %p2;\n") + "st.global.u32 [%%rd1+%d], %%r2;\n" % (256 * k)
                want += [r] * 64
                k += 1
    yield Free("synchronization/bar-red", SYNC + "bar.red, barrier.red", "Count, and, or of a predicate (or its complement) over the block.",
               ["bar.red.popc.u32", "bar.red.and.pred", "bar.red.or.pred", "barrier.red.popc.u32"], ["out:%d" % (256 * k)], [(0, "u32", want)], body, block="64")
    fences = ["membar.cta;", "membar.gl;", "membar.sys;", "fence.sc.cta;", "fence.sc.gpu;", "fence.sc.sys;", "fence.acq_rel.cta;", "fence.acq_rel.gpu;", "fence.acq_rel.sys;", "fence.gpu;", "fence.proxy.alias;"]
    yield Free("synchronization/fence", SYNC + "membar, fence", "A thread reads its own stores across every fence. The last block to take a ticket sees the sums of all others: the pattern of a grid-wide reduction.",
               [f[:-1] for f in fences], ["inlist:u32[0*5]", "out:4"], [(0, "u32", [100, 101, 102, 103, 4]), (1, "u32", [406])],
               """
               mov.u32 %r1, %ctaid.x;
               mul.wide.u32 %rd1, %r1, 4;
               add.s64 %rd1, %q0, %rd1;
               add.u32 %r2, %r1, 100;
               setp.ne.u32 %p1, %lane, 0;
               @%p1 ret;
               st.global.u32 [%rd1], %r2;
               """ + "\n".join(fences) + """
               atom.global.add.u32 %r3, [%q0+16], 1;
               fence.acq_rel.gpu;
               setp.ne.u32 %p2, %r3, 3;
               @%p2 ret;
               ld.relaxed.gpu.global.u32 %r4, [%q0];
               ld.relaxed.gpu.global.u32 %r5, [%q0+4];
               ld.relaxed.gpu.global.u32 %r6, [%q0+8];
               ld.relaxed.gpu.global.u32 %r7, [%q0+12];
               add.u32 %r4, %r4, %r5;
               add.u32 %r6, %r6, %r7;
               add.u32 %r4, %r4, %r6;
               st.global.u32 [%q1], %r4;
               """, grid="4")
    yield Free("synchronization/message-passing", "PTX ISA, Memory Consistency Model: release and acquire patterns",
               "Block 0 stores data and releases a flag, block 1 spins with acquire loads and reads.", ["st.release.gpu.global.u32", "ld.acquire.gpu.global.u32", "nanosleep.u32"],
               ["inlist:u32[0]", "inlist:u32[0*32]", "out:128"], [(2, "u32", [i * i for i in range(32)])],
               """
               mov.u32 %r1, %ctaid.x;
               mul.wide.u32 %rd1, %lane, 4;
               add.s64 %rd2, %q1, %rd1;
               add.s64 %rd3, %q2, %rd1;
               setp.ne.u32 %p1, %r1, 0;
               @%p1 bra READER;
               mul.lo.u32 %r2, %lane, %lane;
               st.global.u32 [%rd2], %r2;
               bar.sync 0;
               setp.ne.u32 %p2, %lane, 0;
               @%p2 ret;
               mov.u32 %r3, 1;
               st.release.gpu.global.u32 [%q0], %r3;
               ret;
               READER:
               nanosleep.u32 20;
               ld.acquire.gpu.global.u32 %r4, [%q0];
               setp.eq.u32 %p3, %r4, 0;
               @%p3 bra READER;
               ld.global.u32 %r5, [%rd2];
               st.global.u32 [%rd3], %r5;
               """, grid="2")
    yield Free("synchronization/spin-lock", SYNC + "atom.cas", "64 lanes of two warps take one lock in turn and add without atomics: 64 increments, none lost. Lanes of a warp must progress independently.",
               ["atom.acquire.gpu.global.cas.b32", "atom.release.gpu.global.exch.b32"], ["inlist:u32[0,0]"], [(0, "u32", [0, 64])],
               """
               mov.u32 %r4, 0;
               TRY:
               atom.acquire.gpu.global.cas.b32 %r1, [%q0], 0, 1;
               setp.ne.u32 %p1, %r1, 0;
               @%p1 bra AGAIN;
               ld.global.u32 %r2, [%q0+4];
               add.u32 %r2, %r2, 1;
               st.global.u32 [%q0+4], %r2;
               atom.release.gpu.global.exch.b32 %r3, [%q0], 0;
               mov.u32 %r4, 1;
               AGAIN:
               setp.eq.u32 %p2, %r4, 0;
               @%p2 bra TRY;
               """, block="64")


def registers():
    names = ["%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
             "%laneid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%dynamic_smem_size", "%total_smem_size"]
    want, threads = [], 4 * 3 * 4
    full = 0xFFFFFFFF
    for cz in range(2):
        for cy in range(3):
            for cx in range(2):
                for t in range(threads):
                    l = t % 32
                    x, y, z = t % 4, t // 4 % 3, t // 12
                    want += [x, y, z, 4, 3, 4, cx, cy, cz, 2, 3, 2, l, 1 << l, (2 << l) - 1, (1 << l) - 1, full & ~((1 << l) - 1), full & ~((2 << l) - 1), 64, None]
    body = """
    mov.u32 %r1, %tid.y;
    mov.u32 %r2, %tid.z;
    mad.lo.u32 %r3, %r2, 3, %r1;
    mad.lo.u32 %r3, %r3, 4, %lane;
    mov.u32 %r4, %ctaid.z;
    mov.u32 %r5, %ctaid.y;
    mad.lo.u32 %r4, %r4, 3, %r5;
    mov.u32 %r5, %ctaid.x;
    mad.lo.u32 %r4, %r4, 2, %r5;
    mad.lo.u32 %r3, %r4, 48, %r3;
    mul.wide.u32 %rd1, %r3, 76;
    add.s64 %rd1, %q0, %rd1;
    """
    names = names[:-1]
    want = [w for w in want if w is not None]
    for k, n in enumerate(names):
        body += "mov.u32 %%r6, %s;\nst.global.u32 [%%rd1+%d], %%r6;\n" % (n, 4 * k)
    yield Free("special-registers/indices", "PTX ISA, Special Registers", "Indices and masks of a 4 x 3 x 4 block in a 2 x 3 x 2 grid.", ["mov.u32 " + n for n in names],
               ["out:%d" % (4 * len(want))], [(0, "u32", want)], body, grid="2,3,2", block="4,3,4", extra=" --shared 64")
    yield Free("special-registers/clocks", "PTX ISA, Special Registers", "Clocks do not run backwards within a thread; %warpid, %smid stay below their counts; %gridid and %pm registers are not used.",
               ["mov.u64 %clock64", "mov.u32 %clock", "mov.u64 %globaltimer", "mov.u32 %warpid", "mov.u32 %smid"], ["out:256"], [(0, "u32", [31] * 64)],
               """
               mov.u64 %rd2, %clock64;
               mov.u64 %rd3, %globaltimer;
               mov.u32 %r1, %clock;
               nanosleep.u32 0;
               mov.u64 %rd4, %clock64;
               mov.u64 %rd5, %globaltimer;
               mov.u32 %r2, %clock_hi;
               mov.u32 %r3, %globaltimer_lo;
               mov.u32 %r4, %globaltimer_hi;
               setp.ge.u64 %p1, %rd4, %rd2;
               selp.u32 %r5, 1, 0, %p1;
               setp.ge.u64 %p2, %rd5, %rd3;
               selp.u32 %r6, 2, 0, %p2;
               mov.u32 %r7, %warpid;
               mov.u32 %r8, %nwarpid;
               setp.lt.u32 %p3, %r7, %r8;
               selp.u32 %r9, 4, 0, %p3;
               mov.u32 %r10, %smid;
               mov.u32 %r11, %nsmid;
               setp.lt.u32 %p4, %r10, %r11;
               selp.u32 %r12, 8, 0, %p4;
               mov.u32 %r13, WARP_SZ;
               setp.eq.u32 %p5, %r13, 32;
               selp.u32 %r14, 16, 0, %p5;
               or.b32 %r5, %r5, %r6;
               or.b32 %r9, %r9, %r12;
               or.b32 %r5, %r5, %r9;
               or.b32 %r5, %r5, %r14;
               """ + out("%r5"), block="64")


def miscellaneous():
    yield Free("miscellaneous/nanosleep-pmevent", "PTX ISA, Miscellaneous Instructions: nanosleep, pmevent", "No effect on values; the time slept is at most twice the operand, and may be zero.",
               ["nanosleep.u32", "pmevent", "pmevent.mask"], ["out:128"], [(0, "u32", list(range(32)))],
               "nanosleep.u32 1;\nnanosleep.u32 %lane;\npmevent 3;\npmevent.mask 0x3;\n" + out("%lane"))
    t = Free("miscellaneous/trap", "PTX ISA, Miscellaneous Instructions: trap", "Thread 3 aborts the launch: a finding, not a pass.", ["trap"], ["out:128:0"], [],
             "setp.eq.u32 %p1, %lane, 3;\n@%p1 trap; // @A\n" + out("%lane"))
    t.head_extra = ["// expect: trap @A"]
    yield t


def tables():
    for group in (branches, calls, stack, barriers, registers, miscellaneous):
        yield from group()
