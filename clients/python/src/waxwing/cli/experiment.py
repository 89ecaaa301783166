"""``waxwing run``: an experiment from its launch to the verdict on its assertions, for pipelines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waxwing.cli import printing
from waxwing.cli.arguments import DONE, FAILED, INTERRUPTED, NO, sendable, text_of
from waxwing.errors import ApiError
from waxwing.records import Experiment, Judged, Launch, Records, Run

if TYPE_CHECKING:
    from waxwing._sync.client import Client

EXITS = """exit codes: 0 all runs are done and every assertion holds; 1 an assertion failed; 2 wrong usage, or the
server refused the definition or an assertion; 3 a run failed or was cancelled; 4 no connection; 130 interrupted"""


def add(commands: Any, shared: argparse.ArgumentParser) -> None:
    about = "run an experiment and check assertions on its measures"
    parser = commands.add_parser("run", parents=[shared], help=about, description=about, epilog=EXITS)
    parser.add_argument("experiment", metavar="EXPERIMENT|FILE", help="id, name, or a definition as YAML or JSON")
    condition = "such as 'p95 < 2ms' (us, ms, s) or 'not_found = 0'; every run must meet it; repeatable"
    parser.add_argument("--assert", dest="asserts", action="append", default=[], metavar="CONDITION", help=condition)
    parser.add_argument("--skip-existing", action="store_true", help="use finished runs of the same configurations")
    parser.add_argument("--no-wait", action="store_true", help="launch only")
    choices = ("ask", "cancel", "leave")
    about = "what Ctrl-C does to the runs (ask; without a terminal: leave)"
    parser.add_argument("--on-interrupt", choices=choices, default="ask", help=about)


def run(client: Client, options: argparse.Namespace) -> int:
    experiment, is_new = _experiment(client, options.experiment)
    _check(client, experiment, options.asserts, is_new=is_new)
    launch = client.experiments.launch(experiment.id, skip_existing=options.skip_existing)
    kept = f", {counted(len(launch.skipped))} already done" if launch.skipped else ""
    expected = f", about {printing.duration(launch.estimated_s)}" if launch.runs else ""
    printing.say(f"{experiment.name} ({experiment.id}): {counted(launch.count)}{expected}{kept}")
    if options.no_wait:
        printing.show(launch, as_json=options.json)
        return DONE
    progress = printing.Progress()
    try:
        runs = client.runs.wait(launch.all_runs, timeout_s=options.timeout, progress=progress)
    except KeyboardInterrupt:
        progress.end()
        _interrupted(client, launch, options.on_interrupt)
        return INTERRUPTED
    progress.end()
    judged = client.experiments.judge(experiment.id, options.asserts, launch.all_runs) if options.asserts else Records()
    return _told(experiment, runs, judged, as_json=options.json)


def counted(runs: int) -> str:
    return f"{runs} run{'' if runs == 1 else 's'}"


def _experiment(client: Client, named: str) -> tuple[Experiment, bool]:
    """It, and whether it was created from a file."""
    if named != "-" and not Path(named).is_file():
        return client.experiments.find(named), False
    return client.experiments.create(sendable(text_of(named))), True


def _check(client: Client, experiment: Experiment, asserts: Sequence[str], *, is_new: bool) -> None:
    """Raises ``ApiError`` for an assertion that cannot be read, before anything is launched."""
    if not asserts:
        return
    try:
        client.experiments.judge(experiment.id, asserts, [])
    except ApiError:
        if is_new:
            client.experiments.delete(experiment.id)
        raise


def _interrupted(client: Client, launch: Launch, what: str) -> None:
    if what == "ask" and sys.stdin.isatty():
        try:
            what = "cancel" if input("Cancel the runs? What was measured is kept. [y/N] ").lower() == "y" else "leave"
        except (KeyboardInterrupt, EOFError):
            what = "leave"
    if what == "cancel":
        for one in launch.runs:
            client.runs.cancel(one)
        printing.say(f"cancelled {counted(len(launch.runs))}")
    else:
        printing.say(f"The runs go on. `waxwing experiments cancel {launch.experiment}` cancels them.")


def _told(experiment: Experiment, runs: Records[Run], judged: Records[Judged], *, as_json: bool) -> int:
    verdicts = {one.run: one for one in judged}
    code = exit_code(runs, judged)
    if as_json:
        told = [{**run.raw, "judged": verdicts[run.id].raw if run.id in verdicts else None} for run in runs]
        printing.show({"experiment": experiment.id, "exit": code, "runs": told}, as_json=True)
        return code
    for run in runs:
        doubts = f", {run.verdict}: {'; '.join(run.raw.get('verdict_reasons', []))}" if run.verdict == "suspect" else ""
        sys.stdout.write(
            printing.printable(f"{run.id}  {run.state}{f': {run.reason}' if run.reason else ''}{doubts}") + "\n"
        )
        for one in (*run.raw.get("thresholds", []), *(verdicts[run.id].thresholds if run.id in verdicts else ())):
            value = "" if one["value"] is None else f" ({one['value']:.6g} {one.get('unit', '')}".rstrip() + ")"
            why = f" {one['why']}" if one.get("why") else ""
            held = "holds " if one["held"] else "FAILED"
            sys.stdout.write(printing.printable(f"  {held}  {one['text']}{value}{why}") + "\n")
    return code


def exit_code(runs: Sequence[Run], judged: Sequence[Judged]) -> int:
    """A failed run counts more than an assertion that failed. Thresholds of the experiment are assertions, too."""
    if any(run.state != "done" for run in runs):
        return FAILED
    failed = any(one.passed is not True for one in judged) or any(run.passed is False for run in runs)
    return NO if failed else DONE
