"""``python -m benchmarks``: the whole of it, tiny. What is fast is for the table to say, never for a test."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import broker, bursts, memory, record, tables
from benchmarks.figures import RATIO, Figure, Unavailable, figure
from tests.thorough import thoroughly
from tests.waiting import BOUND_S, wait_for

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


def a_ratio(section, value, low, high, better="higher"):
    return Figure(section, "speed", RATIO, value, low, high, 9, better)


class Toy:
    """A section that yields what it is given, then what it lacks."""

    TITLE = "A toy"

    def __init__(self, *figures, end=None):
        self._figures, self._end = figures, end

    def measure(self, rounds, say):
        say("toying")
        yield from self._figures
        if self._end:
            raise self._end


def test_a_figure_is_the_median_with_its_interval_and_says_whether_it_meets_its_goal():
    it = figure("toy", "speed", RATIO, [0.9, 0.7, 0.8, 5.0, 0.75], "higher", at_least=0.7)
    assert (it.value, it.rounds, it.goal, it.met) == (0.8, 5, ">= 0.7", True)
    assert it.low <= it.value <= it.high
    assert figure("toy", "speed", RATIO, [2.0], "lower", at_most=1.3).met is False
    assert figure("toy", "speed", RATIO, [2.0], "lower").met is None
    with pytest.raises(ValueError, match="no values were measured"):
        figure("toy", "speed", RATIO, [], "lower")


def test_what_is_lacking_is_said_and_costs_no_other_section_its_figures(capsys):
    sections = {
        "early": Toy(a_ratio("early", 1.5, 1.4, 1.6), end=Unavailable("needs a lathe: apt-get install lathe")),
        "wrong": Toy(end=ZeroDivisionError("of ours")),
        "late": Toy(a_ratio("late", 1234.0, 1200.0, 1300.0)),
    }
    measured = benchmarks.measure(sections, rounds=1)
    table = tables.terminal(measured, {name: each.TITLE for name, each in sections.items()})
    assert "not measured: needs a lathe: apt-get install lathe" in table
    assert "not measured: failed: ZeroDivisionError('of ours')" in table
    assert [line.split() for line in table.splitlines() if line.startswith("  speed")] == [
        ["speed", "x", "1.5", "1.4", "to", "1.6", "9"],
        ["speed", "x", "1,234", "1,200", "to", "1,300", "9"],
    ]
    assert "early: toying" in capsys.readouterr().err


def test_a_record_comes_back_from_json_and_keeps_what_was_not_measured_again(tmp_path):
    earlier = record.Record(
        [a_ratio("a", 1, 1, 1), a_ratio("b", 2, 2, 2)], {"b": "x"}, {"cores": "2"}, {"a": "", "b": ""}
    )
    record.write(earlier, tmp_path / "then.json")
    assert record.read(tmp_path / "then.json") == earlier

    merged = record.Record([a_ratio("b", 3, 3, 3)], {}, {"cores": "4"}, {"b": "today"}).over(earlier)
    assert [(each.section, each.value) for each in merged.figures] == [("a", 1), ("b", 3)]
    assert merged.lacking == {} and merged.taken == {"a": "", "b": "today"}

    (tmp_path / "other.json").write_text('{"figures": [{}]}')
    with pytest.raises(ValueError, match="is not a record of a benchmark"):
        record.read(tmp_path / "other.json")


def test_the_page_keeps_what_is_written_by_hand(tmp_path):
    page = tmp_path / "benchmarks.md"
    titles = {"a": "The first", "b": "The second"}
    measured = record.Record(
        [a_ratio("a", 1, 1, 1)], {"b": "needs a lathe"}, {"cores": "2"}, {"a": "today", "b": "today"}
    )
    tables.update_page(measured, titles, page)
    page.write_text(page.read_text().replace("# Benchmarks", "# Benchmarks\n\nWhat we think of it."))

    again = record.Record([a_ratio("a", 7, 7, 7)], {}, {"cores": "2"}, {"a": "tomorrow"})
    tables.update_page(again, {"a": "The first"}, page)
    text = page.read_text()
    assert "What we think of it." in text
    assert "| speed | x | 7 | 7 to 7 | 9 |  |  |" in text and "| speed | x | 1 |" not in text
    assert "needs a lathe" in text


@needs_gcc
@thoroughly
def test_one_broker_against_c_end_to_end(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bursts, "BURST_MS", 10)
    for name, small in {"MANY": 30_000, "CROWD": 20}.items():
        monkeypatch.setattr(broker, name, small)
    code = benchmarks.main(["broker", "--rounds", "1", "--json", str(tmp_path / "figures.json")])

    written = record.read(tmp_path / "figures.json")
    found = {each.name: each for each in written.figures}
    ratio = found["quiet, 64 outstanding: broker, ctypes / C"]
    assert (ratio.unit, ratio.goal, ratio.rounds) == (RATIO, ">= 0.7", 1)
    assert found.pop("what else kept the machine busy meanwhile").value >= 0  # nothing, on a quiet one
    assert all(each.value > 0 for name, each in found.items() if not name.endswith(", added"))  # a difference
    assert "full, serial on one core, p50: broker, plain / C" in found
    assert "processor, 20 neighbours over 10: broker, forwarded" in found
    assert "needs gcc" not in written.lacking.get("broker", "")
    assert code == int(any(each.met is False for each in written.figures))
    assert ratio.name in capsys.readouterr().out


@needs_gcc
def test_memory_of_brokers_end_to_end_and_what_they_share(monkeypatch):
    for name, small in {"BROKERS": 2, "MORE_BROKERS": 4, "STORED": (100, 300)}.items():
        monkeypatch.setattr(memory, name, small)
    found = {each.name: each.value for each in memory.measure(1, lambda _: None)}
    assert all(value > 0 for value in found.values())
    assert found["idle: Python, forked, USS"] < found["idle: broker, USS"] < found["300 entries: broker, USS"]
    assert found["idle: broker, one of 4, PSS"] < found["idle: broker, PSS"]
    # Most of what a broker has it shares with the supervisor that forked it.
    assert found["idle: broker, USS"] < found["idle: broker, RSS"] / 6
    assert found["added by one more broker, idle: PSS of all"] < found["idle: broker, PSS"]


@needs_gcc
def test_interrupted_it_leaves_no_process_behind():
    mark = f"WAXWING_TEST={os.getpid()}-{id(object())}"
    environment = os.environ | dict([mark.split("=")])
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks", "broker"], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for(lambda: len(marked(mark)) > 5, "brokers and C programs are started")
        os.kill(process.pid, signal.SIGINT)
        assert process.communicate(timeout=BOUND_S)[1].endswith("Interrupted; no results were saved.\n")
        assert process.returncode == 130
        wait_for(lambda: not marked(mark), "they are gone")
    finally:
        for left in marked(mark):
            os.kill(left, signal.SIGKILL)


def marked(mark):
    """The processes that have inherited ``mark`` in their environment, whoever their parent is by now."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:  # it has just ended, or is not ours
            continue
    return found
