"""The table of mutants over many sound kernels, for docs/mutate.md.

    bench/mutate.py ASSAY [--limit N] FOLDER…

Runs `assay mutate --json` on each folder or file and writes bench/results/mutate-DATE-COMMIT.json (every mutant: case,
place, fault, state, time) and the table by kind of fault, in Markdown, to standard output. A folder's cases that fail
by themselves are left out by the program."""

import datetime
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = [("mutants", "mutants"), ("found", "found"), ("found_near", "at or near the place"),
           ("found_same_bytes", "same bytes in both orders"), ("proved", "proved equal"),
           ("both_orders", "both orders run"), ("not_reached", "not reached"), ("not_settled", "not settled"), ("unknown", "unknown"),
           ("invalid", "invalid")]


def add(total, part):
    for key, value in part.items():
        total[key] = total.get(key, 0) + value


def main():
    program, folders, more = sys.argv[1], sys.argv[2:], []
    if folders[0] == "--limit":
        more, folders = folders[:2], folders[2:]
    kinds, everything, mutants, sources = {}, {}, [], []
    for folder in folders:
        start = time.monotonic()
        done = subprocess.run([program, "mutate", "--json", *more, folder], cwd=ROOT, capture_output=True)
        if done.returncode not in (0, 3):
            sys.exit(done.stderr.decode())
        result = json.loads(done.stdout)
        wall = time.monotonic() - start
        sources.append({"folder": folder, "mutants": result["all"]["mutants"], "wall_seconds": round(wall, 1)})
        for kind, row in result["kinds"].items():
            add(kinds.setdefault(kind, {}), row)
        add(everything, result["all"])
        mutants += result["mutants"]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True).stdout.decode().strip()
    date = datetime.date.today().isoformat()
    path = ROOT / "bench" / "results" / f"mutate-{date}-{commit}.json"
    rows = [json.dumps(m, ensure_ascii=False) for m in mutants]
    head = {"date": date, "commit": commit, "sources": sources, "all": everything, "kinds": kinds}
    path.write_text(json.dumps(head, indent=1)[:-2] + ',\n "mutants": [\n' + ",\n".join(rows) + "\n]}\n")
    print(f"Of {date}, commit {commit}:\n")
    print("| fault | " + " | ".join(title for _, title in COLUMNS) + " | seconds |")
    print("|---|" + "---|" * (len(COLUMNS) + 1))
    for name, row in [*kinds.items(), ("all", everything)]:
        if not row["mutants"]:
            continue
        print(f"| {name} | " + " | ".join(str(row.get(key, 0)) for key, _ in COLUMNS) + f' | {row["seconds"]:.1f} |')
    print("\n| where from | mutants | wall seconds |\n|---|---|---|")
    for source in sources:
        print(f'| {source["folder"]} | {source["mutants"]} | {source["wall_seconds"]} |')


if __name__ == "__main__":
    main()
