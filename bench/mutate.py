"""The table of mutants over many sound kernels, for docs/mutate.md.

    bench/mutate.py compile ASSAY FOLDER…
    bench/mutate.py run ASSAY --out FILE [--jobs N] [--each S] [--within S] [--total S] [--done FILE…]
                    [--without FILE…] FOLDER[=LIMIT]…
    bench/mutate.py merge FILE… [--json FILE] [--machine TEXT] [--write FILE]

`compile` writes PTX beside the kernels of the folders that have none, for a machine without a compiler (not to be committed).

`run` runs `assay mutate --json` on each sound kernel of the folders, on N cores, and appends a line of JSON to --out as each is
done. FOLDER=LIMIT: at most so many mutants of each kernel there, chosen by the seed 1, each kind of fault in turn. A mutant that
takes longer than --each seconds is left open ("out of time"); of a kernel that takes longer than --within no further ones are
begun, and none at all so that it ends before --total. What such a file named by --done has of the same binary and limit, and
whole, is not run again; --without names case files to leave out. The longest come first, on several cores where one would take too long, by bench/results/mutate-costs.tsv (kernel,
seconds of a mutant, mutants), which merge writes; kernels that it does not know come before.

`merge` makes of such files bench/results/mutate-DATE-COMMIT.json.gz (every mutant: case, place, fault, state, time) and prints the
tables in Markdown, with what was left out and every mutant that is neither found nor settled; --write puts them into a file
between the lines <!-- mutants --> and <!-- end of mutants -->. Of two lines of a kernel the one with more mutants counts."""

import argparse
import datetime
import gzip
import hashlib
import json
import math
import pathlib
import re
import shlex
import subprocess
import sys
import time
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
COSTS = RESULTS / "mutate-costs.tsv"
COLUMNS = [("mutants", "mutants"), ("found", "found"), ("found_near", "at or near the place"),
           ("found_same_bytes", "same bytes in both orders"), ("proved", "proved equal"),
           ("both_orders", "both orders run"), ("not_reached", "not reached"), ("not_settled", "not settled"),
           ("unknown", "unknown"), ("invalid", "invalid")]
OPEN = ("not-settled", "unknown", "invalid")
WRONG = re.compile(r"\.(no_\w+|bad|early_arrival)\.")  # what the names of planted defects have
UNKNOWN = 1e6  # seconds, of a kernel of which nothing is known
SLICE = 20  # seconds that a kernel should take on the cores that it gets


def sources(folder):
    """Case files, and kernels without one; neither what is known to be wrong."""
    path = ROOT / folder
    if path.is_file():
        return [folder]
    found = [p for p in path.rglob("*.toml") if p.name != "defect.toml"]
    with_case = {p.parent for p in found}
    found += [p for p in path.rglob("*.cu") if p.parent not in with_case]
    return sorted(str(p.relative_to(ROOT)) for p in found if not WRONG.search(p.name))


def compile_all(arguments):
    for source in (ROOT / s for folder in arguments.folders for s in sources(folder) if s.endswith(".cu")):
        if source.with_suffix(".ptx").exists():
            continue
        launch = [w for line in source.read_text().splitlines() if line.startswith("// launch:") for w in shlex.split(line[10:])]
        words = [str(pathlib.Path(arguments.program).resolve()), "case", "compile", source.name]
        words += [f"--flag={w}" for w in launch if w.startswith("-D")]
        for option in ("--arch", "--entry"):
            value = launch[launch.index(option) + 1] if option in launch else ""
            # A template has to be named; of several other kernels all are compiled.
            words += [option, value] if value and (option == "--arch" or "<" in value) else []
        subprocess.run(words, cwd=source.parent, check=True)


def lines_of(files):
    for file in files:
        for line in pathlib.Path(file).read_text().splitlines():
            yield json.loads(line)


def costs():
    """Of each kernel that was run once: the seconds of a mutant on average, and how many there are."""
    rows = (line.split("\t") for line in COSTS.read_text().splitlines()) if COSTS.exists() else ()
    return {source: (float(one), int(count)) for source, one, count in rows}


def write_costs(lines):
    known = costs()
    for line in lines:
        mutants = line["result"].get("mutants", [])
        if mutants:
            total = len(mutants) + line["result"]["left_out_by_limit"] + line["result"]["left_out_by_time"]
            known[line["source"]] = (sum(m["seconds"] for m in mutants) / len(mutants), total)
    COSTS.write_text("".join(f"{source}\t{one:.4f}\t{count}\n" for source, (one, count) in sorted(known.items())))


