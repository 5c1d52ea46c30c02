"""State spaces, initialisers, parameters, generic addresses (PTX ISA 5, 9.7.9)."""

from . import formats as fp
from .emit import Free
from .formats import F32, F64
from .memory import MOVE, little


def spaces():
    module = """
.const .align 4 .b32 table[8] = {10, 20, 30, 40, 0x50, -60, 70, 80};
.const .align 8 .f64 pi = 0d400921FB54442D18;
.global .align 4 .f32 floats[4] = {0f3F800000, 0f40000000, 1.5, -0.25};
.global .align 2 .b16 halves[4] = {1, 2, 0xfffe, 65535};
.global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};
.global .align 8 .u64 pointer = generic(floats);
.global .align 8 .u64 inner = floats + 8;
.global .align 4 .u32 zero[4];
.global .align 4 .b8 partly[8] = {1, 2, 3};
.visible .global .align 4 .u32 scalar = 1234567;
"""
    body = """
    and.b32 %r1, %lane, 7;
    mul.wide.u32 %rd8, %r1, 4;
    mov.u64 %rd9, table;
    add.s64 %rd9, %rd9, %rd8;
    ld.const.u32 %r3, [%rd9];
    and.b32 %r4, %lane, 3;
    mul.wide.u32 %rd2, %r4, 4;
    mov.u64 %rd3, floats;
    add.s64 %rd3, %rd3, %rd2;
    ld.global.b32 %r5, [%rd3];
    ld.global.u64 %rd4, [pointer];
    add.s64 %rd4, %rd4, %rd2;
    ld.b32 %r6, [%rd4];
    ld.global.u64 %rd5, [inner];
    ld.global.b32 %r7, [%rd5];
    mul.wide.u32 %rd6, %r4, 2;
    mov.u64 %rd7, halves;
    add.s64 %rd7, %rd7, %rd6;
    ld.global.s16 %r8, [%rd7];
    ld.global.u8 %r9, [text+4];
    ld.global.u32 %r10, [zero+12];
    ld.global.u32 %r11, [partly];
    ld.global.u32 %r12, [partly+4];
    ld.global.u32 %r13, [scalar];
    ld.const.f64 %fd1, [pi];
    cvt.rn.f32.f64 %f1, %fd1;
    mov.b32 %r14, %f1;
    """
    f = [0x3F800000, 0x40000000, 0x3FC00000, 0xBE800000]
    t = [10, 20, 30, 40, 0x50, -60 & 0xFFFFFFFF, 70, 80]
    h = [1, 2, 0xFFFFFFFE, 0xFFFFFFFF]
    want = []
    for i in range(32):
        want += [
            t[i & 7],
            f[i & 3],
            f[i & 3],
            f[2],
            h[i & 3],
            111,
            0,
            0x030201,
            0,
            1234567,
            0x40490FDB,
            0,
        ]
    for k, r in enumerate(
        ("%r3", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13", "%r14", "0")
    ):
        body += (
            "mul.wide.u32 %%rd1, %%lane, 48;\nadd.s64 %%rd1, %%q0, %%rd1;\nst.global.u32 [%%rd1+%d], %s;\n"
            % (4 * k, r)
        )
    yield Free(
        "data-movement/module-variables",
        "PTX ISA, State Spaces, Types, and Variables: Initializers",
        "Constants and globals with initialisers; what an initialiser leaves out is zero; addresses as initial values.",
        ["ld.const.u32", "ld.const.f64", "ld.global.s16"],
        ["out:1536"],
        [(0, "b32", want)],
        body,
        module=module,
    )
    body = """
    mov.u32 %r1, sm;
    shl.b32 %r2, %lane, 2;
    add.u32 %r3, %r1, %r2;
    add.u32 %r4, %lane, 1000;
    st.shared.u32 [%r3], %r4;
    cvt.u64.u32 %rd2, %r3;
    cvta.shared.u64 %rd3, %rd2;
    ld.u32 %r5, [%rd3];
    cvta.to.shared.u64 %rd4, %rd3;
    ld.shared.u32 %r6, [%rd4];
    mov.u64 %rd5, lm;
    st.local.u32 [%rd5+4], %r4;
    cvta.local.u64 %rd6, %rd5;
    ld.u32 %r7, [%rd6+4];
    cvta.to.local.u64 %rd7, %rd6;
    ld.local.u32 %r8, [%rd7+4];
    cvta.const.u64 %rd8, cm;
    ld.u32 %r9, [%rd8+4];
    cvta.to.const.u64 %rd9, %rd8;
    ld.const.u32 %r10, [%rd9+8];
    cvta.global.u64 %rd10, gm;
    ld.u32 %r11, [%rd10];
    cvta.to.global.u64 %rd11, %rd10;
    ld.global.u32 %r12, [%rd11+4];
    mov.b32 %r13, 0;
    """
    bit = 0
    for name, reg, truth in (
        ("shared", "%rd3", 1),
        ("local", "%rd3", 0),
        ("global", "%rd3", 0),
        ("const", "%rd3", 0),
        ("local", "%rd6", 1),
        ("shared", "%rd6", 0),
        ("global", "%rd6", 0),
        ("const", "%rd8", 1),
        ("global", "%rd10", 1),
        ("shared", "%rd10", 0),
        ("local", "%rd10", 0),
        ("global", "%q0", 1),
    ):
        body += (
            "isspacep.%s %%p1, %s;\nselp.b32 %%r14, %d, 0, %%p1;\nor.b32 %%r13, %%r13, %%r14;\n"
            % (name, reg, 1 << bit)
        )
        bit += 1
    truth = 0b100110010001
    truth = sum(t << i for i, t in enumerate((1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1)))
    regs = ("%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13")
    body += "mul.wide.u32 %rd1, %lane, 36;\nadd.s64 %rd1, %q0, %rd1;\n"
    want = []
    for k, r in enumerate(regs):
        body += "st.global.u32 [%%rd1+%d], %s;\n" % (4 * k, r)
    for i in range(32):
        want += [1000 + i] * 4 + [22, 33, 44, 55, truth]
    yield Free(
        "data-movement/cvta-isspacep",
        MOVE + "cvta, isspacep, mov",
        "A generic address reads what its own space holds; the way back gives the space's address.",
        [
            "cvta.shared.u64",
            "cvta.local.u64",
            "cvta.const.u64",
            "cvta.global.u64",
            "cvta.to.shared.u64",
            "cvta.to.local.u64",
            "cvta.to.const.u64",
            "cvta.to.global.u64",
            "isspacep.shared",
            "isspacep.local",
            "isspacep.global",
            "isspacep.const",
        ],
        ["out:1152"],
        [(0, "u32", want)],
        body,
        module=".shared .align 4 .b8 sm[128];\n.const .align 4 .u32 cm[3] = {11, 22, 33};\n.global .align 4 .u32 gm[2] = {44, 55};",
    ).with_local()


def parameters():
    kinds = [
        ("u8", "200"),
        ("s8", "-3"),
        ("u16", "50000"),
        ("s16", "-300"),
        ("u32", "4000000000"),
        ("s32", "-7"),
        ("u64", "0x123456789abcdef0"),
        ("s64", "-9"),
        ("f32", "1.5"),
        ("f64", "-2.25"),
    ]
    params = [".param .%s v%d" % (t, i) for i, (t, _) in enumerate(kinds)] + [
        ".param .align 8 .b8 s[24]",
        ".param .u64 out",
    ]
    body, want = "ld.param.u64 %q0, [out];\n", []
    for i, (t, v) in enumerate(kinds):
        if t[0] == "f":
            reg, w = ("%f1", 4) if t == "f32" else ("%fd1", 8)
            body += "ld.param.%s %s, [v%d];\nst.global.%s [%%q0+%d], %s;\n" % (
                t,
                reg,
                i,
                t,
                8 * i,
                reg,
            )
            if w == 4:
                body += "mov.b32 %%r1, 0;\nst.global.u32 [%%q0+%d], %%r1;\n" % (8 * i + 4)
            want.append(fp.bits_of(float(v), F32 if w == 4 else F64))
        else:
            body += "ld.param.%s %%rd2, [v%d];\nst.global.u64 [%%q0+%d], %%rd2;\n" % (t, i, 8 * i)
            want.append(int(v, 0) & (1 << 64) - 1)
    n = len(kinds)
    body += (
        "ld.param.u64 %%rd2, [s+8];\nld.param.u16 %%rd3, [s+18];\nst.global.u64 [%%q0+%d], %%rd2;\nst.global.u64 [%%q0+%d], %%rd3;\n"
        % (8 * n, 8 * n + 8)
    )
    body += "ld.param.v2.u32 {%%r2, %%r3}, [s];\nst.global.v2.u32 [%%q0+%d], {%%r3, %%r2};\n" % (
        8 * n + 16
    )
    raw = bytes((i * 17 + 5) & 255 for i in range(24))
    want += [little(raw, 8, 8), little(raw, 18, 2), little(raw, 4, 4) | little(raw, 0, 4) << 32]
    yield Free(
        "data-movement/ld-param",
        "PTX ISA, State Spaces, Types, and Variables: Parameter State Space",
        "Scalars of every type and a structure by value; one thread.",
        ["ld.param.%s" % t for t, _ in kinds],
        ["%s:%s" % k for k in kinds] + ["bytes:" + raw.hex(), "out:%d" % (8 * len(want))],
        [(n + 1, "b64", want)],
        body,
        block="1",
        params=params,
    )


def tables():
    for group in (spaces, parameters):
        yield from group()
