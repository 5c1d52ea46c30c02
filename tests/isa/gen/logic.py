"""Logic and shift instructions, prmt, selection and integer comparison (PTX ISA 9.7.6, 9.7.8, 9.7.9)."""

from .emit import Table, int_pairs, int_triples, ints, rng, width, wrap

LOGIC = "PTX ISA, Logic and Shift Instructions: "
COMPARE = "PTX ISA, Comparison and Selection Instructions: "
AMOUNTS = (0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 0x80000000, 0xFFFFFFFF)


def logic():
    t = Table("logic-shift/and-or-xor", LOGIC + "and, or, xor")
    for name, op in (("and", int.__and__), ("or", int.__or__), ("xor", int.__xor__)):
        for ty in ("b16", "b32", "b64"):
            a, b = int_pairs("u" + ty[1:])
            t.form("%s.%s" % (name, ty), ty, [(ty, a), (ty, b)], op)
    yield t
    t = Table("logic-shift/not-cnot", LOGIC + "not, cnot", "cnot is 1 for zero, else 0.")
    for ty in ("b16", "b32", "b64"):
        v = ints("u" + ty[1:])
        t.form("not." + ty, ty, [(ty, v)], lambda x, ty=ty: ~x & (1 << width(ty)) - 1)
        t.form("cnot." + ty, ty, [(ty, v)], lambda x: int(x == 0))
    yield t
    t = Table("logic-shift/predicates", LOGIC + "and, or, xor, not on predicates; mov.pred")
    a, b = [0, 0, 1, 1] * 8, [0, 1, 0, 1] * 8
    args = [("u32", a), ("u32", b)]
    load = "{ .reg .pred %x, %y, %z;\nsetp.ne.u32 %x, $a, 0;\nsetp.ne.u32 %y, $b, 0;\n"
    end = "\nselp.b32 $d, 1, 0, %z; }"
    for name, op in (("and", int.__and__), ("or", int.__or__), ("xor", int.__xor__)):
        t.form(name + ".pred", "u32", args, op, load + name + ".pred %z, %x, %y;" + end)
    t.form("not.pred", "u32", args, lambda x, y: 1 - x, load + "not.pred %z, %x;" + end)
    t.form("mov.pred", "u32", args, lambda x, y: y, load + "mov.pred %z, %y;" + end)
    t.form(
        "selp.b32",
        "u32",
        args,
        lambda x, y: 7 if x and not y else 9,
        load + "not.pred %y, %y;\nand.pred %z, %x, %y;\nselp.b32 $d, 7, 9, %z; }",
    )
    yield t


def lop3():
    def ref(a, b, c, lut):
        d = 0
        for i in range(32):
            k = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)
            d |= (lut >> k & 1) << i
        return d

    t = Table(
        "logic-shift/lop3",
        LOGIC + "lop3",
        "Bit k of immLut is the result for a, b, c = bits of k: 0xF0, 0xCC, 0xAA give a, b, c themselves.",
    )
    a, b, c = int_triples("u32")
    args = [("b32", a), ("b32", b), ("b32", c)]
    for lut in (
        0x00,
        0x01,
        0x1E,
        0x40,
        0x80,
        0x96,
        0xAA,
        0xCC,
        0xE8,
        0xEA,
        0xF0,
        0xF8,
        0xFE,
        0xFF,
        0x1D,
    ):
        t.form(
            "lop3.b32",
            "b32",
            args,
            lambda x, y, z, lut=lut: ref(x, y, z, lut),
            "lop3.b32 $d, $a, $b, $c, 0x%02x;" % lut,
        )
    yield t
    t = Table(
        "logic-shift/lop3-predicate",
        LOGIC + "lop3",
        "lop3.BoolOp: p = (d != 0) BoolOp q.",
        version="8.3",
    )
    small = [x & 0xFF if i % 3 else 0 for i, x in enumerate(a)]
    for op in ("or", "and"):
        text = (
            "{ .reg .pred %%q, %%z; .reg .b32 %%r;\nsetp.eq.u32 %%q, $c, 0;\n"
            "lop3.%s.b32 %%r|%%z, $a, $b, $c, 0xC0, %%q;\nselp.b32 $d, 1, 0, %%z; }" % op
        )

        def ref_p(x, y, z, op=op):
            hit, q = ref(x, y, z, 0xC0) != 0, z == 0
            return int(hit or q if op == "or" else hit and q)

        t.form(
            "lop3.%s.b32" % op,
            "u32",
            [("b32", small), ("b32", b), ("b32", c)],
            ref_p,
            text,
        )
    yield t


