"""The least Python says what the C program and a broker say, or its row in the table compares nothing."""

import re

from benchmarks.bare import Bare
from tests.broker.transcript import A, B, C, hop

ROOM, VALUE = "room|r1|temp", "p1|room|r1|temp|10|20|degC=21.5"


def hear(bare, source, text):
    """What it sends, the time in ACKs left out."""
    sent = bare.answer([(text.encode(), source)])
    return [(to, re.sub("^5\\|\\d+", "5|now", data.decode())) for data, to in sent]


def ack(status, operation, to):
    return to, f"5|now|ACK|Status:{status}|Operation {operation}|Requested by {to[0]}:{to[1]}"


def test_it_stores_and_answers_quietly_and_in_full():
    bare = Bare(None)
    stored = "ContextUpdateAdvertisement"
    assert hear(bare, B, f"2|5|9|A|{VALUE}") == [ack(101, stored, B), ack(102, stored, B)]
    assert hear(bare, C, f"32|7|{ROOM}") == [(C, f"4|5|9|{VALUE}")]
    asked = "ContextRequest"
    assert hear(bare, C, f"3|7|{ROOM}") == [ack(101, asked, C), (C, f"4|5|9|{VALUE}"), ack(102, asked, C)]


def test_it_passes_on_what_it_lacks_and_the_answer_back():
    bare = Bare(B)
    assert hear(bare, A, f"3|7|{ROOM}{hop(C)}") == [(B, f"3|7|{ROOM}{hop(C, A)}")]
    assert hear(bare, B, f"4|5|9|{VALUE}{hop(C, A)}") == [(A, f"4|5|9|{VALUE}{hop(C)}")]
