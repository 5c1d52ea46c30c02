"""mbarrier in all forms on objects of the own CTA (PTX ISA 9.7.13.15), griddepcontrol (9.7.13.13)."""

from .control import OUT
from .emit import Free

SECTION = "PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier"
MODULE = ".shared .align 8 .b64 bar[8];\n.shared .align 16 .b8 sm[512];"


def begin(counts):
    """Initialises objects by thread 0; every thread has its own word at %r2 and its mirror's at %r4."""
    text = "mov.u32 %r1, sm;\nshl.b32 %r2, %lane, 2;\nadd.u32 %r2, %r1, %r2;\n"
    text += "xor.b32 %r4, %lane, 63;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r4, %r1, %r4;\nsetp.ne.u32 %p1, %lane, 0;\n"
    text += "mov.u32 %r20, bar;\ncvt.u64.u32 %rd20, %r20;\ncvta.shared.u64 %rd20, %rd20;\n"
    text += "mov.u64 %rd21, bar;\n@%p1 bra READY;\n"
    for k, count in enumerate(counts):
        form = ("mbarrier.init.shared.b64 [bar+%d], %d;", "mbarrier.init.b64 [%%rd20+%d], %d;",
                "mbarrier.init.shared::cta.b64 [bar+%d], %d;")[k % 3]
        text += form % (8 * k, count) + "\n"
    return text + "READY:\nbar.sync 0;\n" + OUT


def round_trip(k, arrive, wait):
    """Everybody writes, arrives at object k, waits, and reads its mirror's word."""
    text = "add.u32 %%r5, %%lane, %d;\nst.shared.u32 [%%r2], %%r5;\n" % (1000 + 100 * k)
    text += arrive + "\nW%d:\n%s\n@!%%p2 bra W%d;\n" % (k, wait, k)
    return text + "ld.shared.u32 %%r6, [%%r4];\nst.global.u32 [%%rd1+%d], %%r6;\nbar.sync 0;\n" % (256 * k)


def forms(name, note, pairs, counts, rows, target, version):
    body = begin(counts)
    want = []
    for k, (arrive, wait) in enumerate(pairs):
        body += round_trip(k, arrive, wait)
        want += [1000 + 100 * k + (i ^ 63) for i in range(64)]
    for k in range(len(pairs)):
        body += ("@!%%p1 mbarrier.inval%s.b64 [%s+%d];\n" % (("", "%rd20", 8 * k) if k % 2 else (".shared", "bar", 8 * k)))
    yield Free("synchronization/" + name, SECTION, note, rows, ["out:%d" % (256 * len(pairs))],
               [(0, "u32", want)], body, module=MODULE, target=target, version=version, block="64")


def ampere():
    pairs = [
        ("mbarrier.arrive.shared.b64 %rd2, [bar];", "mbarrier.test_wait.shared.b64 %p2, [bar], %rd2;"),
        ("mbarrier.arrive.b64 %rd2, [%rd20+8];", "mbarrier.test_wait.b64 %p2, [%rd20+8], %rd2;"),
        ("mbarrier.arrive.shared::cta.b64 %rd2, [bar+16];", "mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar+16], 0;"),
        ("setp.eq.u32 %p3, %lane, 0;\n@!%p3 mbarrier.arrive.noComplete.shared.b64 %rd2, [bar+24], 1;\nbar.sync 0;\n"
         "@%p3 mbarrier.arrive.shared.b64 %rd2, [bar+24];", "mbarrier.test_wait.parity.b64 %p2, [%rd20+24], 0;"),
        ("mbarrier.arrive_drop.shared.b64 %rd2, [bar+32];", "mbarrier.test_wait.shared.b64 %p2, [bar+32], %rd2;"),
        ("setp.eq.u32 %p3, %lane, 0;\n@!%p3 mbarrier.arrive_drop.noComplete.release.cta.shared.b64 %rd2, [bar+40], 2;\n"
         "bar.sync 0;\n@%p3 mbarrier.arrive_drop.shared.b64 %rd2, [bar+40];", "mbarrier.test_wait.parity.shared.b64 %p2, [bar+40], 0;"),
    ]
    rows = ["mbarrier.init.shared.b64", "mbarrier.inval.shared.b64", "mbarrier.arrive.shared.b64", "mbarrier.arrive.noComplete.shared.b64",
            "mbarrier.arrive_drop.shared.b64", "mbarrier.arrive_drop.noComplete.release.cta.shared.b64", "mbarrier.test_wait.shared.b64",
            "mbarrier.test_wait.parity.shared.b64"]
    return forms("mbarrier", "Two warps exchange words by one object for each form of sm_80.", pairs,
                 [64, 64, 64, 64, 64, 127], rows, "sm_80", "8.0")