def shifts():
    t = Table(
        "logic-shift/shl-shr",
        LOGIC + "shl, shr",
        "Shift amounts above the width are clamped to it: no bits remain, or only copies of the sign.",
    )
    for w in (16, 32, 64):
        u, s, b = "u%d" % w, "s%d" % w, "b%d" % w
        v = ints(u, 96, 8)
        v = [v[(i * 7) % 96] for i in range(128)]
        n = [AMOUNTS[i // 6 % 16] if i < 96 else i - 60 for i in range(128)]
        t.form("shl." + b, b, [(b, v), ("u32", n)], lambda x, k, w=w: x << min(k, w) & (1 << w) - 1)
        t.form("shr." + b, b, [(b, v), ("u32", n)], lambda x, k, w=w: x >> min(k, w))
        t.form("shr." + u, u, [(b, v), ("u32", n)], lambda x, k, w=w: x >> min(k, w))
        t.form("shr." + s, s, [(b, v), ("u32", n)], lambda x, k, w=w, s=s: wrap(x, s) >> min(k, w))
    yield t
    t = Table(
        "logic-shift/shf",
        LOGIC + "shf",
        "Funnel shift of b:a; .clamp limits the amount to 32, .wrap takes it modulo 32.\n.l gives the upper word of the shifted pair, .r the lower.",
    )
    a, b = int_pairs("u32")
    n = [AMOUNTS[(i * 5 + i // 16) % 16] for i in range(96)]
    for mode in ("clamp", "wrap"):
        for side in "lr":

            def ref(x, y, k, mode=mode, side=side):
                k = min(k, 32) if mode == "clamp" else k & 31
                pair = y << 32 | x
                return (pair << k >> 32 if side == "l" else pair >> k) & 0xFFFFFFFF

            t.form("shf.%s.%s.b32" % (side, mode), "b32", [("b32", a), ("b32", b), ("u32", n)], ref)
    yield t


def prmt():
    def generic(a, b, sel):
        pool = [(a | b << 32) >> 8 * i & 255 for i in range(8)]
        d = 0
        for i in range(4):
            nib = sel >> 4 * i & 15
            byte = pool[nib & 7]
            if nib & 8:
                byte = 255 if byte & 128 else 0
            d |= byte << 8 * i
        return d

    named = {
        "f4e": [(3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3)],
        "b4e": [(5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3)],
        "rc8": [(0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4],
        "ecl": [(3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)],
        "ecr": [(0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)],
        "rc16": [(1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)],
    }
    t = Table(
        "data-movement/prmt",
        "PTX ISA, Data Movement and Conversion Instructions: prmt",
        "Bytes 0..3 are a, 4..7 are b. Without a mode each nibble of c picks a byte, its top bit replicates the sign;\n"
        "with a mode the two low bits of c pick a row of the manual's table.",
    )
    r = rng("prmt")
    a = [0x03020100, 0x83828180] + [r.getrandbits(32) for _ in range(62)]
    b = [0x07060504, 0x87868584] + [r.getrandbits(32) for _ in range(62)]
    c = [0x3210, 0x7654, 0xFEDC, 0xBA98, 0x0000, 0x8888, 0xFFFF1234, 0x0123] + [
        r.getrandbits(16) for _ in range(56)
    ]
    args = [("b32", a), ("b32", b), ("b32", c)]
    t.form("prmt.b32", "b32", args, lambda x, y, z: generic(x, y, z & 0xFFFF))
    for mode, rows in named.items():

        def ref(x, y, z, rows=rows):
            sel = sum(v << 4 * (3 - i) for i, v in enumerate(rows[z & 3]))
            return generic(x, y, sel)

        t.form("prmt.b32." + mode, "b32", args, ref)
    yield t


def integer_compare():
    ops = {
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y,
        "ge": lambda x, y: x >= y,
    }
    unsigned_names = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
    for w in (16, 32, 64):
        t = Table(
            "comparison/setp-int-%d" % w,
            COMPARE + "setp",
            "lo, ls, hi, hs are the unsigned forms of lt, le, gt, ge.",
        )
        for k in "usb":
            ty = "%s%d" % (k, w)
            a, b = int_pairs(ty if k != "b" else "u%d" % w)
            for op in (("eq", "ne") if k == "b" else tuple(ops)):
                t.form(
                    "setp.%s.%s" % (op, ty),
                    "u32",
                    [(ty, a), (ty, b)],
                    lambda x, y, op=op: int(ops[op](x, y)),
                    "setp.%s.%s $p, $a, $b;\nselp.b32 $d, 1, 0, $p;" % (op, ty),
                )
            if k == "u":
                for op, base in unsigned_names.items():
                    t.form(
                        "setp.%s.%s" % (op, ty),
                        "u32",
                        [(ty, a), (ty, b)],
                        lambda x, y, base=base: int(ops[base](x, y)),
                        "setp.%s.%s $p, $a, $b;\nselp.b32 $d, 1, 0, $p;" % (op, ty),
                    )
        yield t
    t = Table(
        "comparison/setp-bool",
        COMPARE + "setp",
        "p = (a cmp b) BoolOp c, q = !(a cmp b) BoolOp c; the third operand may be negated.\nThe result holds p in bit 0 and q in bit 1.",
    )
    a, b = [1, 2, 3, 3] * 8, [2, 2, 1, 5] * 8
    c = [i // 4 & 1 for i in range(32)]
    boolean = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y}
    for op in ("lt", "eq", "ge"):
        for bop, f in boolean.items():
            for neg in ("", "!"):

                def ref(x, y, z, op=op, f=f, neg=neg):
                    hit, z = ops[op](x, y), bool(z) != bool(neg)
                    return int(f(hit, z)) | int(f(not hit, z)) << 1

                t.form(
                    "setp.%s.%s.s32" % (op, bop),
                    "u32",
                    [("s32", a), ("s32", b), ("u32", c)],
                    ref,
                    "{ .reg .pred %%x, %%y, %%z; .reg .b32 %%u, %%v;\nsetp.ne.u32 %%z, $c, 0;\n"
                    "setp.%s.%s.s32 %%x|%%y, $a, $b, %s%%z;\nselp.b32 %%u, 1, 0, %%x;\nselp.b32 %%v, 2, 0, %%y;\n"
                    "or.b32 $d, %%u, %%v; }" % (op, bop, neg),
                )
    yield t
    t = Table("comparison/set-int", COMPARE + "set", "All ones or 1.0f where true, else 0.")
    a, b = int_pairs("s32")
    for ty in ("s32", "u32"):
        p, q = ([wrap(v, ty) for v in a], [wrap(v, ty) for v in b])
        for op in ("eq", "lt", "ge"):
            t.form(
                "set.%s.u32.%s" % (op, ty),
                "u32",
                [(ty, p), (ty, q)],
                lambda x, y, op=op: 0xFFFFFFFF if ops[op](x, y) else 0,
            )
            t.form(
                "set.%s.f32.%s" % (op, ty),
                "f32",
                [(ty, p), (ty, q)],
                lambda x, y, op=op: 0x3F800000 if ops[op](x, y) else 0,
            )
    c = [i % 3 == 0 for i in range(96)]
    t.form(
        "set.lt.and.s32.s32",
        "s32",
        [("s32", a), ("s32", b), ("u32", [int(v) for v in c])],
        lambda x, y, z: -1 if x < y and z else 0,
        "{ .reg .pred %z;\nsetp.ne.u32 %z, $c, 0;\nset.lt.and.s32.s32 $d, $a, $b, %z; }",
    )
    yield t


def selection():
    t = Table("comparison/selp", COMPARE + "selp")
    flag = [i * 5 % 7 % 2 for i in range(96)]
    for ty in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"):
        u = "u%d" % width(ty)
        a, b = int_pairs(u)
        t.form(
            "selp." + ty,
            "b%d" % width(ty),
            [("b%d" % width(ty), a), ("b%d" % width(ty), b), ("u32", flag)],
            lambda x, y, c: x if c else y,
            "{ .reg .pred %%z;\nsetp.ne.u32 %%z, $c, 0;\nselp.%s $d, $a, $b, %%z; }" % ty,
        )
    yield t
    t = Table(
        "comparison/slct",
        COMPARE + "slct",
        "a where c >= 0, else b; -0 counts as zero, NaN picks b.",
    )
    c = [wrap(v, "s32") for v in int_pairs("s32")[0]]
    f = [
        0x00000000,
        0x80000000,
        0x3F800000,
        0xBF800000,
        0x7FC00000,
        0x7F800000,
        0xFF800000,
        0x00000001,
    ] * 12
    pick = lambda v: v in (0, 0x80000000, 0x3F800000, 0x7F800000, 1)
    for ty in ("b16", "b32", "b64", "u32", "s64", "f32", "f64"):
        bt = "b%d" % width(ty)
        a, b = int_pairs("u%d" % width(ty))
        t.form(
            "slct.%s.s32" % ty,
            bt,
            [(bt, a), (bt, b), ("s32", c)],
            lambda x, y, z: x if z >= 0 else y,
        )
        t.form(
            "slct.%s.f32" % ty,
            bt,
            [(bt, a), (bt, b), ("f32", f)],
            lambda x, y, z: x if pick(z) else y,
        )
    g = [0x00000001, 0x80000001, 0x80000000, 0xBF800000] * 24
    a, b = int_pairs("u32")
    t.form(
        "slct.ftz.s32.f32",
        "b32",
        [("b32", a), ("b32", b), ("f32", g)],
        lambda x, y, z: y if z == 0xBF800000 else x,
    )
    yield t


def tables():
    for group in (logic, lop3, shifts, prmt, integer_compare, selection):
        yield from group()
