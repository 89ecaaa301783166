"""The wire lab's pure parts: fields and offsets, verdicts, pasted text, composed messages. Held against the codec."""

from __future__ import annotations

import base64
import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brokerweb.systems.context_broker.wirelab import composing
from brokerweb.systems.context_broker.wirelab.dissecting import dissect
from brokerweb.systems.context_broker.wirelab.verdicts import judge
from brokerweb.wirelab import hexview, pasted
from brokerweb.wirelab.lab import Dissection, Judgement
from overlay.core.errors import InvalidSetting, WireError
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.kinds import Field, Kind, Tail
from overlay.systems.context_broker.wire.table import CODES, LAYOUTS
from tests.broker.strategies import damaged, messages
from tests.thorough import examples

NOW = 1_795_338_000_000
encoded = messages.map(encode)


def reads(data: bytes) -> bool:
    try:
        parse(data)
    except WireError:
        return False
    return True


def check(data: bytes) -> Dissection:
    """Its segments are all of it, in order and without a gap, and it is wrong exactly where the codec refuses it."""
    found = dissect(data, NOW)
    assert found.segments[0].offset == 0
    assert found.segments[-1].end == len(data)
    assert all(after.offset == before.end for before, after in pairwise(found.segments))
    assert bool(found.problems) != reads(data), found.problems
    return found


# ---- taken apart


@settings(max_examples=examples(150))
@given(st.binary(max_size=120) | st.integers(0, 35).flatmap(lambda c: st.binary().map(lambda b: b"%d|" % c + b)))
@example(b"")
@example(b"|")
@example(b"1|5|")
@example(b"8|5|*")
@example(b"22|5|1|22|5|1|22|5|1|22|5|1|22|5|1|1|5")
@example(b"4|5|1|p|t|i|s|1|2|x|10.0.0.1|*|80")
@example(b"9" * 40)
@example(b"36|0|0|0|0|0|0|E|1||0|E|1|0")
@example("2|5|1|A|p|t|i|s|1|2|é".encode())
def test_any_bytes_are_taken_apart_without_a_gap(data: bytes) -> None:
    check(data)


@settings(max_examples=examples(150))
@given(damaged(encoded))
def test_a_damaged_message_is_wrong_exactly_where_the_codec_says_so(data: bytes) -> None:
    check(data)


@settings(max_examples=examples(150))
@given(messages)
def test_every_message_has_its_fields_by_name(message: object) -> None:
    found = check(encode(message))  # type: ignore[arg-type]
    assert found.layout is not None
    assert (found.layout.code, found.layout.name) == (CODES[type(message)], type(message).__name__)
    named = {one.name: one for one in found.fields if not one.depth}
    assert named["Timestamp"].text == str(message.timestamp)  # type: ignore[attr-defined]
    if hasattr(message, "payload"):
        assert named["Payload"].text.encode() == message.payload
    if hasattr(message, "hops"):
        hosts = [named[f"Hop {at} host"].text for at in range(1, len(message.hops) + 1)]
        assert hosts == [host for host, _ in message.hops]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("3|5|room", ["EntityID, Scope are missing after byte 8"]),
        ("3|05|room|r1|temp", ["Timestamp at byte 2: '05' is not an integer of at most 19 digits"]),
        ("2|5|9|A|p|t|i|s|1|2|short", ["Payload at byte 20: PayloadSize says 9 bytes, 5 are present: truncated"]),
        (
            "2|5|3|A|p|t|i|s|1|2|longer",
            ["After the payload at byte 23: the payload is 3 bytes longer than PayloadSize says"],
        ),
        ("1|5|x", ["Surplus at byte 4: not a field of this message"]),
        ("30|5|1|p|t|i|s|2|2|x", ["ValidEnd at byte 17: ValidBegin is not before ValidEnd"]),
        ("77|5", ["MessageType at byte 0: no message has this code"]),
        ("5|5|ACK|Status:9|Operation Unknown|Requested by 10.0.0.1:1", ["Status at byte 8"]),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, problems: list[str]) -> None:
    found = check(text.encode()).problems
    assert len(found) == len(problems)
    assert all(said.startswith(problem) for said, problem in zip(found, problems, strict=True)), found


def test_a_message_within_a_message_is_taken_apart_too() -> None:
    found = check(b"22|5|7|3|6|room|r1|temp")
    assert [(one.name, one.offset) for one in found.fields if one.depth] == [
        ("MessageType", 7),
        ("Timestamp", 9),
        ("EntityType", 11),
        ("EntityID", 16),
        ("Scope", 19),
    ]


def test_a_datagram_of_nothing_but_separators_is_bounded() -> None:
    found = dissect(b"19|5" + b"|" * 65_000, NOW)
    assert len(found.segments) < 1_010
    assert found.segments[-1].end == 65_004
    view = hexview.rows(found)
    assert len(view) < 110
    assert sum(row.left_out for row in view) + 16 * len(view) >= 65_004


