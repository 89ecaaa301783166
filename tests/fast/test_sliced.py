"""What is read by slicing is what ``parse`` reads, of any bytes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import WireError
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.queries import Answer, Request, answer_of, request_of
from overlay.systems.context_broker.fast import sliced
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.extensions import QuietRequest
from overlay.systems.context_broker.wire.messages import ContextRequest, ContextResponse, ContextUpdateAdvertisement
from tests.broker.strategies import damaged, hops, names, responses, stamps, updates
from tests.broker.transcript import A, B, C, hop
from tests.thorough import examples

requests = st.builds(ContextRequest, stamps, names, names, names, hops)
quiet = st.builds(QuietRequest, stamps, names, names, names, hops)
MOST = st.one_of(responses, updates, requests, quiet).map(encode)


def content(thing):
    """The fields of a value with slots, and of those it stands on."""
    return {name: getattr(thing, name) for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())}


def agree(data):
    """Whether some reader knew this datagram; each that did says what ``parse`` says."""
    try:
        message = parse(data)
    except WireError:
        message = None
    request, answer, entry = None, None, None
    if data[: data.find(b"|")] in (b"3", b"32"):
        code, _, rest = data.partition(b"|")
        stamp, _, rest = rest.partition(b"|")
        if read := sliced.read_request(data, stamp, rest):
            request = Request(*read, is_quiet=code == b"32")
    elif data.startswith(b"4|"):
        read = sliced.read_answer(data) if message else None  # without it, its hops are those of no request
        answer = Answer(*read) if read else None
    elif data.startswith(b"2|"):
        entry = sliced.read_update(data)
    if request is not None:
        assert isinstance(message, ContextRequest)
        known = request_of(message, is_quiet=isinstance(message, QuietRequest))
        assert content(request) == content(known)
    if entry is not None:
        assert isinstance(message, ContextUpdateAdvertisement)
        assert content(entry) == content(Entry.of(message))
    if answer is not None:
        assert isinstance(message, ContextResponse)
        assert content(answer) == content(answer_of(message))
        assert content(answer.replica()) == content(Entry.of(message))
    return not (request is answer is entry is None)


@settings(max_examples=examples(1_000))
@given(MOST | damaged(MOST) | damaged(damaged(MOST)))
def test_a_reader_says_what_parse_says_or_nothing(data):
    agree(data)


@pytest.mark.parametrize(
    "text",
    [
        "3|5|room|r1|temp",
        f"3|5|room|r1|temp{hop(C, A)}",
        "32|5|room|é|temp",
        f"4|5|3|p|t|i|s|1|2|a|b{hop(C)}",
        f"4|5|3|p|t|i|s|1|2|a|b{hop(C)}|*",
        f"4|5|3|p|t|i|s|1|2|a|*{hop(C)}|*{hop(A, B)}",
        "2|5|3|A|p|t|i|s|1|2|a|b",
        "2|5|3|U|p|t|i|s|1|2|*|*",
    ],
)
def test_the_plain_forms_are_known(text):
    assert agree(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "3|5|room|r1|temp|0:0::1|80",  # written ::1 when sent on
        f"4|5|1|p|t|i|s|1|2|x{hop(C)}|*{hop(A)}|*{hop(B)}",  # several marks
        f"4|5|1|p|t|i|s|1|2|x|{C[0]}|*|{C[1]}",
        f"4|5|1|p|t|i|s|1|2|x{hop(C)}|*|*",
        f"4|5|2|p|t|i|s|1|2|é{hop(C)}|",
        "2|5|1|A|p|t|i|s|1|2|é",
        "2|0|1|A|p|t|i|s|0|2|x",
    ],
)
def test_what_is_not_plain_is_left_to_parse(text):
    assert not agree(text.encode())
