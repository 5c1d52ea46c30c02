#!/usr/bin/env python3
"""Mutation study of the native backend: the four kinds of faults of the RESOLVE paper (its section 6.2), one of each in every
sound kernel that has a place for it; how many does a GPU show under `assay determinism --executor native`?

    mutants.py plant ASSAY FOLDER       any machine: plants the faults (`assay mutate`), with the virtual GPU's verdict of each
    mutants.py run ASSAY FOLDER         with a GPU; writes FOLDER/native.json (begins none after $LIMIT_SECONDS)
    mutants.py table FOLDER             the table, in Markdown, and every miss with what is known of it
"""

import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Paper: a barrier or wait is deleted; swapped with the access behind it; narrowed in scope; write destinations aliased.
GROUPS = {
    "deleted": "barrier-deleted,warp-barrier-deleted,wait-dropped",
    "moved": "barrier-moved",
    "narrowed": "barrier-narrowed,fence-narrowed,scope-narrowed",
    "aliased": "write-aliased",
}
STATES = ("found", "proved", "both_orders", "not_settled", "unknown", "invalid")


def kernels():
    found = sorted((ROOT / "cases").glob("*/sound.toml"))
    for folder in ("large", "cub"):
        found += sorted(p for p in (ROOT / "tests/kernels" / folder).glob("*.toml") if p.stem.count(".") == 0)
    return found


def plant_one(assay, folder, case, group):
    name = "%s-%s" % (case.parent.name if case.stem == "sound" else case.stem, group)
    place = folder / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        done = subprocess.run([assay, "mutate", str(case), "--kinds", GROUPS[group], "--limit", "1", "--threads", "1",
                               "--write", str(place), "--json"], capture_output=True, text=True, timeout=120)
        verdict = json.loads(done.stdout)["all"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        verdict = {}
    texts = sorted(place.glob("*.ptx"))
    if not texts:
        shutil.rmtree(place)
        return None
    for data in case.parent.glob("*.npy"):
        shutil.copy(data, place)
    toml = re.sub(r'file = "[^"]*\.(cu|ptx)"', 'file = "%s"' % texts[0].name, case.read_text(), count=1)
    (place / "case.toml").write_text(toml)
    state = next((s for s in STATES if verdict.get(s)), "unknown")
    what = texts[0].read_text().splitlines()[0][3:]
    return {"name": name, "kernel": name.rsplit("-", 1)[0], "group": group, "virtual": state, "what": what}


def plant(assay, folder):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(plant_one, assay, folder, case, group) for case in kernels() for group in GROUPS]
        rows = [job.result() for job in jobs]
    rows = [row for row in rows if row]
    (folder / "planted.json").write_text(json.dumps(rows, indent=1))
    print("%d mutants in %d kernels" % (len(rows), len({row["kernel"] for row in rows})))


def examine(assay, folder, row):
    begin = time.time()
    try:
        done = subprocess.run([assay, "determinism", "--executor", "native", "--json", str(folder / row["name"] / "case.toml")],
                              capture_output=True, text=True, timeout=40)
    except subprocess.TimeoutExpired:
        return dict(row, native="hang", why="did not end", seconds=40)
    launches, at, decoder, mark = [], done.stdout.find('{\n  "schema": "assay/run/1"'), json.JSONDecoder(), '{\n  "schema"'
    while at >= 0:
        report, end = decoder.raw_decode(done.stdout[at:])
        launches += report["launches"]
        step = done.stdout[at + end:].find(mark)
        at = -1 if step < 0 else at + end + step
    order = {"fail": 2, "unknown": 1, "pass": 0}
    worst = max(launches, key=lambda launch: order[launch["verdict"]], default=None)
    verdict = worst["verdict"] if worst else "none"
    clash = any("lanes of a warp store different values" in note for launch in launches for note in launch["notes"])
    why = worst["reason"] if worst else (done.stderr or done.stdout).strip()[:150]
    if verdict != "pass" and ("had not ended" in why or "its own run ended with" in why):
        verdict = "hang"  # the mutant hangs, or ends with an error of its own
    findings = [line[len("finding: "):] for line in done.stdout.splitlines() if line.startswith("finding: ")]
    if findings and verdict in ("pass", "unknown"):  # of the results: unwritten outputs, changed inputs
        verdict, why = "result", findings[0]
    return dict(row, native=verdict, clash=clash, why=why, seconds=round(time.time() - begin, 2),
                milliseconds=sum(launch["milliseconds"] for launch in launches))


def run(assay, folder):
    rows = json.loads((folder / "planted.json").read_text())
    rows.sort(key=lambda row: hashlib.md5(row["name"].encode()).hexdigest())  # should time run out, a sample
    end, done, lock = time.time() + float(os.environ.get("LIMIT_SECONDS", "1e9")), [], threading.Lock()

    def one(row):
        if time.time() > end:
            return
        row = examine(assay, folder, row)
        with lock:
            done.append(row)
            (folder / "native.json").write_text(json.dumps(done, indent=1))

    # Few at a time: contexts take turns on a GPU, and a repeat has several turns.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(one, rows))
    table(folder)


def table(folder):
    rows = json.loads((folder / "native.json").read_text())
    runs = [row for row in rows if row["native"] not in ("none",) and row["virtual"] != "invalid"]
    print("| fault | mutants | repeats differ | without a delay | hang or end with an error | unwritten outputs | unknown | pass "
          "| of these with a note of clashing lanes | shown equal by the virtual GPU |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for group in [*GROUPS, "all"]:
        mine = [row for row in runs if group in (row["group"], "all")]
        count = collections.Counter(row["native"] for row in mine)
        bare = sum(row["native"] == "fail" and "without any delay" in row["why"] for row in mine)
        equal = sum(row["native"] == "pass" and row["virtual"] in ("proved", "both_orders") for row in mine)
        noted = sum(row["native"] == "pass" and row.get("clash", False) for row in mine)
        print("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d |" % (
            group, len(mine), count["fail"], bare, count["hang"], count["result"], count["unknown"], count["pass"], noted, equal))
    print("\n%d kernels\n" % len({row["kernel"] for row in runs}))
    for row in runs:
        if row["native"] in ("pass", "unknown"):
            print("%-36s %-7s virtual: %-11s %s | %s" % (row["name"], row["native"], row["virtual"], row["what"][:90],
                                                         row["why"][:120]))


def main():
    verb, folder = sys.argv[1], pathlib.Path(sys.argv[-1])
    if verb == "table":
        return table(folder)
    {"plant": plant, "run": run}[verb](os.path.abspath(sys.argv[2]), folder)


if __name__ == "__main__":
    main()