@given(encoded)
def test_the_rows_of_bytes_are_the_datagram(data: bytes) -> None:
    view = hexview.rows(dissect(data, NOW))
    shown = "".join(run.hex for row in view for half in row.halves for run in half)
    assert bytes.fromhex(shown) == data
    assert [row.offset for row in view] == list(range(0, len(data), 16))


# ---- judged


@pytest.mark.parametrize(
    ("text", "judgement", "status", "sentence"),
    [
        (f"1|{NOW}", Judgement.ACCEPTED, None, "accepts it"),
        (f"3|{NOW}|room|r1|temp", Judgement.ACCEPTED, None, "accepts it"),
        ("3|5|room", Judgement.REFUSED, 301, "EntityID, Scope are missing"),
        (f"2|{NOW + 31_000}|1|A|p|t|i|s|1|2|x", Judgement.REFUSED, 301, "too far in the future"),
        ("99|5", Judgement.REFUSED, 301, "for Unknown: MessageType at byte 0"),
        (f"8|{NOW}|127.0.0.1:7000", Judgement.REFUSED, 201, "I_ERROR for BrokerJoining"),
        ("9|5|Ctx_Broker|localhost:80", Judgement.IGNORED, None, "Answers are never answered"),
        (f"9|{NOW}|Ctx_Broker|127.0.0.1:80", Judgement.IGNORED, None, "answers no request of this broker"),
        (f"7|{NOW}|*", Judgement.IGNORED, None, "it was not sent by the neighbour concerned"),
    ],
)
def test_the_verdict_is_a_brokers(text: str, judgement: Judgement, status: int | None, sentence: str) -> None:
    verdict = judge(dissect(text.encode(), NOW), NOW)
    assert (verdict.judgement, verdict.status) == (judgement, status)
    assert sentence in verdict.sentence


def test_what_it_answers_at_once_is_told() -> None:
    verdict = judge(dissect(f"3|{NOW}|room|r1|temp".encode(), NOW), NOW)
    assert [answer.split(b"|")[3] for answer in verdict.answers] == [b"Status:101", b"Status:202"]


@settings(max_examples=examples(120))
@given(damaged(encoded) | st.binary(max_size=60), st.integers(1, 10**13))
def test_everything_has_a_verdict_and_only_what_can_be_read_is_accepted(data: bytes, now_ms: int) -> None:
    verdict = judge(dissect(data, now_ms), now_ms)
    assert verdict.sentence.endswith(".")
    if verdict.judgement == Judgement.ACCEPTED:
        assert reads(data)
    if verdict.judgement == Judgement.REFUSED:
        assert verdict.status in (201, 301)


# ---- pasted

MESSAGE = b"3|1795338000000|room|kitchen|temp|127.0.0.1|40000"
HEXDUMP = """\
00000000  33 7c 31 37 39 35 33 33  38 30 30 30 30 30 30 7c  |3|1795338000000||
00000010  72 6f 6f 6d 7c 6b 69 74  63 68 65 6e 7c 74 65 6d  |room|kitchen|tem|
00000020  70 7c 31 32 37 2e 30 2e  30 2e 31 7c 34 30 30 30  |p|127.0.0.1|4000|
00000030  30                                                |0|
00000031
"""
XXD = """\
00000000: 337c 3137 3935 3333 3830 3030 3030 307c  3|1795338000000|
00000010: 726f 6f6d 7c6b 6974 6368 656e 7c74 656d  room|kitchen|tem
00000020: 707c 3132 372e 302e 302e 317c 3430 3030  p|127.0.0.1|4000
00000030: 30                                       0
"""
TCPDUMP = "\n".join(f"\t0x{line.replace('000000', '00', 1)}" for line in XXD.splitlines())
WIRESHARK = "\n".join(
    line.split("  |")[0].removeprefix("0000").replace("  ", "   ", 1) for line in HEXDUMP.splitlines()[:4]
)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (MESSAGE.decode(), "text"),
        (MESSAGE.decode() + "\n", "text"),
        (MESSAGE.hex(), "hex"),
        (MESSAGE.hex(" ").upper(), "hex"),
        (MESSAGE.hex(":"), "hex"),
        ("0x" + MESSAGE.hex(), "hex"),
        (", ".join(f"0x{byte:02x}" for byte in MESSAGE), "hex"),
        ("".join(f"\\x{byte:02x}" for byte in MESSAGE), "hex"),
        (HEXDUMP, "hex dump"),
        (XXD, "hex dump"),
        (TCPDUMP, "hex dump"),
        (WIRESHARK, "hex dump"),
        (base64.b64encode(MESSAGE).decode(), "base64"),
        (base64.urlsafe_b64encode(MESSAGE).decode().rstrip("="), "base64"),
    ],
)
def test_a_datagram_is_read_however_it_was_copied(text: str, form: str) -> None:
    assert pasted.read(text) == (MESSAGE, form)
    assert pasted.read(text, form) == (MESSAGE, form)


