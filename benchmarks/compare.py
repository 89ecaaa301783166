"""Compare this tree's speed with a revision: ``python -m benchmarks.compare --rev REV``, or ``make bench-compare``.

This tree's benchmark measures both trees. REV is checked out under ``var/``. Each section runs in new processes, on
the two trees in turn (A B B A A B ...), so that a machine that slows down affects both. Each pair gives the ratio
new / old of every figure; the result is the median over the pairs with its bootstrap interval. ``--baseline`` compares
with ``benchmarks/baseline.json`` instead, and only figures that are ratios, because others depend on the machine.

A figure is *slower* if its interval excludes 1 and its median is worse by more than 5 %; see ``Change``. The exit code
is 1 if a figure is slower, and 2 if no figure could be compared.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import older, record, tables
from benchmarks.__main__ import SECTIONS
from benchmarks.figures import RATIO, Better, Figure, median
from brokerweb.up.environment import build_accelerator
from overlay.runtime.lifeline import die_with_parent

PAIRS, LEAST_PAIRS = 6, 4
"""With fewer than four pairs, the interval of the median is too narrow: the range of three covers 75 %."""
ROUNDS = 2
"""Rounds in each process. More pairs are better than more rounds."""
TOLERANCE = 0.05
UNCHANGING = ("peers",)
"""Sections that depend little on this repository's code. They are compared only if they are named."""
NEEDED = ("overlay/__init__.py", "telemetry/intervals.py")
"""Modules that the benchmark imports from the measured tree; older trees have them elsewhere."""
ENDS_WITHIN_S = 20.0


class CannotCompare(Exception):
    """The revision does not exist or cannot be measured. The message is one sentence."""


@dataclass(frozen=True)
class Tree:
    """A checkout of the repository at ``path``."""

    name: str
    path: Path


@dataclass(frozen=True)
class Change:
    """The median of new / old for one figure, with its interval."""

    section: str
    name: str
    better: Better
    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """``slower`` (worse, in any unit), ``faster`` (better) or ``same`` (no significant difference)."""
        if self.high < 1 and self.ratio < 1 - TOLERANCE:
            return "faster" if self.better == "lower" else "slower"
        if self.low > 1 and self.ratio > 1 + TOLERANCE:
            return "slower" if self.better == "lower" else "faster"
        return "same"


