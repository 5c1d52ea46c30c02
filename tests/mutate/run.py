"""Mutants of some cases, each with the state that it must have: found, proved, both-orders, not-reached.

    tests/mutate/run.py ASSAY [--write]

expected.tsv holds one mutant a line: case, fault, line, what was planted, its state. --write writes it anew, for a
change that is meant; read the difference before it is committed. A mutant that passed with both orders run and is found
now is only remarked: the engine sees more. Prints `N passed, N failed, N skipped`."""

import json
import pathlib
import subprocess
import sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPECTED = pathlib.Path(__file__).resolve().with_name("expected.tsv")
CASES = ["block_reduce_reuse", "cp_async_no_barrier", "flag_handoff", "histogram", "last_block_reduction", "spin_lock",
         "two_reductions_one_buffer", "warp_exchange", "programmatic_launch", "crossed_named_barriers",
         "pipeline_early_release"]
# Lanes that run ahead of lane 0 to count for each other; a wait whose phase is computed in its loop.
MORE = [["tests/idioms/cuda_pipeline/roles.cu", "--kinds", "barrier-deleted,parity-flipped"]]
SETTLED = {"found", "proved", "both-orders", "not-reached"}


def mutants(program):
    rows = []
    for words in [[f"cases/{name}/sound.toml" for name in CASES], *MORE]:
        done = subprocess.run([program, "mutate", "--json", *words], cwd=ROOT, capture_output=True, timeout=600)
        assert done.returncode in (0, 3), done.stderr.decode()
        for m in json.loads(done.stdout)["mutants"]:
            rows.append("\t".join([m["case"], m["fault"], str(m["line"]), f'{m["before"]} -> {m["after"]}', m["state"]]))
    return rows


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    rows = mutants(program)
    if "--write" in sys.argv:
        EXPECTED.write_text("\n".join(rows) + "\n")
        return 0
    expected = EXPECTED.read_text().splitlines()
    failed = 0
    # As many as there are: one line of a source is several places of the PTX.
    missing, fresh = Counter(expected) - Counter(rows), Counter(rows) - Counter(expected)
    for row in sorted(fresh.elements()):
        mutant, state = row.rsplit("\t", 1)
        if state == "found" and missing[f"{mutant}\tboth-orders"] > 0:
            missing[f"{mutant}\tboth-orders"] -= 1
            print("found by now: " + mutant)
            continue
        failed += 1
        print("is now:   " + row)
    for row in sorted(missing.elements()):
        failed += 1
        print("expected: " + row)
    for row in rows:
        if row.rsplit("\t", 1)[1] not in SETTLED:
            failed += 1
            print("not settled: " + row)
    print(f"{max(0, len(expected) - failed)} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
