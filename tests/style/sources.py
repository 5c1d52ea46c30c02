"""The project's files, as the style checks see them: tracked and new ones, or all when there is no git."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = (".cpp", ".hpp", ".h")


def git(*arguments):
    """Output lines of a git command, or None where git or the repository is missing."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None


def files(*suffixes, under=("",)):
    """Paths relative to the root with one of the suffixes, below one of the folders."""
    names = git("ls-files", "--cached", "--others", "--exclude-standard")
    if names is None:
        skip = ("build", ".venv", ".git", ".cache")
        names = [
            str(path.relative_to(ROOT))
            for path in ROOT.rglob("*")
            if path.is_file() and path.relative_to(ROOT).parts[0] not in skip
        ]
    return sorted(
        name
        for name in set(names)
        if name.endswith(suffixes) and name.startswith(tuple(under)) and (ROOT / name).is_file()
    )


def finish(problems, checked):
    """Prints the problems and ends the program with the right code."""
    for problem in problems:
        print(problem)
    print(f"{checked} files checked, {len(problems)} problems")
    sys.exit(1 if problems else 0)
