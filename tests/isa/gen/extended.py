"""Extended-precision integer arithmetic (PTX ISA 9.7.2)."""

from .emit import Table, int_pairs, int_triples, wrap


def extended():
    section = "PTX ISA, Extended-Precision Integer Arithmetic Instructions: "
    for w in (32, 64):
        u, s = "u%d" % w, "s%d" % w
        full, b = (1 << w) - 1, "b%d" % w
        t = Table(
            "extended-precision/add-sub-cc-%d" % w,
            section + "add.cc, addc, sub.cc, subc",
            "CC.CF is the carry out of the addition, the borrow out of the subtraction.",
        )
        x, y = int_pairs(u)
        x2, y2 = int_pairs(u, None, 32, 11)
        x2, y2 = x2[5:] + x2[:5], y2[9:] + y2[:9]
        args = [(u, x), (u, y), (u, x2), (u, y2)]

        def chain(op, what, sign):
            kt = s if sign else u
            return (
                "{ .reg .b%d %%lo, %%hi, %%top;\n%s.cc.%s %%lo, $a, $b;\n%sc.cc.%s %%hi, $c, $e;\n"
                "%sc.%s %%top, 0, 0;\nmov.b%d $d, %%%s; }"
                % (w, op, kt, op, kt, op, kt, w, {"lo": "lo", "hi": "hi", "carry": "top"}[what])
            )

        for op in ("add", "sub"):
            for sign in (False, True):
                for what in ("lo", "hi", "carry"):

                    def ref(p, q, p2, q2, op=op, what=what):
                        a, c = p | p2 << w, q | q2 << w
                        v = a + c if op == "add" else a - c
                        if what == "lo":
                            return v & full
                        if what == "hi":
                            return v >> w & full
                        return (v >> 2 * w) & full

                    kt = s if sign else u
                    row = {
                        "lo": "%s.cc.%s" % (op, kt),
                        "hi": "%sc.cc.%s" % (op, kt),
                        "carry": "%sc.%s" % (op, kt),
                    }[what]
                    t.form(row, b, args, ref, chain(op, what, sign))
        yield t
        t = Table(
            "extended-precision/mad-cc-%d" % w,
            section + "mad.cc, madc",
            "a * b + c in double width from halves: low half with mad.lo.cc, high half with madc.hi, carry with addc.",
        )
        for kt in (u, s):
            a = [wrap(v, kt) for v in int_pairs(u)[0]]
            c = [wrap(v, kt) for v in int_pairs(u)[1]]
            z = [wrap(v, kt) for v in int_triples(u)[2]]
            zt = z[7:] + z[:7]
            for what in ("lo", "hi", "carry"):
                text = (
                    "{ .reg .b%d %%lo, %%hi, %%top;\nmad.lo.cc.%s %%lo, $a, $b, $c;\nmadc.hi.cc.%s %%hi, $a, $b, $e;\n"
                    "addc.%s %%top, 0, 0;\nmov.b%d $d, %%%s; }"
                    % (w, kt, kt, kt, w, {"lo": "lo", "hi": "hi", "carry": "top"}[what])
                )

                def ref(p, q, l, h, what=what):
                    prod = p * q
                    low = (prod & full) + (l & full)
                    if what == "lo":
                        return low & full
                    high = (prod >> w & full) + (h & full) + (low >> w)
                    return high & full if what == "hi" else high >> w

                row = {"lo": "mad.lo.cc." + kt, "hi": "madc.hi.cc." + kt, "carry": "addc." + kt}[
                    what
                ]
                t.form(row, b, [(kt, a), (kt, c), (kt, z), (kt, zt)], ref, text)
            # the remaining halves: mad.hi.cc sets the carry, madc.lo uses it
            text = (
                "{ .reg .b%d %%hi;\nmad.hi.cc.%s %%hi, $a, $b, $c;\nmadc.lo.%s $d, $a, $b, $e; }"
                % (w, kt, kt)
            )

            def ref2(p, q, l, h):
                carry = ((p * q >> w & full) + (l & full)) >> w
                return (p * q + h + carry) & full

            t.form("mad.hi.cc." + kt, b, [(kt, a), (kt, c), (kt, z), (kt, zt)], ref2, text)
            t.form("madc.lo." + kt, b, [(kt, a), (kt, c), (kt, z), (kt, zt)], ref2, text)
        yield t


def tables():
    yield from extended()
