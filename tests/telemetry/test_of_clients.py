"""Deliveries, connections and hand-overs: written to a journal, read back, and summed up."""

from __future__ import annotations

from overlay.journal.facts import CONNECTED, Connection, Delivery, HandOver, Start
from overlay.journal.journal import JournalWriter, read_journal
from telemetry.lake.records import SOME, to_table
from telemetry.summary import of_clients

SECOND_US = 1_000_000


def delivery(receiver, publication, delay_us, copy=1, phase="measuring"):
    return Delivery("subscriber", receiver, 0, phase, publication, 100, 100 + delay_us, copy)


def connection(outcome, opened_us, phase="measuring"):
    return Connection("phone", 1, 0, phase, outcome, 100, opened_us, 1_000, "")


def hand_over(outcome, missed, phase="measuring"):
    return HandOver("phone", 1, 0, 1, phase, outcome, 100, 400, missed)


def summarised(facts, duration_us):
    return of_clients.summarised({name: to_table(name, facts.get(name, [])) for name in SOME}, duration_us)


def test_a_journal_keeps_them_as_they_were(tmp_path):
    facts = [delivery(1, "p1", 50), connection("lost", 200), hand_over("done", -1)]
    writer = JournalWriter(tmp_path / "a.journal", Start("phones-0", 1, 0, ""))
    for fact in facts:
        writer.write(fact)
    writer.close()
    assert list(read_journal(tmp_path / "a.journal"))[1:] == facts


def test_of_one_publication_at_two_receivers_only_first_arrivals_have_a_delay():
    facts = [delivery(1, "p1", 50), delivery(1, "p1", 900, copy=2), delivery(2, "p1", 70)]
    facts.append(delivery(1, "p0", 9_000, phase="warming"))
    told = summarised({"deliveries": facts}, SECOND_US)["deliveries"]
    assert (told["arrived"], told["delivered"], told["duplicates"]) == (3, 2, 1)
    assert (told["publications"], told["receivers"], told["per_s"]) == (1, 2, 2.0)
    assert (told["delay_us"]["min"], told["delay_us"]["max"]) == (50, 70)


def test_a_connection_that_was_never_made_has_no_length():
    facts = [connection("closed", 300), connection("refused", 0), connection("lost", 200, phase="warming")]
    told = summarised({"connections": facts}, SECOND_US)["connections"]
    assert {outcome: told[outcome] for outcome in CONNECTED} == {"closed": 1, "lost": 0, "refused": 1, "timed_out": 0}
    assert (told["connecting_us"]["p50"], told["lasted_us"]["p50"]) == (200, 700)


def test_what_a_hand_over_missed_is_unknown_where_no_client_can_tell():
    told = summarised({"handovers": [hand_over("done", 2), hand_over("failed", -1)]}, SECOND_US)["handovers"]
    assert (told["done"], told["failed"], told["missed"], told["took_us"]["mean"]) == (1, 1, 2, 300)
    assert summarised({"handovers": [hand_over("done", -1)]}, SECOND_US)["handovers"]["missed"] is None


def test_a_run_without_such_facts_says_nothing_of_them():
    assert summarised({"deliveries": [], "connections": [], "handovers": []}, SECOND_US) == {}