@pytest.mark.parametrize(
    ("text", "form", "sentence"),
    [
        ("", "", "is empty"),
        (" \n", "", "is empty"),
        ("33 7c 3", "", "has 5 hexadecimal digits, an odd number; the last one, '3' at character 7"),
        ("33 7c zz", "hex", "'z' at character 7 is not a hexadecimal digit"),
        ("337c3137393533333830303030g0", "", "'g' at character 27 is not a hexadecimal digit"),
        ("ab" * 65_537, "", "comes to 65,537 bytes"),
        ("x" * 400_001, "", "has 400,001 characters"),
        ("§", "base64", "is not Base64"),
        ("nonsense", "hex dump", "line 1 does not begin with an offset"),
        ("0000 33 7c\n0004 31", "hex dump", "line 1 has fewer bytes"),
        ("0000 33 7c\n0000 31", "hex dump", "line 1 has offset 0, but the next line 0"),
        ("3", "cuneiform", "must be one of"),
        ("3|\ud800", "", "an unpaired surrogate"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(text: str, form: str, sentence: str) -> None:
    with pytest.raises(InvalidSetting) as error:
        pasted.read(text, form)
    assert sentence in error.value.sentence


@given(st.text(max_size=80), st.sampled_from(["", *pasted.FORMS]))
@example("00000000", "")
@example("0000 ", "hex dump")
def test_no_text_is_too_strange(text: str, form: str) -> None:
    try:
        data, _ = pasted.read(text, form)
    except InvalidSetting as error:
        assert error.field == "text"
    else:
        assert data


@given(st.binary(min_size=1, max_size=100))
def test_bytes_come_back_from_their_hexadecimal_digits(data: bytes) -> None:
    assert pasted.read(data.hex(), pasted.HEX)[0] == data


# ---- composed


@pytest.mark.parametrize("code", LAYOUTS)
def test_the_example_of_every_message_is_one(code: int) -> None:
    data = composing.example(LAYOUTS[code], NOW)
    assert CODES[type(parse(data))] == code
    assert not dissect(data, NOW).problems


@settings(max_examples=examples(120))
@given(encoded)
def test_a_message_is_composed_again_from_its_fields(data: bytes) -> None:
    found = dissect(data, NOW)
    assert found.layout is not None
    own = [one for one in found.fields[1:] if not one.depth]
    given_: dict[str, str] = {}
    tail: list[str] = []
    for one in own:
        if one.kind == Kind.HOST:
            tail.append(f"[{one.text}]:" if ":" in one.text else f"{one.text}:")
        elif one.kind == Kind.PORT:
            tail[-1] += one.text
        elif one.kind == Kind.STAR and found.layout.tail == Tail.MARKED_HOPS:
            tail[-1] += " *"
        elif one.kind == Kind.STAR or (one.kind == Kind.ADDRESS and one.name.startswith("Address ")):
            tail.append(one.text)
        else:
            given_[Field(one.name, one.kind).key] = re.sub("^(Status:|Operation |Requested by )", "", one.text)
    if found.layout.code in (22, 36):  # what is within may be no text, or several lines
        return
    if found.layout.tail != Tail.NONE:
        given_["tail"] = "\n".join(tail)
    assert composing.compose(found.layout.code, given_, NOW) == data


def test_times_are_told_from_now_and_an_open_size_is_counted() -> None:
    data = composing.compose(2, {"timestamp": "now-5min", "valid_begin": "now", "payload": "é|x"}, NOW)
    assert data == f"2|{NOW - 300_000}|4|A|p1|room|r1|temp|{NOW}|{NOW + 120_000}|é|x".encode()


def test_what_is_wrong_is_written_as_it_was_typed() -> None:
    wrong = {"timestamp": "yesterday", "entity_type": "", "tail": "nowhere", "extra": "|*"}
    assert composing.compose(3, wrong, NOW) == b"3|yesterday||r1|temp|nowhere|*"
    assert composing.compose(5, {"status": "7"}, NOW).split(b"|")[3] == b"Status:7"


@pytest.mark.parametrize(
    ("code", "given_", "field"),
    [
        (40, {}, "code"),
        (3, {"colour": "red"}, "colour"),
        (2, {"payload": "x" * 70_000}, "payload"),
        (3, {"scope": "\ud800"}, "scope"),
    ],
)
def test_what_cannot_be_composed_is_named(code: int, given_: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidSetting) as error:
        composing.compose(code, given_, NOW)
    assert error.value.field == field
