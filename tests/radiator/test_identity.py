"""Who has the seed of a live server cannot compute its secrets; a recording has what a replay needs of them."""

from __future__ import annotations

from overlay.core.chance import Chances
from overlay.journal.recording import recordings_in
from overlay.runtime.server_process import ServerProcess
from overlay.sim.replay import replay
from overlay.systems.radiator.settings import ServerConfig, Settings
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.roles import Place

HERE, CLIENT = ("127.0.0.1", 7000), ("127.0.0.1", 5000)
REGISTER = m.Register(1, 5, 0, 0, "a", {})


def live(journal):
    """A server as every live one is made, what it says to a stranger, and its recording."""
    config = ServerConfig(Settings())
    process = ServerProcess(SYSTEM, config, ("127.0.0.1", 0), seed=0, journal=journal, record_mb=1)
    server = process._server
    server.receive_datagrams(((encode(REGISTER), CLIENT),), 1)
    first = parse(server.datagrams_to_send()[0][0])
    server.receive_datagrams(((encode(REGISTER._replace(token=first.token)), CLIENT),), 2)
    second = parse(server.datagrams_to_send()[0][0])
    server.leave(3)
    process._recorder.close()
    process.close()
    return second, first.token


def test_live_servers_of_one_seed_have_other_secrets_and_replay_with_their_own(tmp_path):
    said = [live(tmp_path / name / "server.journal") for name in "ab"]
    (a, token), (b, other) = said
    assert len({a.epoch, b.epoch}) == len({a.key, b.key}) == len({token, other}) == 2
    assert len(a.key) == 16
    for name in "ab":
        (path,) = recordings_in(tmp_path / name)
        replayed = replay(path)
        assert replayed.difference is None
        assert replayed.datagrams == 2


def test_simulated_servers_follow_from_the_seed():
    place = Place("server", 0, HERE, (HERE,))
    servers = [SYSTEM.make_server(ServerConfig(Settings()), place, Chances.streams(seed), 0) for seed in (1, 1, 2)]
    assert servers[0].epoch == servers[1].epoch != servers[2].epoch
