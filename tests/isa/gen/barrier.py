"""Barriers, fences, and the patterns built from them (PTX ISA 9.7.13, 8)."""

from .control import out, OUT
from .emit import Free

SYNC = "PTX ISA, Parallel Synchronization and Communication Instructions: "


def whole_block():
    n = 96
    rev = [1000 + n - 1 - i for i in range(n)]
    forms = [
        "bar.sync 0;",
        "bar.cta.sync 1;",
        "barrier.sync 2;",
        "barrier.sync.aligned 3;",
        "barrier.cta.sync 15;",
        "bar.sync 4, 96;",
        "barrier.sync 5, 96;",
        "bar.sync %r10;",
        "barrier.sync.aligned %r10, %r11;",
    ]
    body = (
        "mov.u32 %r10, 7;\nmov.u32 %r11, 96;\nmov.u32 %r1, sm;\nshl.b32 %r2, %lane, 2;\nadd.u32 %r3, %r1, %r2;\nmov.u32 %r4, 95;\nsub.u32 %r4, %r4, %lane;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\n"
        + OUT
    )
    want = []
    for k, f in enumerate(forms):
        body += (
            "add.u32 %%r5, %%lane, %d;\nst.shared.u32 [%%r3], %%r5;\n%s\nld.shared.u32 %%r6, [%%r4];\nst.global.u32 [%%rd1+%d], %%r6;\n%s\n"
            % (1000 + k, f, 384 * k, f)
        )
        want += [v + k for v in rev]
    yield Free(
        "synchronization/bar-sync",
        SYNC + "bar, barrier",
        "Three warps write and read mirrored through shared memory, by every form and number.",
        ["bar.sync", "barrier.sync", "barrier.sync.aligned"],
        ["out:%d" % (384 * len(forms))],
        [(0, "u32", want)],
        body,
        module=".shared .align 4 .b8 sm[384];",
        block="96",
    )


def partial():
    yield Free(
        "synchronization/bar-partial",
        SYNC + "bar, barrier",
        "Two warps of four meet at barrier 1, the other two at barrier 2, all at 0.",
        ["bar.sync"],
        ["out:512"],
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
               """ + out("%r9"),
        module=".shared .align 512 .b8 sm[512];",
        block="128",
    )


def arrive():
    yield Free(
        "synchronization/bar-arrive",
        SYNC + "bar, barrier",
        "Producer and consumer: warp 0 stores, arrives at 1 and waits at 2; warp 1 waits at 1, reads, arrives at 2. Three rounds.",
        ["bar.arrive", "barrier.arrive"],
        ["out:384"],
        [(0, "u32", [100 * r + i * 3 for r in range(3) for i in range(32)])],
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
               """,
        module=".shared .align 4 .b8 sm[128];",
        block="64",
    )


def reductions():
    body, want = OUT, []
    preds = [
        ("setp.lt.u32 %p1, %lane, 40;", [i < 40 for i in range(64)]),
        ("setp.lt.u32 %p1, %lane, 64;", [True] * 64),
        ("setp.gt.u32 %p1, %lane, 64;", [False] * 64),
    ]
    k = 0
    for text, v in preds:
        for form in (
            "bar.red.popc.u32 %%r2, 0, %s;",
            "barrier.red.popc.u32 %%r2, 1, 64, %s;",
            "bar.red.and.pred %%p2, 2, %s;",
            "barrier.red.or.pred %%p2, 3, %s;",
            "barrier.red.and.aligned.pred %%p2, 0, 64, %s;",
        ):
            for neg in ("", "!"):
                w = [x != bool(neg) for x in v]
                r = sum(w) if "popc" in form else int(all(w)) if ".and" in form else int(any(w))
                body += (
                    text
                    + "\n"
                    + form % (neg + "%p1")
                    + "\n"
                    + ("" if "popc" in form else "selp.u32 %r2, 1, 0, %p2;\n")
                    + "st.global.u32 [%%rd1+%d], %%r2;\n" % (256 * k)
                )
                want += [r] * 64
                k += 1
    yield Free(
        "synchronization/bar-red",
        SYNC + "bar.red, barrier.red",
        "Count, and, or of a predicate (or its complement) over the block.",
        [
            "bar.red.popc.u32",
            "bar.red.and.pred",
            "barrier.red.popc.u32",
            "barrier.red.or.pred",
            "barrier.red.and.aligned.pred",
        ],
        ["out:%d" % (256 * k)],
        [(0, "u32", want)],
        body,
        block="64",
    )


