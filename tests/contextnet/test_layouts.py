"""The bytes of Tether v1: the vectors of its contract, round trips, and bytes that mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.contextnet.transport import controls, layouts, packets
from overlay.systems.contextnet.transport.layouts import Accept, BadPacket, Hello, Refusal, Refuse, Reset, Retry, Type
from overlay.systems.contextnet.transport.packets import Close, Flags, Kind, Packet
from overlay.systems.contextnet.transport.secrets import Cookies, is_proven, proof, reset_token, session_keys
from tests.thorough import examples

SECRET, GATEWAY_SECRET = bytes(range(32)), bytes(range(32, 64))
NODE, CLIENT, SERVER = bytes(range(16)), b"\x11" * 16, b"\x22" * 16
ADDRESS = "192.0.2.7", 40_000
CID = 0x0001AABBCCDDEEFF
COOKIES = Cookies(GATEWAY_SECRET)
COOKIE = COOKIES.of_slot(ADDRESS, NODE, CLIENT, 7)
KEYS = session_keys(SECRET, CLIENT, SERVER, CID, NODE)
HOUR = 3_600_000_000_000


def proven(label, data):
    return data + proof(SECRET, label, data)


# ---- the vectors


def test_a_hello_is_256_bytes_and_ends_in_its_proof():
    data = proven(b"hello", layouts.write_hello(Hello(NODE, 3, CLIENT, wants=1)))
    assert len(data) == 256
    assert data[-16:].hex() == "8b7ac6c339800d2d2a904a233d36c0be"
    data = proven(b"hello", layouts.write_hello(Hello(NODE, 3, CLIENT, cookie=COOKIE, wants=1)))
    assert data[-16:].hex() == "dac9b38a00d8dfb52e7aa1c0fc8d9992"
    assert layouts.read_hello(data) == Hello(NODE, 3, CLIENT, 0, COOKIE, 1)
    assert is_proven(SECRET, b"hello", data)
    assert not is_proven(GATEWAY_SECRET, b"hello", data)


def test_a_cookie_and_its_retry():
    assert COOKIE.hex() == "00000007720550c4a82d38f6b36374eaaf48e716"
    assert COOKIES.now(ADDRESS, NODE, CLIENT, 39_999_999_999) == COOKIE
    data = layouts.write_retry(Retry(CLIENT, COOKIE))
    expected = "121111111111111111111111111111111100000007720550c4a82d38f6b36374eaaf48e716"
    assert data.hex() == expected
    assert layouts.read_retry(data) == Retry(CLIENT, COOKIE)


def test_an_accept():
    accept = Accept(
        CID,
        SERVER,
        CLIENT,
        resumed=False,
        expected=0,
        idle_s=90,
        ack_delay_ms=25,
        window=32,
        rto_min_ms=200,
        max_message=60_000,
        reset_token=reset_token(GATEWAY_SECRET, CID),
        next_cookie=COOKIES.later(ADDRESS, NODE, 7 * HOUR),
        gateways=(("198.51.100.1", 4001),),
    )
    data = proven(b"accept", layouts.write_accept(accept))
    assert data.hex() == (
        "130001aabbccddeeff22222222222222222222222222222222111111111111111111111111111111110000000000005a00192000c8"
        "0000ea6077b1b5eaed04e4e7cdb5eeb3abcd5fc4800000075e96326cb89931c94e4b5b29b31714cf0104c63364010fa1"
        "9445c845142b7f6432a8291335078d84"
    )
    assert layouts.read_accept(data) == accept


def test_a_refuse():
    data = proven(b"refuse", layouts.write_refuse(Refuse(CLIENT, Refusal.EPOCH, epoch=9)))
    assert data.hex() == ("14111111111111111111111111111111110500000000000900e4cfdeed4928fee757d8d69f586b1810")
    assert layouts.read_refuse(data) == Refuse(CLIENT, Refusal.EPOCH, 0, 9)


def test_the_keys_of_a_connection():
    assert KEYS.to_gateway.hex() == "9eab789e7cf1183c1f753458c2e73440d34899845cc8788cfe351cdcef7f515c"
    assert KEYS.to_node.hex() == "5e670c5f0ffae87f5810826a2307e556336618fd105a1c557a9af97fc091c8a1"


DATA = "15080001aabbccddeeff00000001000000000000000000000000000005dc0000000000010168656c6c6f2ce29d170713ea75"
ACK = "16000001aabbccddeeff000000000000000100000000ab38d4974aeaf3bb"
CHALLENGE = "19000001aabbccddeeff0000000200000001000000000001020304050607d556e8bfda8422ad"


@pytest.mark.parametrize(
    ("packet", "key", "expected"),
    [
        (
            Packet(Type.DATA, 0, CID, 1, 0, 0, (0, 1_500), packets.write_data(0, 0, 1, Kind.MESSAGE, b"hello")),
            KEYS.to_gateway,
            DATA,
        ),
        (Packet(Type.ACK, 0, CID, 0, 1), KEYS.to_node, ACK),
        (Packet(Type.PATH_CHALLENGE, 0, CID, 2, 1, body=bytes(range(8))), KEYS.to_node, CHALLENGE),
    ],
    ids=["DATA", "ACK", "PATH_CHALLENGE"],
)
def test_packets_of_a_connection(packet, key, expected):
    data = packets.write_packet(packet, key, 8)
    assert data.hex() == expected
    flags = Flags.ECHO if packet.echo else 0
    assert packets.read_packet(data, key, 8) == packet._replace(flags=flags)


def test_a_reset():
    data = layouts.write_reset(Reset(CID, reset_token(GATEWAY_SECRET, CID)))
    assert data.hex() == "1c0001aabbccddeeff77b1b5eaed04e4e7cdb5eeb3abcd5fc4"
    assert layouts.read_reset(data).cid == CID


# ---- cookies


def test_a_cookie_of_a_retry_is_good_for_two_slots_at_its_address():
    for now_s, is_good in ((34, False), (35, True), (49, True), (50, False)):
        assert COOKIES.is_good(COOKIE, ADDRESS, NODE, CLIENT, now_s * 10**9, 0) == is_good
    now = 36 * 10**9
    assert not COOKIES.is_good(COOKIE, ("192.0.2.7", 40_001), NODE, CLIENT, now, 0)
    assert not COOKIES.is_good(COOKIE, ADDRESS, NODE, SERVER, now, 0)
    assert not COOKIES.is_good(COOKIE[:-1] + b"\0", ADDRESS, NODE, CLIENT, now, 0)
    assert not COOKIES.is_good(b"", ADDRESS, NODE, CLIENT, now, 0)


def test_a_cookie_of_an_accept_is_good_for_a_day_at_its_host():
    later = COOKIES.later(ADDRESS, NODE, 7 * HOUR)
    for hour, is_good in ((6, False), (7, True), (31, True), (32, False)):
        assert COOKIES.is_good(later, ("192.0.2.7", 999), NODE, SERVER, 0, hour * HOUR) == is_good
    assert not COOKIES.is_good(later, ("192.0.2.8", 40_000), NODE, SERVER, 0, 7 * HOUR)


# ---- round trips

u8, u16, u32, u64 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32, 64))
sixteen = st.binary(min_size=16, max_size=16)
cookies = st.binary(min_size=20, max_size=20)
hosts = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str)
addresses = st.tuples(hosts, st.integers(1, 65_535))
some_addresses = st.lists(addresses, max_size=3).map(tuple)
handshakes = st.one_of(
    st.builds(Hello, sixteen, u32, sixteen, u64, st.one_of(st.just(b""), cookies), u16),
    st.builds(Retry, sixteen, cookies),
    st.builds(
        Accept,
        *(u64, sixteen, sixteen, st.booleans(), u32, st.integers(1, 65_535), u16, st.integers(1, 32)),
        *(st.integers(1, 65_535), u32, sixteen, cookies, some_addresses),
    ),
    st.builds(Refuse, sixteen, st.sampled_from(Refusal), u16, u32, some_addresses),
    st.builds(Reset, u64, sixteen),
)
WAYS = {
    Hello: (layouts.write_hello, layouts.read_hello, 16),
    Retry: (layouts.write_retry, layouts.read_retry, 0),
    Accept: (layouts.write_accept, layouts.read_accept, 16),
    Refuse: (layouts.write_refuse, layouts.read_refuse, 16),
    Reset: (layouts.write_reset, layouts.read_reset, 0),
}


@settings(max_examples=examples(100))
@given(message=handshakes)
def test_what_is_written_of_a_handshake_is_read_back(message):
    write, read, proof_bytes = WAYS[type(message)]
    data = write(message) + bytes(proof_bytes)
    assert read(data) == message
    assert layouts.type_of(data).name == type(message).__name__.upper()


def test_an_accept_with_as_many_gateways_as_there_may_be_fits_into_a_datagram():
    gateways = tuple((f"2001:db8::{number + 1:x}", 4_001) for number in range(layouts.MOST_ADDRESSES))
    accept = Accept(CID, SERVER, CLIENT, True, 0, 90, 25, 32, 200, 60_000, bytes(16), bytes(20), gateways)
    data = proven(b"accept", layouts.write_accept(accept))
    assert layouts.read_accept(data) == accept
    assert len(data) <= packets.MOST_DATAGRAM


protected = st.builds(
    Packet,
    *(st.sampled_from([Type(one) for one in packets.PROTECTED]), st.integers(0, 7), u64, u32, u32, u32),
    *(st.one_of(st.none(), st.tuples(u32, u32)), st.binary(max_size=100)),
)


@settings(max_examples=examples(100))
@given(packet=protected, tag_bytes=st.sampled_from([8, 16]), place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_what_is_written_of_a_packet_is_read_back_and_nothing_else_is(packet, tag_bytes, place, bit):
    data = packets.write_packet(packet, KEYS.to_node, tag_bytes)
    expected = packet._replace(flags=packet.flags | Flags.ECHO) if packet.echo else packet
    assert packets.read_packet(data, KEYS.to_node, tag_bytes) == expected
    changed = bytearray(data)
    changed[place % len(data)] ^= 1 << bit
    with pytest.raises(BadPacket):
        packets.read_packet(bytes(changed), KEYS.to_node, tag_bytes)
    with pytest.raises(BadPacket, match="tag"):
        packets.read_packet(data, KEYS.to_gateway, tag_bytes)


gateway_lists = st.builds(
    controls.GatewayList, u32, st.lists(st.builds(controls.Gateway, addresses, u8), max_size=3).map(tuple)
)


@settings(max_examples=examples(100))
@given(found=gateway_lists, order=st.builds(controls.HandOver, u32, some_addresses))
def test_lists_of_gateways_and_hand_overs_are_read_back(found, order):
    assert controls.read_gateway_list(controls.write_gateway_list(found)) == found
    assert controls.read_hand_over(controls.write_hand_over(order)) == order


# ---- hostile bytes

READERS = [
    *(layouts.type_of, layouts.read_hello, layouts.read_retry, layouts.read_accept, layouts.read_refuse),
    *(layouts.read_reset, packets.read_data, packets.read_u64, packets.read_close),
    *(controls.read_gateway_list, controls.read_hand_over),
    lambda data: packets.read_packet(data, KEYS.to_node, 8),
]
seeds = handshakes.map(lambda message: WAYS[type(message)][0](message) + bytes(16))


@settings(max_examples=examples(100))
@given(data=st.one_of(st.binary(max_size=1_300), seeds.flatmap(lambda d: st.integers(0, len(d)).map(lambda n: d[:n]))))
def test_any_bytes_are_read_or_refused_with_a_reason(data):
    for read in READERS:
        try:
            read(data)
        except BadPacket as error:
            assert error.reason
            assert len(str(error)) > 10


@pytest.mark.parametrize(
    ("read", "data", "sentence"),
    [
        (layouts.type_of, b"\x25", "version 2 is not 1"),
        (layouts.type_of, b"\x1d", "13 is no type"),
        (layouts.read_hello, bytes(255), "a HELLO has 256 bytes, not 255"),
        (layouts.read_hello, bytes(45) + b"\x05" + bytes(210), "a cookie has 5 bytes"),
        (layouts.read_hello, bytes(100) + b"\x01" + bytes(155), "the padding of a HELLO is not zero"),
        (layouts.read_refuse, bytes(17) + b"\x09" + bytes(23), "9 is no reason of a REFUSE"),
        (layouts.read_refuse, bytes(17) + b"\x01" + bytes(6) + b"\x01" + bytes(16), "an address is cut off"),
        (layouts.read_refuse, bytes(17) + b"\x01" + bytes(6) + b"\x00" + bytes(17), "1 bytes follow the addresses"),
        (packets.read_data, bytes(7), "DATA has 1 to 1,147 bytes of a message, not 0"),
        (packets.read_data, b"\0\0\0\0\x01\x01\x01a", "fragment 1 of 1 is none of at most 64"),
        (packets.read_data, b"\0\0\0\0\x00\x41\x01a", "fragment 0 of 65 is none of at most 64"),
        (packets.read_data, b"\0\0\0\0\x00\x01\x05a", "5 is no kind of DATA"),
        (packets.read_close, b"\x07", "7 is no reason of CLOSE"),
        (packets.read_u64, b"", "a body has 8 bytes, not 0"),
        (lambda data: packets.read_packet(data, KEYS.to_node, 8), b"\x15" + bytes(28), "30 to 1200 bytes, not 29"),
        (lambda data: packets.read_packet(data, KEYS.to_node, 8), b"\x11" + bytes(40), "HELLO is no packet"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said(read, data, sentence):
    with pytest.raises(BadPacket, match=sentence):
        read(data)


def test_a_close_names_its_reason():
    assert packets.read_close(b"\x02") is Close.MOVED
