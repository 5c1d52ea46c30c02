"""The dependency rule: which module may include which. See docs/architecture.md."""

import pathlib
import re

from sources import CODE, ROOT, files, finish

ENGINE = {"base", "ptx", "fp", "ir", "race", "schedule", "vgpu"}
MAY_INCLUDE = {
    "base": set(),
    "ptx": {"base"},
    "fp": {"base"},
    "ir": {"base", "ptx", "fp"},
    "race": {"base"},
    "schedule": {"base"},
    "vgpu": {"base", "ptx", "ir", "fp", "race", "schedule"},
    "explore": ENGINE,
    "compile": {"base"},
    "inputs": {"base"},
    "cases": ENGINE | {"explore", "compile", "inputs"},
    "mutate": {"base", "ptx"},
    "native": {"base"},
    "report": {"base"},
}
EVERYTHING = set(MAY_INCLUDE) | {"cli"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def problems_in(name, text):
    """Complaints about one file; `name` is relative to src/."""
    module = name.split("/")[0]
    if "/" not in name:
        return [f"src/{name}: a source outside the modules"]
    if module not in EVERYTHING:
        return [f"src/{name}: the module {module} is not in the table of tests/style/layers.py"]
    allowed = EVERYTHING if module == "cli" else MAY_INCLUDE[module] | {module}
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        other = match[1].split("/")[0]
        place = f"src/{name}:{number}"
        if "/" not in match[1] or other not in EVERYTHING:
            found.append(f'{place}: includes "{match[1]}"; name the file from its module on')
        elif other not in allowed:
            found.append(f"{place}: {module} may not include {other}")
    return found


def main():
    names = files(*CODE, ".def", ".inc", under=("src/",))
    problems = []
    for name in names:
        problems += problems_in(name[4:], (ROOT / name).read_text(errors="replace"))
    finish(problems, len(names))


if __name__ == "__main__":
    main()
