"""Progress lines of a report's process, found among Java's output."""

import subprocess
import sys
from pathlib import Path

from telemetry.reports.progress import ERROR, PROGRESS, last_told

LOG = """\
progress: Starting Spark
WARNING: Using incubator modules: jdk.incubator.vector
Setting Spark log level to "ERROR".
"""


def test_what_java_says_is_no_progress():
    assert last_told(LOG, PROGRESS) == "Starting Spark"
    assert last_told(f"{LOG}progress: Measuring 12 runs\nWARNING: a terminally deprecated method\n", PROGRESS) == (
        "Measuring 12 runs"
    )


def test_a_log_without_a_word_of_ours_tells_nothing():
    assert last_told("", PROGRESS) == ""
    assert last_told(LOG, ERROR) == ""


def test_the_command_tells_its_error_so_that_it_is_found(tmp_path):
    command = [sys.executable, "-m", "telemetry", "report", "--runs", "none.json", "--lake", str(tmp_path / "lake")]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert last_told(done.stderr, ERROR).startswith("There is no lake at")
    assert done.stdout == ""