def main(arguments: Sequence[str] | None = None, root: Path = record.ROOT) -> int:
    """Run the command with ``arguments`` in the repository at ``root``."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    new = Tree("this tree", root)
    sections = options.section or [name for name in SECTIONS if name not in UNCHANGING]
    try:
        with tempfile.TemporaryDirectory(prefix="waxwing-compare-") as directory:
            scratch = Path(directory)
            (scratch / older.NAME).symlink_to(root / older.NAME)
            if options.baseline:
                changes = against_baseline(new, sections, options.rounds * ROUNDS, scratch)
            else:
                with checked_out(root, options.rev) as old:
                    changes = against_tree(old, new, sections, options.rounds, scratch)
    except CannotCompare as reason:
        print(f"bench-compare: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("bench-compare: interrupted", file=sys.stderr)
        return 130
    print(table(changes))
    if not changes:
        return 2
    return int(any(change.verdict == "slower" for change in changes))


@contextmanager
def checked_out(root: Path, revision: str) -> Iterator[Tree]:
    """``revision`` in a temporary work tree under ``var/``. Raises ``CannotCompare``."""
    found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found is None:
        raise CannotCompare(f"revision {revision} does not exist; see git log")
    tree = root / "var" / "compare" / f"{found[:12]}-{os.getpid()}"
    tree.parent.mkdir(parents=True, exist_ok=True)
    try:
        if _git(root, "worktree", "add", "--quiet", "--detach", str(tree), found) is None:
            raise CannotCompare(f"git could not check out {revision} to {tree}")
        if not (tree / "overlay" / "core").is_dir() and not all((tree / name).exists() for name in NEEDED):
            raise CannotCompare(f"{revision} is too old to be measured: it lacks {' and '.join(NEEDED)}")
        if (tree / "overlay" / "runtime" / "_datagrams.c").exists():
            build_accelerator(Path(sys.executable), tree)
        yield Tree(revision, tree)
    finally:
        _git(root, "worktree", "remove", "--force", "--force", str(tree))
        _git(root, "worktree", "prune")


def against_tree(old: Tree, new: Tree, sections: Sequence[str], pairs: int, scratch: Path) -> list[Change]:
    """The changes from ``old`` to ``new``, both measured now, in turn."""
    changes: list[Change] = []
    for section in sections:
        ratios: dict[tuple[str, Better], list[float]] = {}
        try:
            for pair in range(pairs):
                print(f"{section}: pair {pair + 1} of {pairs}", file=sys.stderr)
                order = (old, new) if pair % 2 == 0 else (new, old)
                measured = {tree: _measured(section, tree, ROUNDS, scratch) for tree in order}
                for name, then in measured[old].items():
                    now = measured[new].get(name)
                    if now and then.value > 0 and now.value > 0:
                        ratios.setdefault((name, now.better), []).append(now.value / then.value)
        except CannotCompare as reason:
            print(f"{section}: not compared: {reason}", file=sys.stderr)
            continue
        changes += [Change(section, *key, *median(values)) for key, values in ratios.items() if len(values) == pairs]
    return changes


def against_baseline(tree: Tree, sections: Sequence[str], rounds: int, scratch: Path) -> list[Change]:
    """The changes of ratios since the baseline was recorded. Raises ``CannotCompare`` without a baseline."""
    path = tree.path / record.BASELINE.relative_to(record.ROOT)
    try:
        baseline = record.read(path)
    except (OSError, ValueError) as reason:
        raise CannotCompare(
            f"cannot read the baseline: {reason}; record one with `make bench BENCH_ARGS=--write`"
        ) from reason
    changes = []
    for section in sections:
        recorded = {each.name: each for each in baseline.figures if each.section == section and each.unit == RATIO}
        try:
            measured = _measured(section, tree, rounds, scratch) if recorded else {}
        except CannotCompare as reason:
            print(f"{section}: not compared: {reason}", file=sys.stderr)
            continue
        for name, then in recorded.items():
            now = measured.get(name)
            if now and min(then.low, now.low) > 0:
                # The widest interval that the two intervals allow, because the runs are not paired.
                bounds = now.value / then.value, now.low / then.high, now.high / then.low
                changes.append(Change(section, name, now.better, *bounds))
    return changes


def table(changes: Sequence[Change]) -> str:
    """A table of all changes for a terminal; the last line counts them by verdict."""
    if not changes:
        return "No figure could be compared."
    heading = ("Section", "Figure", "new / old", "95 % interval", "")
    rows = [heading, *(_row(change) for change in changes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heading))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    verdicts = [change.verdict for change in changes]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in ("slower", "faster", "same"))
    return "\n".join([*lines, "", f"{counts}; slower and faster mean beyond the interval and {TOLERANCE:.0%}"])


def _row(change: Change) -> tuple[str, ...]:
    interval = f"{tables.number(change.low)} to {tables.number(change.high)}"
    return change.section, change.name, tables.number(change.ratio), interval, change.verdict


def _measured(section: str, tree: Tree, rounds: int, scratch: Path) -> dict[str, Figure]:
    """The figures of ``section`` by name, from a process with this benchmark and the packages of ``tree``.

    Raises ``CannotCompare`` with the process's last line of output.
    """
    told, package = scratch / "figures.json", older.package_for(tree.path, scratch)
    told.unlink(missing_ok=True)
    # Safe path: neither the working directory nor the script's directory may precede the measured tree in sys.path.
    # Child processes of the section inherit both variables, and so run the same tree.
    environment = os.environ | {"PYTHONSAFEPATH": "1", "PYTHONPATH": f"{package}{os.pathsep}{tree.path}"}
    command = [sys.executable, "-m", "benchmarks", section, "--rounds", str(rounds), "--json", str(told)]
    parent = os.getpid()
    with tempfile.TemporaryFile() as words:
        child = subprocess.Popen(
            command,
            cwd=tree.path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=words,
            start_new_session=True,  # Ctrl-C must reach it once, through _end
            preexec_fn=lambda: die_with_parent(parent),
        )
        try:
            child.wait()
        except KeyboardInterrupt:
            _end(child)
            raise
        try:
            measured = record.read(told)
        except (OSError, ValueError):
            words.seek(0)
            last = (words.read().decode(errors="replace").strip().splitlines() or ["no output"])[-1]
            raise CannotCompare(f"the benchmark does not run on {tree.name}: {last}") from None
    if not measured.figures:
        raise CannotCompare(measured.lacking.get(section, f"section {section} does not exist"))
    return {each.name: each for each in measured.figures}


def _end(child: subprocess.Popen[bytes]) -> None:
    """Interrupt ``child`` and wait until it has stopped its own processes."""
    child.terminate()
    try:
        child.wait(ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _git(root: Path, *arguments: str) -> str | None:
    """The output of git, or ``None`` if it fails."""
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _pairs(text: str) -> int:
    if not text.isdigit() or int(text) < LEAST_PAIRS:
        raise argparse.ArgumentTypeError(f"an interval needs at least {LEAST_PAIRS} pairs, not {text}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare", description="Compare this tree's speed with a revision or the baseline."
    )
    against = parser.add_mutually_exclusive_group(required=True)
    against.add_argument("--rev", metavar="REV", help="a revision in git: HEAD~3, a tag, a branch or a commit")
    against.add_argument("--baseline", action="store_true", help="compare ratios with the recorded baseline")
    parser.add_argument(
        "section",
        nargs="*",
        metavar="SECTION",
        help=f"one or more of {', '.join(SECTIONS)} (default: all but {', '.join(UNCHANGING)})",
    )
    parser.add_argument("--rounds", type=_pairs, default=PAIRS, metavar="N", help=f"pairs of runs (default: {PAIRS})")
    return parser


if __name__ == "__main__":
    sys.exit(main())