def fences():
    fences = [
        "membar.cta;",
        "membar.gl;",
        "membar.sys;",
        "fence.sc.cta;",
        "fence.sc.gpu;",
        "fence.sc.sys;",
        "fence.acq_rel.cta;",
        "fence.acq_rel.gpu;",
        "fence.acq_rel.sys;",
        "fence.gpu;",
        "fence.proxy.alias;",
        "membar.proxy.alias;",
        "membar.proxy.alias;",
    ]
    yield Free(
        "synchronization/fence",
        SYNC + "membar, fence",
        "A thread reads its own stores across every fence. The last block to take a ticket sees the sums of all others: the pattern of a grid-wide reduction.",
        [f[:-1] for f in fences],
        ["inlist:u32[0*5]", "out:4"],
        [(0, "u32", [100, 101, 102, 103, 4]), (1, "u32", [406])],
        """
               mov.u32 %r1, %ctaid.x;
               mul.wide.u32 %rd1, %r1, 4;
               add.s64 %rd1, %q0, %rd1;
               add.u32 %r2, %r1, 100;
               setp.ne.u32 %p1, %lane, 0;
               @%p1 ret;
               st.global.u32 [%rd1], %r2;
               """
        + "\n".join(fences)
        + """
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
               """,
        grid="4",
    )


def message_passing():
    yield Free(
        "synchronization/message-passing",
        "PTX ISA, Memory Consistency Model: release and acquire patterns",
        "Block 0 stores data and releases a flag, block 1 spins with acquire loads and reads.",
        ["st.release.gpu.global.u32", "ld.acquire.gpu.global.u32", "nanosleep.u32"],
        ["inlist:u32[0]", "inlist:u32[0*32]", "out:128"],
        [(2, "u32", [i * i for i in range(32)])],
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
               """,
        grid="2",
    )


def spin_lock():
    yield Free(
        "synchronization/spin-lock",
        SYNC + "atom.cas",
        "64 lanes of two warps take one lock in turn and add without atomics: 64 increments, none lost. Lanes of a warp must progress independently.",
        ["atom.acquire.gpu.global.cas.b32", "atom.release.gpu.global.exch.b32"],
        ["inlist:u32[0,0]"],
        [(0, "u32", [0, 64])],
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
               """,
        block="64",
    )


def one_way_fences():
    yield Free(
        "synchronization/fence-one-way",
        SYNC + "fence",
        "fence.acquire and fence.release around relaxed accesses: block 0 passes a value to block 1.",
        ["fence.acquire.gpu", "fence.release.gpu", "fence.acquire.cta", "fence.release.sys"],
        ["inlist:u32[0]", "inlist:u32[0*32]", "out:128"],
        [(2, "u32", [i * 3 for i in range(32)])],
        """
        mov.u32 %r1, %ctaid.x;
        mul.wide.u32 %rd1, %lane, 4;
        add.s64 %rd2, %q1, %rd1;
        add.s64 %rd3, %q2, %rd1;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra READER;
        mul.lo.u32 %r2, %lane, 3;
        st.global.u32 [%rd2], %r2;
        fence.release.sys;
        bar.sync 0;
        setp.ne.u32 %p2, %lane, 0;
        @%p2 ret;
        mov.u32 %r3, 1;
        fence.release.gpu;
        st.relaxed.gpu.global.u32 [%q0], %r3;
        ret;
        READER:
        ld.relaxed.gpu.global.u32 %r4, [%q0];
        setp.eq.u32 %p3, %r4, 0;
        @%p3 bra READER;
        fence.acquire.gpu;
        fence.acquire.cta;
        ld.global.u32 %r5, [%rd2];
        st.global.u32 [%rd3], %r5;
        """,
        grid="2",
        target="sm_90",
        version="8.6",
    )


def tables():
    for group in (
        whole_block,
        partial,
        arrive,
        reductions,
        fences,
        one_way_fences,
        message_passing,
        spin_lock,
    ):
        yield from group()
