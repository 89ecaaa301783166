"""The section of the federation, as small as it gets. What is fast is for the table to say, never for a test."""

from benchmarks import federation


def test_all_rows_are_measured_of_a_tiny_size(monkeypatch):
    for name, value in {"SIZES": (10, 20), "NOTIFICATIONS": 40, "CALLS": 5, "BROKERS": (3, 9)}.items():
        monkeypatch.setattr(federation, name, value)
    figures = list(federation.measure(1, print))
    assert len({each.name for each in figures}) == len(figures) == 15
    assert all(each.value > 0 for each in figures)
    assert [each.name for each in figures if each.goal] == ["match, 20 subscriptions by scope and entity"]
