"""What is known of an answer by its bytes is what reading all of it would tell."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import WireError
from overlay.systems.context_broker.fast.acks import ack_of
from overlay.systems.context_broker.fast.replies import is_ack, is_response, read_response, stamp_of
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.messages import Ack, ContextResponse, Message, Nack

ME = ("127.0.0.1", 5000)
OTHER = ("::1", 65535)
KEY = ("room", "r1", "climate")
ABOUT = b"room|r1|climate"
TOLD = ack_of("ContextRequest", 102)

stamps = st.integers(0, 10**19 - 1)
names = st.sampled_from(["room", "r1", "climate", "x" * 255, "é" * 127])
responses = st.builds(
    ContextResponse,
    stamps,
    names,
    st.sampled_from(["room", "ROOM"]),
    st.sampled_from(["r1", "r10"]),
    st.just("climate"),
    st.integers(0, 9),
    st.integers(10, 99),
    st.binary(min_size=1, max_size=8) | st.sampled_from([b"a=1", b"a|b", "é".encode()]),
    st.sampled_from([(), (ME,), (ME, OTHER)]),
)
acks = st.builds(
    Ack,
    stamps,
    st.sampled_from([101, 102]),
    st.sampled_from(["ContextRequest", "BrokerJoining", "Unknown"]),
    st.sampled_from([ME, OTHER]),
)
nacks = st.builds(Nack, stamps, st.sampled_from([201, 202, 301]), st.just("ContextRequest"), st.just(ME))
damage = st.sampled_from(
    [b"", b"|", b"0", b"00", b"\xff", b"\n", b"5|", b"4|", b"room|r1|climate|", b"1" * 20, "é".encode()]
)


@st.composite
def datagrams(draw: st.DrawFn) -> bytes:
    """Messages, most of them with something put in, taken out or written over."""
    data = encode(draw(responses | acks | nacks))
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(damage) + data[at + draw(st.integers(0, 3)) :]
    return data


def read(data: bytes) -> Message | None:
    try:
        return parse(data)
    except WireError:
        return None


@given(datagrams())
def test_a_response_is_one_that_can_be_read_and_is_about_what_was_asked(data: bytes) -> None:
    message = read(data)
    wanted = isinstance(message, ContextResponse) and message.key == KEY and not message.hops
    assert is_response(ABOUT, data) == wanted
    if wanted:
        valid = message.valid_begin, message.valid_end
        assert stamp_of(data) == message.timestamp
        assert read_response(data) == (message.timestamp, message.provider_id, *valid, message.payload)


@given(datagrams())
def test_an_ack_is_one_that_can_be_read_and_says_what_was_waited_for(data: bytes) -> None:
    message = read(data)
    wanted = isinstance(message, Ack) and (message.status, message.operation) == (102, "ContextRequest")
    assert is_ack(TOLD, data) == wanted


def test_the_largest_payload_is_an_answer_and_one_byte_more_is_none() -> None:
    largest = encode(ContextResponse(5, "p", *KEY, 1, 2, b"x" * 60_000))
    assert is_response(ABOUT, largest)
    assert not is_response(ABOUT, largest.replace(b"|60000|", b"|60001|") + b"x")
