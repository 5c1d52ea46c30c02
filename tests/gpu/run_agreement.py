#!/usr/bin/env python3
"""Do this machine's GPU and the virtual GPU agree? Every case, uninstrumented, many times in fresh memory.

    tests/gpu/run_agreement.py export ASSAY FOLDER [CASE|DIR…]     on any machine: what to run, and what may come out
    tests/gpu/run_agreement.py run FOLDER OUT [--times 1000] [--jobs 8] [--limit 5] [--total 600] [--only PART]
    tests/gpu/run_agreement.py table OUT                           bench/results/agreement.md's tables, from OUT

`export` explores each case on the virtual GPU. `run` needs a GPU, numpy and xxhash, each case has a process of its own,
and writes OUT/head.json and OUT/cases.jsonl.gz. It fails when the GPU showed an outcome, a hang or an error that the
virtual GPU excludes: another outcome where all schedules are said to leave one. Prints 'N passed, N failed, N skipped'.
"""

import argparse
import collections
import concurrent.futures
import datetime
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
CASES = "cases.jsonl.gz"
SUITES = ["cases", "tests/cases/foreign", "tests/idioms", "tests/kernels", "tests/litmus"]
# Which findings say that a launch may not end, or not well.
NO_END = {"deadlock", "barrier-divergence", "hang", "out-of-bounds", "misaligned", "invalid-lane-mask", "trap", "assert",
          "illegal-operation"}
APPROXIMATE = re.compile(r"\b(?:ex2|lg2|sin|cos|tanh|rcp|rsqrt|sqrt|div)\.(?:approx|full)\b")


