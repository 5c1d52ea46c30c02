"""Mutants of some cases, each with the state that it must have: found, proved, both-orders, not-reached.

    tests/mutate/run.py ASSAY [--write]

expected.tsv holds one mutant a line: case, fault, line, what was planted, its state. --write writes it anew, for a
change that is meant; read the difference before it is committed. A mutant that passed with both orders run and is found
now is only remarked: the engine sees more. Prints `N passed, N failed, N skipped`."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPECTED = pathlib.Path(__file__).resolve().with_name("expected.tsv")
CASES = ["block_reduce_reuse", "cp_async_no_barrier", "flag_handoff", "histogram", "last_block_reduction", "spin_lock",
         "two_reductions_one_buffer", "warp_exchange", "programmatic_launch", "crossed_named_barriers",
         "pipeline_early_release"]
SETTLED = {"found", "proved", "both-orders", "not-reached"}


def mutants(program):
    words = [program, "mutate", "--json", *(f"cases/{name}/sound.toml" for name in CASES)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=600)
    assert done.returncode in (0, 3), done.stderr.decode()
    rows = []
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
    for row in sorted(set(rows) ^ set(expected)):
        mutant, state = row.rsplit("\t", 1)
        if state == "found" and f"{mutant}\tboth-orders" in expected:
            print("found by now: " + mutant)
        elif not (state == "both-orders" and f"{mutant}\tfound" in rows):
            failed += 1
            print(("is now:   " if row in rows else "expected: ") + row)
    for row in rows:
        if row.rsplit("\t", 1)[1] not in SETTLED:
            failed += 1
            print("not settled: " + row)
    print(f"{max(0, len(expected) - failed)} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
