"""The section of many clients of a federation, as small as it gets."""

from benchmarks import federation_clients
from tests.thorough import thoroughly


@thoroughly
def test_all_rows_are_measured_of_a_tiny_size(monkeypatch):
    monkeypatch.setattr(federation_clients, "SIZES", (10, 20))
    monkeypatch.setattr(federation_clients, "BROKERS", 3)
    figures = {each.name: each for each in federation_clients.measure(1, print)}
    assert len(figures) == 7
    assert figures["20 clients: queries satisfied"].met
    assert [name for name, each in figures.items() if each.goal] == [
        "processor time for each of 20 clients / 10",
        "20 clients: queries satisfied",
    ]
