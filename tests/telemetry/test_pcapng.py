"""Captures are read back by a reader of their own, and hold what was recorded, message by message."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.addresses import format_address
from overlay.core.node import SECOND
from overlay.sim.recorders import Recorders
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.wire.table import LAYOUTS
from overlay.topologies import generate
from telemetry.__main__ import main
from telemetry.errors import TelemetryError
from telemetry.lake import pcapng
from telemetry.lake.datagrams import Choice
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker import captures, messages
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.broker.strategies import addresses

ROOM = ("room", "r1", "climate")
LONG = b"text=" + "é".encode() * 200


class Packet(NamedTuple):
    at_ns: int
    source: tuple[str, int]
    to: tuple[str, int]
    data: bytes
    options: dict[int, bytes]


def blocks(capture: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and body of each; the lengths before and after it are equal."""
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", capture, at + length - 4) == (length,)
        yield kind, capture[at + 8 : at + length - 4]
        at += length
    assert at == len(capture)


def options_of(data: bytes) -> dict[int, bytes]:
    found = {}
    while data:
        code, length = struct.unpack_from("<HH", data)
        if code == 0:
            assert data == b"\0\0\0\0"
            return found
        found[code] = data[4 : 4 + length]
        data = data[4 + -(-length // 4) * 4 :]
    raise AssertionError("the options have no end")


def adds_up(data: bytes) -> bool:
    """Whether the one's complement sum with the checksum in it is all ones."""
    padded = data + bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


def unpack(raw: bytes) -> tuple[tuple[str, int], tuple[str, int], bytes]:
    """The ends and the content of an IP packet with UDP in it; every length and checksum is looked at."""
    if raw[0] >> 4 == 4:
        assert struct.unpack_from("!H", raw, 2) == (len(raw),)
        assert raw[9] == 17
        assert adds_up(raw[:20])
        ends, udp = (raw[12:16], raw[16:20]), raw[20:]
        pseudo = raw[12:20] + struct.pack("!BBH", 0, 17, len(udp))
    else:
        assert struct.unpack_from("!H", raw, 4) == (len(raw) - 40,)
        assert raw[6] == 17
        ends, udp = (raw[8:24], raw[24:40]), raw[40:]
        pseudo = raw[8:40] + struct.pack("!I3xB", len(udp), 17)
    source, to, length, checksum = struct.unpack_from("!HHHH", udp)
    assert length == len(udp)
    assert checksum
    assert adds_up(pseudo + udp)
    hosts = [str(getattr(ip_address(end), "ipv4_mapped", None) or ip_address(end)) for end in ends]
    return (hosts[0], source), (hosts[1], to), udp[8:]


def read(capture: bytes) -> tuple[dict[int, bytes], list[Packet]]:
    """What its section says, and its packets."""
    (kind, section), (interface_kind, interface), *rest = blocks(capture)
    assert (kind, section[:4]) == (0x0A0D0D0A, bytes.fromhex("4d3c2b1a"))
    assert (interface_kind, struct.unpack_from("<H", interface)) == (1, (101,))
    assert options_of(interface[8:])[9] == b"\x09"
    packets = []
    for kind, body in rest:
        number, high, low, captured, original = struct.unpack_from("<IIIII", body)
        assert (kind, number, captured) == (6, 0, original)
        told = options_of(body[20 + -(-captured // 4) * 4 :])
        packets.append(Packet((high << 32) + low, *unpack(body[20 : 20 + captured]), told))
    return options_of(section[16:]), packets


@given(st.integers(0, 2**64 - 1), addresses, addresses, st.binary(max_size=70) | st.just(b"\xff" * 8))
def test_a_datagram_comes_out_as_it_went_in(at: int, source: Any, to: Any, data: bytes) -> None:
    whole = pcapng.section("é", "x") + pcapng.interface("i") + pcapng.packet(at, source, to, data, pcapng.INBOUND, "c")
    told, (packet,) = read(whole)
    assert told[1] == "é".encode()
    assert (packet.at_ns, packet.source, packet.to, packet.data) == (at, _plain(source), _plain(to), data)
    assert packet.options == {1: b"c", 2: b"\x01\0\0\0"}


def _plain(address: tuple[str, int]) -> tuple[str, int]:
    host = ip_address(address[0])
    return str(getattr(host, "ipv4_mapped", None) or host), address[1]


def test_the_largest_datagram_fits() -> None:
    data = b"x" * 65_507
    _, (packet,) = read(
        pcapng.section("", "")
        + pcapng.interface("i")
        + pcapng.packet(0, ("10.0.0.1", 1), ("10.0.0.2", 2), data, pcapng.OUTBOUND)
    )
    assert packet.data == data


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    """Three brokers in a line, recorded; a long text is found two brokers away."""
    files = RunFiles(tmp_path / "run1")
    recorders = Recorders(files.journal_directory, 8, lambda: overlay.simulator.now)
    overlay = Overlay(generate("line", 3), BrokerConfig(replication="none"), make_server=recorders, monitoring=False)
    overlay.start()
    overlay.put(2, ROOM, LONG)
    assert overlay.get(0, ROOM).outcome == "answered"
    overlay.run_for(SECOND)
    recorders.close()
    assert messages.write(files) == []
    return files


def packets(files: RunFiles, **choice: Any) -> list[Packet]:
    return read(b"".join(captures.capture(files, Choice(**choice), "Run 1, simulated")))[1]


def test_every_message_of_a_run_is_one_packet_in_its_order(files: RunFiles) -> None:
    count, rows = captures.rows(files.messages_path, Choice(), 0, 1000)
    told, found = read(b"".join(captures.capture(files, Choice(), "Run 1, simulated")))
    assert told[1] == b"Run 1, simulated"
    assert len(found) == count == len(rows)
    assert [len(one.data) for one in found] == [row["bytes"] for row in rows]
    first = found[0].at_ns - rows[0]["at_us"] * 1000
    assert [(one.at_ns - first) // 1000 for one in found] == [row["at_us"] for row in rows]
    brokers = messages.overview(files.messages_path).brokers  # type: ignore[union-attr]
    for one, row in zip(found, rows, strict=True):
        assert one.data.decode().startswith(row["text"].rstrip("\ufffd"))
        ends = [brokers.get(format_address(end), messages.OUTSIDE) for end in (one.source, one.to)]
        assert ends == [row["sender"], row["receiver"]]
        teller = "sender" if row["sender"] != messages.OUTSIDE else "receiver"
        name = LAYOUTS[int(one.data.partition(b"|")[0])].name
        assert one.options[1] == f"{row['code']} {name}, recorded by the {teller}; message {row['number']}.".encode()


def test_what_is_chosen_is_alike_as_rows_and_as_packets(files: RunFiles) -> None:
    _, rows = captures.rows(files.messages_path, Choice(), 0, 1000)
    query = next(row["query"] for row in rows if row["code"] == 3)
    middle = rows[len(rows) // 2]["at_us"]
    for choice, is_chosen in (
        ({"code": 4}, lambda row: row["code"] == 4),
        ({"broker": 1}, lambda row: 1 in (row["sender"], row["receiver"])),
        ({"query": query}, lambda row: row["query"] == query),
        ({"from_us": middle}, lambda row: row["at_us"] >= middle),
        ({"to_us": middle, "broker": 0}, lambda row: row["at_us"] < middle and 0 in (row["sender"], row["receiver"])),
        ({"code": 99}, lambda row: False),
    ):
        wanted = [row for row in rows if is_chosen(row)]
        assert captures.rows(files.messages_path, Choice(**choice), 0, 1000) == (len(wanted), wanted), choice
        assert [len(one.data) for one in packets(files, **choice)] == [row["bytes"] for row in wanted], choice
        assert captures.rows(files.messages_path, Choice(**choice), 1, 2) == (len(wanted), wanted[1:3]), choice


def test_a_long_message_is_whole_although_its_row_is_not(files: RunFiles) -> None:
    _, rows = captures.rows(files.messages_path, Choice(), 0, 1000)
    whole = {row["number"]: captures.whole(files, row) for row in rows}
    assert [whole[number] for number in sorted(whole)] == [one.data for one in packets(files)]
    (passed_on, *_) = [row for row in rows if row["code"] == 4 and row["sender"] == 1]
    assert LONG in (captures.whole(files, passed_on) or b"")
    assert captures.row(files.messages_path, passed_on["number"]) == passed_on
    assert captures.row(files.messages_path, len(rows)) is None
    for path in files.journal_directory.glob("*.recording"):
        path.unlink()
    assert captures.whole(files, passed_on) is None
    with pytest.raises(TelemetryError, match="no recordings"):
        captures.capture(files, Choice(), "")


def test_a_directory_becomes_a_capture_by_the_command(files: RunFiles, capfdbinary: Any) -> None:
    assert main(["pcap", str(files.directory)]) == 0
    told, found = read(capfdbinary.readouterr().out)
    assert b"run1" in told[1]
    assert found == packets(files)
    files.messages_path.unlink()
    assert main(["pcap", str(files.directory)]) == 0
    assert len(read(capfdbinary.readouterr().out)[1]) == len(found)
    assert main(["pcap", str(files.directory.parent)]) == 1
    assert b"not recorded" in capfdbinary.readouterr().err