def sh(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip()


def export(assay, folder, targets):
    os.makedirs(folder, exist_ok=True)
    command = [os.path.abspath(assay), "native-export", "--to", os.path.abspath(folder), *(targets or SUITES)]
    begin = time.time()
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    print(done.stdout + done.stderr, end="")
    head = {"commit": sh("git", "rev-parse", "HEAD"), "changed": sh("git", "status", "--porcelain") != "",
            "exported": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "seconds": round(time.time() - begin), "refused": done.stderr.splitlines()}
    with open(os.path.join(folder, "export.head"), "w") as file:
        json.dump(head, file, indent=1)
    return 0 if re.search(r"^\d+ cases written", done.stdout, re.M) else 1


def one(path, options, until):
    """The result of a case's process, which is ended when it takes too long."""
    left = min(until - time.monotonic(), options.limit * 12)
    if left < options.limit:
        return {"unable": "no time was left"}
    command = [sys.executable, os.path.join(HERE, "agreement.py"), path, str(options.times), str(options.limit)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        output, errors = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"unable": "its process was ended after %d s" % left}
    try:
        return json.loads(output)
    except ValueError:
        return {"unable": "its process ended with %d: %s" % (process.returncode, errors[-300:])}


def judge(head, result, ptx):
    """State and a sentence. `passed`: nothing was seen that the virtual GPU excludes."""
    if "unable" in result:
        return "skipped", result["unable"]
    ended, distinct = result["ended"], result["distinct"]
    findings = set(head["findings"])
    if ended and not findings & NO_END:
        text = "%s after %d runs" % (ended, result["done"])
        return ("failed" if head["verdict"] == "pass" or head["deterministic"] else "passed"), text
    if head["verdict"] == "unknown":
        return "skipped", "no verdict: " + head["reason"]
    if ended:
        return "passed", "%s after %d runs" % (ended, result["done"])
    if head["deterministic"] and distinct == 1 and result["outside"] == 0:
        return "passed", ""
    if head["deterministic"]:
        if distinct == 1 and any("as data" in why for why in head["not_proved"]):
            return "passed", "one outcome, which holds addresses"
        apart = result.get("unfused")
        if apart and apart["distinct"] == 1 and apart["outside"] == 0 and apart["done"] == result["done"]:
            return "passed", "one outcome; with `.rn`, where ptxas may not fuse mul and add, the virtual GPU's"
        if distinct == 1 and APPROXIMATE.search(ptx):
            return "passed", "one outcome, other approximate values"
        return "failed", "%d outcomes, %d outside of the one that all schedules leave" % (distinct, result["outside"])
    text = "%d outcomes" % distinct
    if result["outside"]:
        text += ", %d that no schedule run here left (%d runs)" % (result["outside"], result["outside_runs"])
    return "passed", text


def run(options):
    names = sorted(n for n in os.listdir(options.folder) if n.endswith(".json") and options.only in n)
    until = time.monotonic() + options.total
    head = json.load(open(os.path.join(options.folder, "export.head")))
    query = "name,driver_version,vbios_version"
    head["card"] = sh("nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader")
    head["date"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    head["times"], head["limit"] = options.times, options.limit
    os.makedirs(options.out, exist_ok=True)
    count, begin = collections.Counter(), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, \
            gzip.open(os.path.join(options.out, CASES), "wt") as file:
        paths = [os.path.join(options.folder, name) for name in names]
        for path, result in zip(paths, pool.map(lambda path: one(path, options, until), paths)):
            case = json.load(open(path))
            ptx = open(os.path.join(options.folder, case["ptx"])).read()
            state, text = judge(case, result, ptx)
            count[state] += 1
            if state != "passed":
                print("%s %s: %s" % (state, case["name"], text), flush=True)
            row = {"case": case["name"], "state": state, "text": text}
            for key in ("verdict", "reason", "deterministic", "race_free", "proved", "findings", "notes"):
                row[key] = case[key]
            row["virtual"] = {"runs": case["runs"], "outcomes": len(case["outcomes"]), "ends": case["ends"]}
            row["approximate"] = bool(APPROXIMATE.search(ptx))
            row["hardware"] = result
            file.write(json.dumps(row) + "\n")
            file.flush()
    head["run_seconds"] = round(time.monotonic() - begin)
    with open(os.path.join(options.out, "head.json"), "w") as file:
        json.dump(head, file, indent=1)
    print("%d passed, %d failed, %d skipped" % (count["passed"], count["failed"], count["skipped"]))
    return 1 if count["failed"] else 0


def suite_of(name):
    return next((s for s in SUITES if name.startswith(s + "/")), "other")


def table(out):
    rows = [json.loads(line) for line in gzip.open(os.path.join(out, CASES), "rt")]
    ran = [r for r in rows if "unable" not in r["hardware"]]
    print("| suite | cases | run | launched | one outcome for all schedules: agree | other | several outcomes: all known | "
          "some new | did not end |\n|---|---|---|---|---|---|---|---|---|")
    for suite in SUITES + ["all"]:
        mine = [r for r in rows if suite in ("all", suite_of(r["case"]))]
        there = [r for r in mine if r in ran]
        one = [r for r in there if r["deterministic"] and not r["hardware"]["ended"]]
        more = [r for r in there if not r["deterministic"] and not r["hardware"]["ended"]]
        agree = [r for r in one if r["hardware"]["distinct"] == 1 and not r["hardware"]["outside"]]
        known = [r for r in more if not r["hardware"]["outside"]]
        launches = sum(r["hardware"]["done"] for r in there)
        print("| %s | %d | %d | %d | %d | %d | %d | %d | %d |" % (
            suite, len(mine), len(there), launches, len(agree), len(one) - len(agree), len(known),
            len(more) - len(known), len(there) - len(one) - len(more)))
    for title, wanted in (("Failed", lambda r: r["state"] == "failed"), ("Skipped", lambda r: r["state"] == "skipped"),
                          ("Without a finding, with a remark", lambda r: r["text"] and r["verdict"] == "pass")):
        found = ["- `%s`: %s" % (r["case"], r["text"]) for r in rows if wanted(r)]
        print("\n%s: %s" % (title, "\n\n" + "\n".join(found) if found else "none."))
    print("\nWith findings, and outcomes that no explored schedule left, or no end:\n\n"
          "| case | findings | virtual GPU: runs, outcomes | on the GPU |\n|---|---|---|---|")
    for r in ran:
        if r["verdict"] == "fail" and (r["hardware"]["outside"] or r["hardware"]["ended"]):
            print("| `%s` | %s | %d, %d %s | %s |" % (
                r["case"], ", ".join(sorted(set(r["findings"]))), r["virtual"]["runs"], r["virtual"]["outcomes"],
                " ".join(r["virtual"]["ends"]), r["text"].replace("that no schedule run here left ", "new ")))


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "export":
        return export(sys.argv[2], sys.argv[3], sys.argv[4:])
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        return table(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("--total", type=float, default=600)
    parser.add_argument("--only", default="")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
