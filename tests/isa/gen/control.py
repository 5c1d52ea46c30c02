"""Branches, exits, special registers (PTX ISA 9.7.12, 9.7.19, 10)."""

from .emit import Free

FLOW = "PTX ISA, Control Flow Instructions: "
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
    yield Free(
        "control-flow/bra-loop",
        FLOW + "bra",
        "Collatz steps of lane + 1: a loop that each lane leaves at its own turn, with an if and else inside.",
        ["bra", "bra.uni"],
        ["out:256"],
        [(0, "u32", collatz)],
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
               """ + out("%r2"),
        block="64",
    )


def nested_loops():
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

    yield Free(
        "control-flow/bra-nested",
        FLOW + "bra",
        "Nested loops with continue and break; @!p and @p forms.",
        ["bra"],
        ["out:256"],
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
               """ + out("%r4"),
        block="64",
    )


def tables_and_guards():
    yield Free(
        "control-flow/brx-idx",
        FLOW + "brx.idx",
        "Jump tables, divergent and uniform (.uni).",
        ["brx.idx", "brx.idx.uni"],
        ["out:128"],
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
               """ + out("%r2"),
    )
    yield Free(
        "control-flow/guards",
        FLOW + "@",
        "Guarded instructions of every kind act in the lanes whose predicate holds (or not, with !).",
        ["@p", "@!p"],
        ["inlist:u32[5*64]"],
        [(0, "u32", [v for i in range(32) for v in ((100 + i, 6) if i % 3 == 0 else (5 + i, 5))])],
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
               """,
    )


def exits():
    yield Free(
        "control-flow/exit-ret",
        FLOW + "exit, ret",
        "Lanes that leave early, by exit inside a function and by ret at the top; the rest goes on and shuffles.",
        ["exit", "ret"],
        ["inlist:u32[9*32]"],
        [
            (
                0,
                "u32",
                [
                    9 if i < 4 else 1 if i == 5 or i == 7 else 40 + (i ^ 16) if i >= 16 else 9
                    for i in range(32)
                ],
            )
        ],
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
               """,
        module="""
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
""",
    )


def registers():
    names = [
        "%tid.x",
        "%tid.y",
        "%tid.z",
        "%ntid.x",
        "%ntid.y",
        "%ntid.z",
        "%ctaid.x",
        "%ctaid.y",
        "%ctaid.z",
        "%nctaid.x",
        "%nctaid.y",
        "%nctaid.z",
        "%laneid",
        "%lanemask_eq",
        "%lanemask_le",
        "%lanemask_lt",
        "%lanemask_ge",
        "%lanemask_gt",
        "%dynamic_smem_size",
        "%total_smem_size",
    ]
    want, threads = [], 4 * 3 * 4
    full = 0xFFFFFFFF
    for cz in range(2):
        for cy in range(3):
            for cx in range(2):
                for t in range(threads):
                    l = t % 32
                    x, y, z = t % 4, t // 4 % 3, t // 12
                    want += [
                        x,
                        y,
                        z,
                        4,
                        3,
                        4,
                        cx,
                        cy,
                        cz,
                        2,
                        3,
                        2,
                        l,
                        1 << l,
                        (2 << l) - 1,
                        (1 << l) - 1,
                        full & ~((1 << l) - 1),
                        full & ~((2 << l) - 1),
                        64,
                        None,
                    ]
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
    yield Free(
        "special-registers/indices",
        "PTX ISA, Special Registers",
        "Indices and masks of a 4 x 3 x 4 block in a 2 x 3 x 2 grid.",
        ["mov.u32 " + n for n in names],
        ["out:%d" % (4 * len(want))],
        [(0, "u32", want)],
        body,
        grid="2,3,2",
        block="4,3,4",
        extra=" --shared 64",
    )


def clocks():
    yield Free(
        "special-registers/clocks",
        "PTX ISA, Special Registers",
        "Clocks do not run backwards within a thread; %warpid, %smid stay below their counts; %gridid and %pm registers are not used.",
        [
            "mov.u64 %clock64",
            "mov.u32 %clock",
            "mov.u64 %globaltimer",
            "mov.u32 %warpid",
            "mov.u32 %smid",
        ],
        ["out:256"],
        [(0, "u32", [31] * 64)],
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
               """ + out("%r5"),
        block="64",
    )


def miscellaneous():
    yield Free(
        "miscellaneous/nanosleep-pmevent",
        "PTX ISA, Miscellaneous Instructions: nanosleep, pmevent",
        "No effect on values; the time slept is at most twice the operand, and may be zero.",
        ["nanosleep.u32", "pmevent", "pmevent.mask"],
        ["out:128"],
        [(0, "u32", list(range(32)))],
        "nanosleep.u32 1;\nnanosleep.u32 %lane;\npmevent 3;\npmevent.mask 0x3;\n" + out("%lane"),
    )
    t = Free(
        "miscellaneous/trap",
        "PTX ISA, Miscellaneous Instructions: trap",
        "Thread 3 aborts the launch: a finding, not a pass.",
        ["trap"],
        ["out:128:0"],
        [],
        "setp.eq.u32 %p1, %lane, 3;\n@%p1 trap; // @A\n" + out("%lane"),
    )
    t.head_extra = ["// expect: trap @A"]
    yield t
    t = Free(
        "miscellaneous/brkpt",
        "PTX ISA, Miscellaneous Instructions: brkpt",
        "Thread 3 aborts the launch: a finding, not a pass.",
        ["brkpt"],
        ["out:128:0"],
        [],
        "setp.eq.u32 %p1, %lane, 3;\n@%p1 brkpt; // @A\n" + out("%lane"),
    )
    t.head_extra = ["// expect: trap @A"]
    yield t


def tables():
    for group in (
        branches,
        nested_loops,
        tables_and_guards,
        exits,
        registers,
        clocks,
        miscellaneous,
    ):
        yield from group()