def hopper():
    pairs = [
        ("mbarrier.arrive.release.cta.shared::cta.b64 %rd2, [bar], 2;", "mbarrier.try_wait.shared::cta.b64 %p2, [bar], %rd2;"),
        ("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [bar+8], 3;", "mbarrier.try_wait.parity.acquire.cluster.b64 %p2, [%rd20+8], 0, 1000;"),
        ("mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [bar+16], 8;\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar+16], 8;",
         "mbarrier.test_wait.acquire.cta.shared::cta.b64 %p2, [bar+16], %rd2;"),
        ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar+24], 4;\nmbarrier.complete_tx.shared::cta.b64 [bar+24], 4;\n"
         "mbarrier.arrive_drop.release.cta.shared::cta.b64 %rd2, [bar+24], 1;", "mbarrier.try_wait.acquire.cta.b64 %p2, [%rd20+24], %rd2, 1000;"),
        ("mbarrier.arrive_drop.expect_tx.shared::cta.b64 %rd2, [bar+32], 4;\nmbarrier.complete_tx.shared::cluster.b64 [bar+32], 4;",
         "mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar+32], 0;"),
        ("fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [bar+48], 4;\n"
         "mbarrier.complete_tx.shared::cta.b64 [bar+48], 4;\nmbarrier.arrive.relaxed.cta.shared::cta.b64 %rd2, [bar+40];\nbar.sync 0;",
         "mbarrier.try_wait.relaxed.cta.shared::cta.b64 %p2, [bar+40], %rd2;"),
    ]
    rows = ["mbarrier.arrive.release.cta.shared::cta.b64", "mbarrier.arrive.release.cluster.shared::cluster.b64",
            "mbarrier.arrive_drop.release.cta.shared::cta.b64", "mbarrier.arrive.expect_tx.shared::cta.b64",
            "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64", "mbarrier.arrive_drop.expect_tx.shared::cta.b64",
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64", "mbarrier.complete_tx.shared::cta.b64", "mbarrier.try_wait.shared::cta.b64",
            "mbarrier.try_wait.parity.shared::cta.b64", "mbarrier.test_wait.acquire.cta.shared::cta.b64", "fence.mbarrier_init.release.cluster"]
    return forms("mbarrier-sm90", "Two warps exchange words by one object for each form of sm_90.", pairs,
                 [128, 192, 64, 64, 64, 64, 64], rows, "sm_90", "8.6")


def copies():
    body = begin([64, 64]) + "mul.wide.u32 %rd3, %lane, 4;\nadd.s64 %rd3, %q1, %rd3;\n"
    arrivals = ["cp.async.mbarrier.arrive.noinc.shared.b64 [bar];",
                "cp.async.mbarrier.arrive.b64 [%rd20+8];\nmbarrier.arrive.shared.b64 %rd2, [bar+8];"]
    for k, arrive in enumerate(arrivals):
        body += "cp.async.ca.shared.global [%%r2], [%%rd3+%d], 4;\n%s\n" % (256 * k, arrive)
        body += "W%d:\nmbarrier.test_wait.parity.shared.b64 %%p2, [bar+%d], 0;\n@!%%p2 bra W%d;\n" % (k, 8 * k, k)
        body += "ld.shared.u32 %%r6, [%%r4];\nst.global.u32 [%%rd1+%d], %%r6;\nbar.sync 0;\n" % (256 * k)
    values = list(range(500, 628))
    want = [values[64 * k + (i ^ 63)] for k in range(2) for i in range(64)]
    yield Free("synchronization/cp-async-mbarrier", SECTION, "Copies whose completion arrives at an object, counted and not.",
               ["cp.async.mbarrier.arrive.b64", "cp.async.mbarrier.arrive.noinc.shared.b64"],
               ["out:512", "inlist:u32[%s]" % ",".join(map(str, values))], [(0, "u32", want)], body, module=MODULE, block="64")


def pending():
    body = begin([7]) + """@%p1 bra DONE;
mbarrier.arrive.noComplete.shared.b64 %rd2, [bar], 2;
mbarrier.pending_count.b64 %r6, %rd2;
st.global.u32 [%rd1], %r6;
mbarrier.arrive.shared.b64 %rd2, [bar];
mbarrier.pending_count.b64 %r6, %rd2;
st.global.u32 [%rd1+4], %r6;
DONE:
"""
    yield Free("synchronization/mbarrier-pending", SECTION, "The count that was pending before an arrival.",
               ["mbarrier.pending_count.b64", "mbarrier.arrive.noComplete.shared.b64"], ["out:8"], [(0, "u32", [7, 5])], body, module=MODULE, block="64")


def grid_control():
    body = OUT + "griddepcontrol.wait;\nst.global.u32 [%rd1], %lane;\ngriddepcontrol.launch_dependents;\n"
    yield Free("synchronization/griddepcontrol", "PTX ISA, Parallel Synchronization and Communication Instructions: griddepcontrol",
               "Launches in stream order: the grid before this one has ended.", ["griddepcontrol.wait", "griddepcontrol.launch_dependents"], ["out:128"],
               [(0, "u32", list(range(32)))], body, target="sm_90", version="7.8")


def tables():
    for group in (ampere, hopper, copies, pending, grid_control):
        yield from group()
