#!/usr/bin/env python3
"""How many blocks must the conflict pass look at? The kinds of conflicts (region, scope) that it finds in each launch when it
looks at 2, 8, 32 and all blocks, as in Figure 5 of the RESOLVE paper.

    inventory.py ASSAY COMMAND…
"""

import json
import subprocess
import sys

KINDS = ("global between blocks", "global between warps of a block", "shared between warps of a block",
         "global within a warp", "shared within a warp")


def main():
    seen = {}
    for blocks in (2, 8, 32, 0):
        done = subprocess.run([sys.argv[1], "run", "--json", "--plain", "0", "--perturbed", "1", "--outside", "0",
                               "--conflict-blocks", str(blocks), "--", *sys.argv[2:]], capture_output=True, text=True)
        report = json.loads(done.stdout[done.stdout.find('{\n  "schema": "assay/run/1"'):])
        for launch in report["launches"]:
            found = {kind for kind in KINDS if launch["figures"].get("conflicts." + kind)}
            row = seen.setdefault((launch["kernel"][:60], tuple(launch["grid"]), launch["launch"]), {})
            row[blocks] = (found, launch["figures"].get("conflict pairs", 0), launch["figures"].get("ms.conflicts", 0))
    rows = [row for row in seen.values() if set(row) == {2, 8, 32, 0}]
    print("%d launches" % len(rows))
    print("| blocks | launches with all kinds of conflicts | pairs of instructions | median ms |")
    print("|---|---|---|---|")
    for blocks in (2, 8, 32, 0):
        whole = sum(row[blocks][0] >= row[0][0] for row in rows)
        pairs = sum(row[blocks][1] for row in rows)
        times = sorted(row[blocks][2] for row in rows)
        print("| %s | %d | %d | %.2f |" % (blocks or "all", whole, pairs, times[len(times) // 2] if times else 0))
    for key, row in seen.items():
        lacking = row.get(0, (set(),))[0] - row.get(2, (set(),))[0]
        if lacking:
            print("with 2 blocks not seen: %s: %s" % (key[0], ", ".join(sorted(lacking))))


if __name__ == "__main__":
    main()
