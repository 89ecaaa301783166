"""``make bench-compare``: a small repository whose benchmark reports the pace that its package states."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import compare, record
from benchmarks.compare import Change
from benchmarks.figures import RATIO, Figure
from tests.waiting import BOUND_S, wait_for

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

BENCHMARK = """
import json, pathlib, sys, time
import overlay
section, _, rounds, _, told = sys.argv[1:]
here = pathlib.Path(__file__).parent
if overlay.PACE is None:
    sys.exit("this package is from before there were brokers")
if overlay.PACE == "for ever":
    (here / "begun").touch()
    time.sleep(60)
figures = json.loads((here / "template.json").read_text())
for figure in figures["figures"]:
    figure.update(section=section, value=overlay.PACE, low=overlay.PACE, high=overlay.PACE)
pathlib.Path(told).write_text(json.dumps(figures))
"""


def a_figure(value=1.0, *, unit="1/s", better="higher"):
    return Figure("simulator", "events", unit, value, value, value, 2, better)


@pytest.fixture
def git(tmp_path):
    def run(*arguments):
        me = ("-c", "user.name=A tester", "-c", "user.email=tester@localhost")
        command = ["git", "-C", str(tmp_path), *me, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    run("init", "--quiet")
    run("commit", "--quiet", "--allow-empty", "--message", "Begin")
    run("tag", "empty")
    return run


@pytest.fixture
def repository(tmp_path, git):
    """Its commit ``old`` has a pace of 100; what stands in the tree is for the test to write."""
    for name in ("overlay/core", "benchmarks"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "overlay" / "core" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "__main__.py").write_text(BENCHMARK)
    record.write(record.Record([a_figure()]), tmp_path / "benchmarks" / "template.json")
    pace(tmp_path, 100)
    git("add", ".")
    git("commit", "--quiet", "--message", "Be as fast as that")
    git("tag", "old")
    return tmp_path


def pace(root, value):
    (root / "overlay" / "__init__.py").write_text(f"PACE = {value!r}\n")


def trees(git):
    return git("worktree", "list").splitlines()


def test_what_became_slower_is_named_and_fails_the_command(repository, git, capsys):
    pace(repository, 80)
    assert compare.main(["--rev", "old", "simulator", "--rounds", "4"], repository) == 1
    told = capsys.readouterr()
    assert told.out.splitlines()[1].split() == ["simulator", "events", "0.8", "0.8", "to", "0.8", "slower"]
    assert "1 slower, 0 faster, 0 same" in told.out
    assert "pair 4 of 4" in told.err
    assert len(trees(git)) == 1
    assert list((repository / "var" / "compare").iterdir()) == []


def test_a_revision_from_before_the_rooms_is_measured_by_the_names_of_then(repository, git, capsys):
    git("rm", "--quiet", "overlay/core/__init__.py")
    (repository / "telemetry").mkdir()
    (repository / "telemetry" / "intervals.py").touch()
    (repository / "overlay" / "chance.py").write_text("PACE = 100\n")
    (repository / "overlay" / "__init__.py").write_text("")
    git("add", ".")
    git("commit", "--quiet", "--message", "Keep the pace elsewhere")
    git("tag", "flat")
    git("rm", "--quiet", "overlay/chance.py")
    (repository / "overlay" / "core").mkdir()
    (repository / "overlay" / "core" / "chance.py").write_text("PACE = 130\n")
    benchmark = BENCHMARK.replace("import overlay\n", "import overlay.core.chance as overlay\n")
    (repository / "benchmarks" / "__main__.py").write_text(benchmark)
    assert compare.main(["--rev", "flat", "simulator", "--rounds", "4"], repository) == 0
    assert "0 slower, 1 faster, 0 same" in capsys.readouterr().out


def test_what_became_faster_or_stayed_passes(repository, capsys):
    pace(repository, 130)
    assert compare.main(["--rev", "old", "simulator", "broker", "--rounds", "4"], repository) == 0
    assert "0 slower, 2 faster, 0 same" in capsys.readouterr().out
    pace(repository, 98)
    assert compare.main(["--rev", "old", "simulator", "--rounds", "4"], repository) == 0
    assert "0 slower, 0 faster, 1 same" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("better", "bounds", "verdict"),
    [
        ("higher", (0.8, 0.7, 0.9), "slower"),
        ("lower", (0.8, 0.7, 0.9), "faster"),
        ("higher", (1.2, 1.1, 1.3), "faster"),
        ("lower", (1.2, 1.1, 1.3), "slower"),
        ("lower", (1.2, 0.9, 1.5), "same"),
        ("lower", (1.04, 1.03, 1.05), "same"),
    ],
)
def test_a_verdict_needs_the_whole_interval_and_five_percent(better, bounds, verdict):
    assert Change("broker", "latency", better, *bounds).verdict == verdict


def test_a_revision_that_is_not_there_gets_a_sentence(repository, capsys):
    assert compare.main(["--rev", "nowhere", "simulator"], repository) == 2
    assert "revision nowhere does not exist" in capsys.readouterr().err


def test_a_revision_from_before_what_is_measured_gets_a_sentence(repository, git, capsys):
    assert compare.main(["--rev", "empty", "simulator"], repository) == 2
    assert "empty is too old to be measured" in capsys.readouterr().err
    assert len(trees(git)) == 1


def test_a_section_that_does_not_run_on_the_old_tree_says_so_with_its_last_words(repository, git, capsys):
    pace(repository, None)
    git("commit", "--quiet", "--all", "--message", "Be broken")
    pace(repository, 100)
    assert compare.main(["--rev", "HEAD", "simulator"], repository) == 2
    told = capsys.readouterr()
    assert "simulator: not compared: the benchmark does not run on HEAD: this package is from before" in told.err
    assert told.out == "No figure could be compared.\n"


def test_fewer_pairs_than_make_an_interval_are_refused(repository, capsys):
    with pytest.raises(SystemExit):
        compare.main(["--rev", "old", "--rounds", "3"], repository)
    assert "needs at least 4 pairs, not" in capsys.readouterr().err


def test_ratios_are_compared_with_the_recorded_ones(repository, capsys):
    baseline = repository / "benchmarks" / "baseline.json"
    assert compare.main(["--baseline", "simulator"], repository) == 2
    assert "cannot read the baseline" in capsys.readouterr().err

    record.write(record.Record([a_figure(50.0, unit=RATIO)]), baseline)
    assert compare.main(["--baseline", "simulator"], repository) == 0
    assert "1 faster" in capsys.readouterr().out

    record.write(record.Record([a_figure(50.0)]), baseline)  # an absolute figure is of another day
    assert compare.main(["--baseline", "simulator"], repository) == 2
    assert "No figure could be compared." in capsys.readouterr().out


def test_interrupted_it_takes_the_work_tree_and_the_benchmark_with_it(repository, git):
    pace(repository, "for ever")
    compared = f"main(['--rev', 'old', 'simulator'], Path({str(repository)!r}))"
    command = f"from benchmarks.compare import main; from pathlib import Path; exit({compared})"
    running = subprocess.Popen([sys.executable, "-c", command], cwd=record.ROOT, start_new_session=True)
    try:
        wait_for((repository / "benchmarks" / "begun").exists, "the section begins")
        assert len(trees(git)) == 2
        running.terminate()
        assert running.wait(BOUND_S) == 130
    finally:
        running.kill()
        running.wait()
    assert len(trees(git)) == 1
    assert not processes_of(repository)


def processes_of(repository):
    """The command lines of benchmarks of this repository that still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == repository:
                found.append((process / "cmdline").read_text())
        except OSError:  # it has ended, or is another user's
            continue
    return found
