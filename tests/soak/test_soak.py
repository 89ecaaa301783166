"""``make soak`` with a system that is made up: ranges, failures, planted bugs, interruption, exit codes."""

from __future__ import annotations

import pytest

from tests.soak import progress, subjects, tables
from tests.soak.__main__ import main
from tests.soak.progress import Progress
from tests.soak.subject import Bank, Subject, Told


class Counter:
    """A core."""

    def count(self, seed):
        return seed


def run(seed):
    if Counter().count(seed) != seed:
        raise AssertionError(f"counted\nwrongly {seed}")
    assert seed != 13, "thirteen"
    return Told(str(seed), 10, 3_600.0)


BUGS = Bank()


@BUGS.plant(Counter, "count", seed=17)
def miscounts(real):
    """Some seeds are counted wrongly."""
    return lambda self, seed: real(self, seed) + (seed == 20)


@BUGS.plant(Counter, "count", seed=40)
def cannot_be_seen(real):
    """Nothing is wrong."""
    return real


@pytest.fixture
def soaked(monkeypatch):
    """Registers a system, without processes."""
    subject = Subject("made-up", run, lambda seed: ["loss"], lambda seed: [f"n = {seed}"], Bank(BUGS))
    monkeypatch.setitem(subjects.MODULES, "made-up", "tests.soak.test_soak")
    monkeypatch.setattr("tests.soak.test_soak.SUBJECT", subject, raising=False)
    monkeypatch.setattr(tables, "over_cores", lambda function, arguments, _: (function(*one) for one in arguments))
    subjects.subject_of.cache_clear()
    yield subject
    subjects.subject_of.cache_clear()


def soak(*arguments):
    return main(["--system", "made-up", *arguments])


def test_a_range_of_seeds_is_printed_with_the_commit_and_the_planted_bugs_by_their_stored_seeds(soaked, capsys):
    del soaked.bugs["cannot be seen"]
    assert soak("--first", "1000", "--seeds", "2000") == 0
    printed = capsys.readouterr().out
    assert "| 1,000 to 2,999 | 2,000 | 0 | 2000.0 h | 20,000 | " in printed
    assert "| miscounts | 20 | AssertionError: counted wrongly 20 (test_soak.py:" in printed
    assert "1 of 1 bugs planted in made-up found" in printed


def test_a_seed_that_fails_ends_with_1_and_the_command_that_repeats_it(soaked, capsys):
    del soaked.bugs["cannot be seen"]
    assert soak("--seeds", "30") == 1
    printed = capsys.readouterr().out
    assert "FAILED made-up, seed 13 at " in printed
    assert "again: python -m tests.soak --system made-up 13\n" in printed
    assert soak("13") == 1
    assert "n = 13" in capsys.readouterr().out
    assert soak("14") == 0


def test_a_planted_bug_that_is_not_found_ends_with_1(soaked, capsys):
    assert soak("--bugs") == 1
    assert "| cannot be seen | NOT FOUND |" in capsys.readouterr().out


def test_a_search_begins_at_seed_0(soaked, capsys, monkeypatch):
    monkeypatch.setattr(tables, "MOST_FOR_A_BUG", 10)
    assert soak("--search") == 1
    assert "0 of 2 bugs" in capsys.readouterr().out


def test_an_interruption_prints_what_is_done(soaked, capsys, monkeypatch):
    def interrupted(function, arguments, _):
        yield function(*next(arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "over_cores", interrupted)
    assert soak() == 130
    said = capsys.readouterr()
    assert "| 0 to 9,999 | 1 | 0 |" in said.out
    assert said.err.endswith("stopped\n")


@pytest.mark.parametrize("wrong", [("--seeds", "0"), ("--first", "-1"), ("--processes", "0"), ("--system", "none")])
def test_wrong_arguments_are_refused(soaked, wrong):
    with pytest.raises(SystemExit) as caught:
        main(wrong)
    assert caught.value.code == 2


def test_a_single_seed_needs_a_system():
    with pytest.raises(SystemExit):
        main(["17"])


def test_progress_says_the_time_that_is_left(capsys):
    now = [0.0]
    told = Progress(5, lambda: now[0])
    told.count(is_failed=True)
    now[0] = 2 * progress.EVERY_S
    told.count(is_failed=False)
    assert capsys.readouterr().err == "2 of 5 seeds, 1 failed, 30 s left\n"