class Work:
    """One kernel."""

    def __init__(self, folder, source, limit, known, jobs):
        self.folder, self.source, self.limit = folder, source, limit
        one, count = known.get(source, (UNKNOWN, 1))
        self.estimate = one * min(limit or count, count)
        wanted = max(1, math.ceil(self.estimate / SLICE)) if self.estimate < UNKNOWN else 2
        self.cores = min(jobs, wanted, max(2, jobs // 2))

    def start(self, arguments, left):
        within = min(arguments.within, left - arguments.each - 5)
        words = [arguments.program, "mutate", "--json", "--threads", str(self.cores), "--limit", str(self.limit),
                 "--each", f"{arguments.each:.3g}", "--within", f"{within:.3g}", self.source]
        self.began, self.end = time.monotonic(), time.monotonic() + left
        self.output = open(arguments.scratch / f"{id(self)}.out", "w+b")
        self.process = subprocess.Popen(words, cwd=ROOT, stdout=self.output, stderr=subprocess.DEVNULL)

    def result(self):
        """None as long as it runs."""
        if self.process.poll() is None:
            if time.monotonic() < self.end:
                return None
            self.process.kill()
            self.process.wait()
        self.seconds = time.monotonic() - self.began
        self.output.seek(0)
        text = self.output.read()
        self.output.close()
        pathlib.Path(self.output.name).unlink()
        if self.process.returncode < 0:
            return {"left_out": "no time was left for its check" if self.process.returncode == -9 else "crashed"}
        if self.process.returncode not in (0, 3) or b'"mutants"' not in text:
            return {"left_out": "does not pass by itself"}
        return json.loads(text)


def is_whole(line):
    return "mutants" in line["result"] and not line["result"]["left_out_by_time"]


def run(arguments):
    start = time.monotonic()
    arguments.program = str(pathlib.Path(arguments.program).resolve())
    engine = hashlib.sha256(pathlib.Path(arguments.program).read_bytes()).hexdigest()[:16]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.scratch = arguments.out.parent
    files = [f for f in [*arguments.done, arguments.out] if f.exists()]
    done = {(line["source"], line["limit"]) for line in lines_of(files) if line["engine"] == engine and is_whole(line)}
    known = costs()
    waiting = []
    for folder in arguments.folders:
        name, _, limit = folder.partition("=")
        waiting += [Work(name, source, int(limit or 0), known, arguments.jobs) for source in sources(name)
                    if (source, int(limit or 0)) not in done and source not in arguments.without]
    waiting.sort(key=lambda w: -w.estimate)
    total, running, free, finished = len(waiting), [], arguments.jobs, 0
    print(f"{total} kernels, {len(done)} are done", file=sys.stderr, flush=True)
    with open(arguments.out, "a") as out:
        for source in arguments.without:
            out.write(json.dumps({"source": source, "limit": 0, "engine": engine, "result": {"left_out": "by choice"}}) + "\n")
        while waiting or running:
            left = arguments.total - (time.monotonic() - start)
            for work in [w for w in waiting if w.cores <= free][:1]:
                waiting.remove(work)
                if left < arguments.each + 10:
                    continue  # no line: another call runs it
                work.start(arguments, left)
                running.append(work)
                free -= work.cores
            ended = [(w, r) for w, r in ((w, w.result()) for w in running) if r is not None]
            for work, result in ended:
                running.remove(work)
                free += work.cores
                finished += 1
                out.write(json.dumps({"source": work.source, "folder": work.folder, "limit": work.limit, "engine": engine,
                                      "seconds": round(work.seconds, 2), "cores": work.cores, "result": result}) + "\n")
                out.flush()
                what = result.get("left_out") or f'{result["all"]["mutants"]} mutants'
                print(f"{time.monotonic() - start:6.1f} s  {finished} of {total}  {work.source}: {what}, {work.seconds:.1f} s on "
                      f"{work.cores}", file=sys.stderr, flush=True)
            if not ended and not (waiting and any(w.cores <= free for w in waiting)):
                time.sleep(0.02)
    print(f"{finished} of {total} kernels, {time.monotonic() - start:.0f} s", file=sys.stderr)


def add(total, part):
    for key, value in part.items():
        total[key] = round(total.get(key, 0) + value, 4)


def gather(files):
    """The best line of each kernel; one engine."""
    best = {}
    for line in lines_of(files):
        old = best.get(line["source"])
        if not old or len(line["result"].get("mutants", [])) >= len(old["result"].get("mutants", [])):
            best[line["source"]] = line
    engines = {line["engine"] for line in best.values()}
    if len(engines) != 1:
        sys.exit(f"these results are of {len(engines)} engines: {', '.join(sorted(engines))}")
    return [best[source] for source in sorted(best)]


def tables(head, mutants):
    yield f'Of {head["date"]}, commit {head["commit"]}{", " if head["machine"] else ""}{head["machine"]}:\n'
    yield "| fault | " + " | ".join(title for _, title in COLUMNS) + " | seconds |"
    yield "|---|" + "---|" * (len(COLUMNS) + 1)
    for name, row in [*head["kinds"].items(), ("all", head["all"])]:
        if row["mutants"]:
            yield f"| {name} | " + " | ".join(str(row.get(key, 0)) for key, _ in COLUMNS) + f' | {row["seconds"]:.1f} |'
    yield "\n| where from | kernels | mutants | left out by the limit | for want of time | not settled | seconds of a core |"
    yield "|---|---|---|---|---|---|---|"
    for name, row in head["sources"].items():
        limit = f', at most {row["limit"]} of a kernel' if row["limit"] else ", all"
        yield (f'| `{name}`{limit} | {row["kernels"]} | {row["mutants"]} | {row["by_limit"]} | {row["by_time"]} | {row["open"]} | '
               f'{row["seconds"]:.0f} |')
    still = [m for m in mutants if m["state"] in OPEN]
    yield f"\nNeither found nor settled: {len(still) or 'none'}.\n"
    if still:
        yield "| kernel | fault | place | planted | state | why |\n|---|---|---|---|---|---|"
    for m in still:
        cells = [f'`{m["case"]}`', m["fault"], f'{pathlib.Path(m["file"]).name}:{m["line"]}',
                 f'`{m["before"]}` -> `{m["after"]}`', m["state"], m["detail"]]
        yield "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"
    for source, why in head["left_out"]:
        yield f"\nLeft out: `{source}`, {why}."


def merge(arguments):
    lines = gather(arguments.files)
    write_costs(lines)
    kinds, everything, mutants, folders, left_out = {}, {}, [], {}, []
    for line in lines:
        result = line["result"]
        if "left_out" in result:
            left_out.append((line["source"], result["left_out"]))
            continue
        row = folders.setdefault(line["folder"], {"limit": line["limit"], "kernels": 0, "mutants": 0, "by_limit": 0, "by_time": 0,
                                                  "open": 0, "seconds": 0})
        add(row, {"kernels": 1, "mutants": result["all"]["mutants"], "by_limit": result["left_out_by_limit"],
                  "by_time": result["left_out_by_time"], "open": sum(m["state"] in OPEN for m in result["mutants"]),
                  "seconds": sum(m["seconds"] for m in result["mutants"])})
        for kind, counts in result["kinds"].items():
            add(kinds.setdefault(kind, {}), counts)
        add(everything, result["all"])
        mutants += result["mutants"]
    mutants.sort(key=lambda m: (m["case"], m["ptx_line"], m["fault"], m["after"]))
    commit = arguments.commit or subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT,
                                                capture_output=True).stdout.decode().strip()
    head = {"date": arguments.date, "commit": commit, "engine": lines[0]["engine"], "machine": arguments.machine,
            "sources": folders, "left_out": left_out, "all": everything, "kinds": kinds}
    path = arguments.json or RESULTS / f"mutate-{arguments.date}-{commit}.json.gz"
    rows = [json.dumps(m, ensure_ascii=False) for m in mutants]
    text = json.dumps(head, indent=1)[:-2] + ',\n "mutants": [\n' + ",\n".join(rows) + "\n]}\n"
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())
    text = "\n".join(tables(head, mutants)) + "\n"
    print(text)
    if arguments.write:
        old = arguments.write.read_text()
        begin, end = "<!-- mutants -->\n", "<!-- end of mutants -->"
        at, to = old.index(begin) + len(begin), old.index(end)
        arguments.write.write_text(old[:at] + "\n" + text + "\n" + old[to:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("compile")
    verb.add_argument("program")
    verb.add_argument("folders", nargs="+")
    verb.set_defaults(work=compile_all)
    verb = verbs.add_parser("run")
    verb.add_argument("program")
    verb.add_argument("folders", nargs="+")
    verb.add_argument("--out", type=pathlib.Path, required=True)
    verb.add_argument("--done", type=pathlib.Path, nargs="+", default=[])
    verb.add_argument("--without", nargs="+", default=[])
    verb.add_argument("--jobs", type=int, default=2)
    verb.add_argument("--each", type=float, default=60)
    verb.add_argument("--within", type=float, default=86400)
    verb.add_argument("--total", type=float, default=86400)
    verb.set_defaults(work=run)
    verb = verbs.add_parser("merge")
    verb.add_argument("files", nargs="+", type=pathlib.Path)
    verb.add_argument("--json", type=pathlib.Path)
    verb.add_argument("--machine", default="")
    verb.add_argument("--commit")
    verb.add_argument("--date", default=datetime.date.today().isoformat())
    verb.add_argument("--write", type=pathlib.Path)
    verb.set_defaults(work=merge)
    arguments = parser.parse_args()
    arguments.work(arguments)


if __name__ == "__main__":
    main()
