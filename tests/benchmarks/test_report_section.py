"""The section on the Spark report, on a lake of no size: every figure is there, and no process is left."""

import psutil
import pytest

from benchmarks.figures import RATIO, Unavailable
from benchmarks.report import measure_sizes
from tests.thorough import thoroughly

pytestmark = pytest.mark.spark


@thoroughly
def test_a_report_is_timed_and_weighed_whole():
    others = set(psutil.Process().children(recursive=True))  # of tests before this one, which share a house
    said = []
    figures = list(measure_sizes([500, 1_000], 1, said.append))
    assert said == [
        "writing 500 samples",
        "writing 1,000 samples",
        "a report on 500 samples",
        "a report on 1,000 samples",
    ]
    assert {each.name for each in figures} >= {"start of Spark", "500 samples", "1,000 samples"}
    (memory, *_) = (each for each in figures if each.unit.startswith("MiB"))
    assert memory.value > 300, "Java is a process of its own, and is weighed too"
    assert [each.unit for each in figures].count(RATIO) == 1
    assert set(psutil.Process().children(recursive=True)) <= others


def test_without_java_the_section_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(Unavailable, match="has no working bin/java"):
        list(measure_sizes([500], 1, lambda line: None))
