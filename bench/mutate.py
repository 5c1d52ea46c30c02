"""The table of mutants over many sound kernels, for docs/mutate.md.

    bench/mutate.py ASSAY [--limit N] [--jobs N] [--seconds S] [--total S] FOLDER[=N]…

Runs `assay mutate --json` on each kernel of the folders, so many beside each other, and writes
bench/results/mutate-DATE-COMMIT.json (every mutant: case, place, fault, state, time) and the table by kind of fault, in
Markdown, to standard output. FOLDER=N: at most N mutants of each kernel there. What does not pass by itself is left out;
a kernel whose mutants take more than S seconds is tried again with a quarter of them, and named if that is too much; none is begun after --total seconds."""

import argparse
import concurrent.futures
import datetime
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = [("mutants", "mutants"), ("found", "found"), ("found_near", "at or near the place"),
           ("found_same_bytes", "same bytes in both orders"), ("proved", "proved equal"),
           ("both_orders", "both orders run"), ("not_reached", "not reached"), ("not_settled", "not settled"),
           ("unknown", "unknown"), ("invalid", "invalid")]


def add(total, part):
    for key, value in part.items():
        total[key] = total.get(key, 0) + value


def sources(folder):
    """Case files, and kernels without one; neither what is known to be wrong."""
    path = ROOT / folder
    if path.is_file():
        return [folder]
    found = [p for p in path.rglob("*.toml") if p.name != "defect.toml"]
    with_case = {p.parent for p in found}
    found += [p for p in path.rglob("*.cu") if p.parent not in with_case and not any(w in p.name for w in (".no_", ".bad."))]
    return sorted(str(p.relative_to(ROOT)) for p in found)


def run(program, source, limit, seconds, end):
    """The result, or why there is none; and the seconds."""
    if time.monotonic() > end:
        return source, "no time was left", 0
    start, tries = time.monotonic(), [limit, limit // 4] if limit >= 4 else [limit]
    for n in tries:
        words = [program, "mutate", "--json", "--threads", "1", "--limit", str(n), source]
        try:
            done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            continue
        if done.returncode not in (0, 3) or b'"mutants"' not in done.stdout:
            return source, "does not pass by itself", time.monotonic() - start
        return source, json.loads(done.stdout), time.monotonic() - start
    return source, f"took more than {seconds} s", time.monotonic() - start


def results(arguments):
    wanted = []
    for folder in arguments.folders:
        name, _, limit = folder.partition("=")
        wanted += [(name, source, int(limit or arguments.limit)) for source in sources(name)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        end = time.monotonic() + arguments.total
        futures = {pool.submit(run, arguments.program, source, limit, arguments.seconds, end): folder
                   for folder, source, limit in wanted}
        for future in concurrent.futures.as_completed(futures):
            source, result, seconds = future.result()
            print(f"{seconds:7.1f} s  {source}", file=sys.stderr, flush=True)
            yield futures[future], source, result, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--total", type=int, default=1 << 30)
    arguments = parser.parse_args()
    arguments.program = str(pathlib.Path(arguments.program).resolve())
    kinds, everything, mutants, folders, left_out = {}, {}, [], {}, []
    for folder, source, result, seconds in results(arguments):
        row = folders.setdefault(folder, {"kernels": 0, "mutants": 0, "seconds": 0})
        row["seconds"] = round(row["seconds"] + seconds, 1)
        if isinstance(result, str):
            left_out.append((source, result))
            continue
        row["kernels"] += 1
        row["mutants"] += result["all"]["mutants"]
        for kind, counts in result["kinds"].items():
            add(kinds.setdefault(kind, {}), counts)
        add(everything, result["all"])
        mutants += result["mutants"]
    mutants.sort(key=lambda m: (m["case"], m["ptx_line"], m["fault"], m["after"]))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True).stdout.decode().strip()
    date = datetime.date.today().isoformat()
    path = ROOT / "bench" / "results" / f"mutate-{date}-{commit}.json"
    rows = [json.dumps(m, ensure_ascii=False) for m in mutants]
    head = {"date": date, "commit": commit, "sources": folders, "left_out": sorted(left_out), "all": everything, "kinds": kinds}
    path.write_text(json.dumps(head, indent=1)[:-2] + ',\n "mutants": [\n' + ",\n".join(rows) + "\n]}\n")
    print(f"Of {date}, commit {commit}:\n")
    print("| fault | " + " | ".join(title for _, title in COLUMNS) + " | seconds |")
    print("|---|" + "---|" * (len(COLUMNS) + 1))
    for name, row in [*kinds.items(), ("all", everything)]:
        if row["mutants"]:
            print(f"| {name} | " + " | ".join(str(row.get(key, 0)) for key, _ in COLUMNS) + f' | {row["seconds"]:.1f} |')
    print("\n| where from | kernels | mutants | seconds of a core |\n|---|---|---|---|")
    for name, row in folders.items():
        print(f'| `{name}` | {row["kernels"]} | {row["mutants"]} | {row["seconds"]:.0f} |')
    for source, why in sorted(left_out):
        print(f"left out: {source}, {why}")


if __name__ == "__main__":
    main()
