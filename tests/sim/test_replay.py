"""What real brokers received, given to fresh ones, makes these send the very same bytes; and a change is found."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from zlib import crc32

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlay.cli import replay as replay_command
from overlay.core.addresses import parse_address
from overlay.core.chance import Chances
from overlay.core.engines import SIMULATED
from overlay.core.node import SECOND
from overlay.deployment.deployment import Deployment
from overlay.journal.frames import HEAD
from overlay.journal.recorded import RecordedServer
from overlay.journal.recording import BadRecording, Begin, Recorder, Recording, What, recordings_in
from overlay.programs.context_broker.client import ContextClient, NotFound
from overlay.sim.engine import simulate
from overlay.sim.recorders import Recorders
from overlay.sim.replay import replay
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.system import SYSTEM
from overlay.systems.context_broker.workload import Workload
from overlay.systems.recordings import recorder_of
from overlay.systems.roles import Place
from overlay.topologies import generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.runtime.conftest import start_daemon  # noqa: F401
from tests.runtime.daemons import Daemon, ring
from tests.runtime.daemons import overlay as command
from tests.sim.test_engine import document
from tests.thorough import examples
from tests.waiting import BOUND_S

HERE, CONSUMER = ("127.0.0.1", 7000), ("127.0.0.1", 5000)
NEIGHBOURS = ("127.0.0.1", 7001), ("127.0.0.1", 7002)
PLACE = Place("broker-0", 0, HERE, (HERE,))
BEGIN = Begin("broker-0", 1, HERE, {}, "streams", 1, 0, 0, "0", "", "3")
UPDATE = b"2|%d|5|A|p|room|r%d|climate|1|9999999999999|a=1.0"
REQUEST = b"3|%d|room|r%d|climate"


def recorded(path: Path, seed: int = 1) -> Path:
    """One broker that two joined, that was told of three rooms, asked for nine, and told to leave, in virtual time."""
    now = 0
    config = BrokerConfig(walk_ttl=8)
    recorder = recorder_of(SYSTEM, config, PLACE, ("streams", 1), 0, path=path, most_mb=1)
    node = RecordedServer(SYSTEM.make_server(config, PLACE, Chances.streams(seed), 0), recorder, lambda: now)
    said = [(b"8|1|127.0.0.1:%d|*" % other[1], other) for other in NEIGHBOURS]
    said += [(UPDATE % (10 + room, room), CONSUMER) for room in range(3)]
    said += [(REQUEST % (20 + room, room), CONSUMER) for room in range(9)]
    for data, source in said:
        now += SECOND
        node.receive_datagram(data, source, now)
        node.datagrams_to_send()
        timer = node.next_timer()
        if timer is not None and timer <= now:
            node.handle_timer(now)
        node.statistics(now)
    node.leave(now)
    node.datagrams_to_send()
    recorder.close()
    return path


def replayed_elsewhere(directory: Path) -> subprocess.CompletedProcess[str]:
    """By another process, in which sets and dictionaries of addresses are in another order."""
    return subprocess.run(
        [sys.executable, "-m", "overlay", "replay", str(directory)],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        timeout=BOUND_S,
    )


def test_four_live_brokers_say_the_same_again(tmp_path: Path, start_daemon: Callable[..., Daemon]) -> None:  # noqa: F811
    flags = ("--brokers", "4", "--record", "8", "--trace-one-in", "1")
    daemons = [start_daemon(*flags, "--journal", str(tmp_path / f"broker-{index}.journal")) for index in range(4)]
    ring(daemons)
    clients = [ContextClient([parse_address(daemon.text)]) for daemon in daemons]
    for number in range(40):
        clients[number % 4].provide("p", ("room", f"r{number % 7}", "climate"), b"a=%d" % number, 60_000)
        if number % 3 == 0:
            with pytest.raises(NotFound):
                clients[(number + 1) % 4].ask(("room", f"nowhere{number}", "climate"))
        else:
            clients[(number + 2) % 4].ask(("room", f"r{number % 7}", "climate"))
        clients[number % 4].statistics()
    daemons[3].end()  # killed: its recording has no end
    for daemon in daemons[:3]:
        assert daemon.stop() == 0
    done = replayed_elsewhere(tmp_path)
    said, _, counts = done.stdout.partition(": 4 brokers, ")
    assert (done.returncode, said) == (3, "incomplete, no difference in the recorded part"), done.stdout + done.stderr
    assert "the recording has no end" in done.stderr
    inputs, datagrams = (int(word) for word in counts.split() if word.isdigit())
    assert inputs > 200
    assert datagrams > 250


def test_another_chance_is_a_difference_that_names_the_datagram(tmp_path: Path) -> None:
    same, other = replay(recorded(tmp_path / "a.1.recording")), replay(recorded(tmp_path / "b.1.recording", seed=2))
    assert same.difference is None
    assert (same.datagrams, same.end) == (replay(tmp_path / "a.1.recording").datagrams, What.ENDED)
    assert other.difference is not None
    assert other.difference.recorded != other.difference.replayed
    assert "broker-0 differs" in str(other.difference)
    assert "received b'3|2" in str(other.difference)
    assert "code has changed since the recording" not in str(other.difference)
    assert "code has changed since the recording" in str(replace(other.difference, by_other_code=True))


@pytest.mark.parametrize("what", ["changed", "missing", "surplus"])
def test_a_datagram_that_was_tampered_with_is_found(tmp_path: Path, what: str) -> None:
    found = Recording(recorded(tmp_path / "a.1.recording"))
    records = list(found)
    at = next(i for i, one in enumerate(records) if one[0] == What.SENT and b"r1" in one[-1])
    if what == "missing":
        del records[at]
    else:
        kind, now, host, port, data = records[at]
        changed = (kind, now, host, port, data.replace(b"r1", b"rx"))
        records[at : at + (what == "changed")] = [changed]
    path = tmp_path / "b.1.recording"
    recorder = Recorder(path, found.begin, 10**6)
    for one in records:
        recorder.write(*one)
    recorder.close()
    assert replay_command.main([str(tmp_path)]) == 1
    difference = replay(path).difference
    assert difference is not None
    assert difference.at_ns // SECOND in range(7, 16)


def test_what_is_no_recording_is_refused_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay_command.main([str(tmp_path)]) == 2
    assert f"no recordings in {tmp_path}" in capsys.readouterr().err
    (tmp_path / "a.1.recording").write_bytes(b"something else entirely")
    assert replay_command.main([str(tmp_path)]) == 2
    assert "is not a recording of a broker" in capsys.readouterr().err


def test_when_the_room_is_used_up_it_says_so_and_what_is_there_replays(tmp_path: Path) -> None:
    path = tmp_path / "a.1.recording"
    recorder = recorder_of(SYSTEM, BrokerConfig(), PLACE, ("streams", 1), 0, path=path, most_mb=1)
    node = RecordedServer(SYSTEM.make_server(BrokerConfig(), PLACE, Chances.streams(1), 0), recorder, lambda: 0)
    for number in range(30):
        node.receive_datagram((UPDATE % (number, 1)).replace(b"5|A", b"59999|A") + b"x" * 59_996, CONSUMER, number + 1)
        node.datagrams_to_send()
    recorder.close()
    again = replay(path)
    assert path.stat().st_size < 1_100_000
    assert (again.end, again.difference) == (What.FULL, None)
    assert 10 < again.inputs < 30


class Packing:
    """Answers each call by one datagram with all that came."""

    def __init__(self):
        self.out = []

    def receive_datagrams(self, datagrams, now):
        self.out.append((b"".join(data for data, _ in datagrams), CONSUMER))

    def datagrams_to_send(self):
        out, self.out = self.out, []
        return out

    def next_timer(self):
        return None

    def events(self):
        return ()


def packing(path: Path) -> RecordedServer:
    recorder = recorder_of(SYSTEM, BrokerConfig(), PLACE, ("streams", 1), 0, path=path, most_mb=1)
    return RecordedServer(Packing(), recorder, lambda: 0)


def test_what_came_in_one_call_is_replayed_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = packing(tmp_path / "a.1.recording")
    for now, batch in enumerate(((b"a", b"b"), (b"c",), (b"d", b"e", b"f")), 1):
        node.receive_datagrams([(data, CONSUMER) for data in batch], now)
        node.datagrams_to_send()
    node.recorder.close()
    monkeypatch.setattr("overlay.sim.replay._make", lambda *_: Packing())
    again = replay(tmp_path / "a.1.recording")
    assert (again.inputs, again.datagrams, again.difference, again.end) == (6, 3, None, What.ENDED)


def test_a_batch_that_is_not_whole_is_a_bad_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = packing(tmp_path / "a.1.recording")
    node.recorder.write(What.BATCH, 2)
    node.receive_datagrams([(b"a", CONSUMER)], 1)
    node.recorder.write(What.TIMER, 2)
    node.recorder.close()
    monkeypatch.setattr("overlay.sim.replay._make", lambda *_: Packing())
    with pytest.raises(BadRecording, match="is not whole, at input 1"):
        replay(tmp_path / "a.1.recording")


RECORDS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from([What.RECEIVED, What.SENT]),
            st.integers(0, 2**63),
            st.just("127.0.0.1"),
            st.integers(1, 65_535),
            st.binary(max_size=300),
        ),
        st.tuples(st.just(What.TIMER), st.integers(0, 2**63)),
        st.tuples(st.just(What.TRACED)),
    ),
    max_size=20,
)


@given(records=RECORDS, flushes=st.sets(st.integers(0, 20)), cut=st.integers(0, 2000), noise=st.binary(max_size=40))
def test_however_a_recording_was_cut_what_was_flushed_before_is_read(
    tmp_path_factory: pytest.TempPathFactory, records: list, flushes: set[int], cut: int, noise: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.1.recording"
    recorder = Recorder(path, BEGIN, 10**6)
    begun = path.stat().st_size
    for number, one in enumerate(records):
        recorder.write(*one)
        if number in flushes:
            recorder.flush()
    recorder.close()
    whole = Recording(path)
    assert (list(whole), whole.end, whole.bad_bytes) == (records, What.ENDED, 0)
    data = path.read_bytes()
    path.write_bytes(data[: max(begun, len(data) - cut)] + noise)
    torn = Recording(path)
    found = list(torn)
    assert torn.begin == BEGIN
    assert found == records[: len(found)]


def test_damage_is_no_replay_and_half_a_last_write_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = recorded(tmp_path / "broker-0.1.recording").read_bytes()
    Recorder(tmp_path / "begun", BEGIN, 10**6)
    written = {
        "a hole of zeros": ((tmp_path / "begun").read_bytes() + bytes(40), 2, "is damaged"),
        "torn": (whole[:-3], 3, "incomplete, no difference in the recorded part: 1 brokers"),
        "flipped": (whole[:-3] + bytes([whole[-3] ^ 255]) + whole[-2:], 2, "is damaged"),
        "overwritten": (whole + bytes([255] * 40), 0, "identical: 1 brokers"),  # nothing is said behind the end
    }
    for name, (data, code, words) in written.items():
        path = tmp_path / name / "broker-0.1.recording"
        path.parent.mkdir()
        path.write_bytes(data)
        found = replay_command.main([str(path.parent)])
        said = "".join(capsys.readouterr())
        assert (found, words in said) == (code, True), said


def test_a_recording_with_settings_of_another_version_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Recorder(tmp_path / "broker-0.1.recording", replace(BEGIN, config={"horse": 1}), 10**6).close()
    assert replay_command.main([str(tmp_path)]) == 2
    assert "settings that this version does not accept: horse: " in capsys.readouterr().err


def test_a_directory_that_cannot_be_looked_into_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay_command.main(["a" * 300]) == 2
    assert "File name too long" in capsys.readouterr().err


def test_a_pipe_is_no_recording_and_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "broker-0.1.recording")
    assert replay_command.main([str(tmp_path)]) != 0
    assert "is not a regular file" in capsys.readouterr().err


def test_recordings_of_an_earlier_run_are_not_taken_for_brokers_of_this_one(tmp_path: Path) -> None:
    for brokers in (6, 3):
        given = document(tmp_path, brokers, record_mb=4)
        simulate(Deployment.from_json(given, SIMULATED))
    assert len(recordings_in(tmp_path / "journal")) == 3


ANYTHING = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.sampled_from(
        [0, 1, 5, 9, SECOND, 70_000, "", "127.0.0.1", "x", b"", b"3|1|a|b|c", None, True, 0.5, (), ("a", 1)]
    ),
    st.binary(max_size=30),
    st.text(max_size=8),
    st.dictionaries(st.text(max_size=4), st.integers(0, 9), max_size=2),
)


@given(data=st.data())
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_was_tampered_with_is_a_difference_or_a_bad_recording(tmp_path: Path, data: st.DataObject) -> None:
    """With the right checksums: fields replaced, records dropped, doubled and moved, the beginning as well."""
    if not (whole := tmp_path / "a.1.recording").exists():
        recorded(whole)
    recording = Recording(whole)
    begin, records = {"format": 1, **asdict(recording.begin)}, list(recording)
    for _ in range(data.draw(st.integers(1, 3), "changes")):
        at = data.draw(st.integers(0, len(records) - 1), "record")
        how = data.draw(st.sampled_from(["field", "drop", "double", "move", "begin"]), "how")
        if how == "begin":
            begin[data.draw(st.sampled_from(sorted(begin)), "of the beginning")] = data.draw(ANYTHING)
        elif how == "field":
            fields = list(records[at])
            fields[data.draw(st.integers(0, len(fields) - 1), "field")] = data.draw(ANYTHING)
            records[at] = tuple(fields)
        elif how == "move":
            records.insert(data.draw(st.integers(0, len(records) - 1), "to"), records.pop(at))
        else:
            records[at : at + 1] = [] if how == "drop" else [records[at]] * 2
    body = b"".join(map(msgpack.packb, [[What.BEGIN, begin], *records, [What.ENDED]]))
    tampered = tmp_path / "tampered" / "a.1.recording"
    tampered.parent.mkdir(exist_ok=True)
    tampered.write_bytes(HEAD.pack(len(body), crc32(body)) + body)
    try:
        again = replay(tampered)
        assert again.difference is not None or again.end in (What.ENDED, What.FULL)
    except BadRecording as error:
        assert "recording" in str(error)


@given(noise=st.binary(max_size=200))
def test_noise_is_no_recording(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.1.recording"
    path.write_bytes(noise)
    with pytest.raises(BadRecording):
        Recording(path)
    assert recordings_in(path.parent)


@pytest.mark.parametrize(
    "chosen",
    [
        {"arm": "structured"},
        {"search": "flood", "replica_refresh": True},
        {"search": "k-walkers", "indirect_probes": 2, "gone_ttl": 2},
    ],
    ids=lambda chosen: next(iter(chosen.values())),
)
def test_every_kind_of_search_replays_under_another_hash_seed(tmp_path: Path, chosen: dict) -> None:
    simulate(Deployment.from_json(document(tmp_path, settings=chosen, record_mb=4), SIMULATED))
    done = replayed_elsewhere(tmp_path)
    assert (done.returncode, done.stdout[:22]) == (0, "identical: 6 brokers, "), done.stdout + done.stderr


def test_a_recorded_run_in_virtual_time_is_the_same_run_and_replays(tmp_path: Path) -> None:
    faults = [{"what": "kill", "brokers": [2], "at_s": 2, "until_s": 4}]
    outcomes = [
        simulate(Deployment.from_json(document(tmp_path / name, faults=faults, record_mb=record_mb), SIMULATED))
        for name, record_mb in (("plain", 0), ("recorded", 4))
    ]
    assert outcomes[0].digest == outcomes[1].digest
    assert not recordings_in(tmp_path / "plain" / "journal")
    assert len(recordings_in(tmp_path / "recorded" / "journal")) == 7, "broker 2 lived twice"
    assert replay_command.main([str(tmp_path / "recorded")]) == 0


def test_a_simulated_overlay_is_recorded_as_a_live_one_is(tmp_path: Path) -> None:
    graph, workload = generate("ring", 5), Workload(providers=3, consumers=5, duration_s=5, stagger_ms=100)
    plain = Overlay(graph, seed=3)
    recorders = Recorders(tmp_path, 8, lambda: overlay.simulator.now)
    overlay = Overlay(graph, seed=3, make_server=recorders)
    for one in (plain, overlay):
        one.start()
        one.add_clients(workload)
        one.run_for(3 * SECOND)
        one.kill(2)
        one.run_for(SECOND)
        one.restart(2)
        one.run_for(3 * SECOND)
    recorders.close()
    assert overlay.simulator.digest == plain.simulator.digest
    assert len(recordings_in(tmp_path)) == 6
    assert replay_command.main([str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--record", "8"), "--record: the recording is written next to the journal; add --journal"),
        (("--record", "5000", "--journal", "/nowhere/a.journal"), "must be at most 4096 MB"),
        (("--record", "much", "--journal", "/nowhere/a.journal"), "'much' is not a number of MB"),
    ],
)
def test_a_broker_that_cannot_be_recorded_so_does_not_start(flags: tuple[str, ...], sentence: str) -> None:
    code, _, error = command("broker", "--bind", "127.0.0.1:0", *flags)
    assert (code, sentence in error) == (2, True), error
