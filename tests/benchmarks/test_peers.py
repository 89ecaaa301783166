"""The section of other servers: installed ones are measured with our broker; missing ones have a reason."""

import shutil
import socket
import threading

import pytest

from benchmarks import peers
from benchmarks.figures import RATIO, Unavailable
from benchmarks.peers.contenders import RIVALS, Rival
from benchmarks.peers.processes import Failed, Load, Process
from benchmarks.programs import program
from tests.thorough import thoroughly

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


@thoroughly
def test_each_rival_that_is_there_is_measured_and_each_other_named(monkeypatch):
    def dies(stage, found, outstanding):
        stage.start(found, "-c", "raise SystemExit('no licence')").line()

    absent = Rival("Absent", dies, lambda: None, "apt-get install absent")
    broken = Rival("Broken", dies, lambda: shutil.which("python3"), "")
    there = [rival for rival in RIVALS if rival.name in ("C program", "Redis") and rival.find()]
    monkeypatch.setattr(peers, "RIVALS", (*there, absent, broken))
    figures, said = [], []
    with pytest.raises(Unavailable) as lacking:
        for figure in peers.measure(1, said.append):
            figures.append(figure)

    assert "Absent: not installed: apt-get install absent" in str(lacking.value)
    assert "no licence" in str(lacking.value)
    assert "round 1 of 1" in said
    for rival in there:
        measured = {figure.name: figure for figure in figures if figure.name.startswith(f"{rival.name}: ")}
        rate = measured[f"{rival.name}: requests/s, {rival.outstanding} outstanding, ours / theirs"]
        assert rate.unit == RATIO
        assert rate.goal == (f">= {rival.goal:g}" if rival.goal else "")
        assert all(figure.value > 0 for figure in measured.values())
        assert measured[f"{rival.name}: serial p50"].value <= measured[f"{rival.name}: serial p99"].value


def test_a_burst_lasts_until_something_has_been_answered(tmp_path):
    """On a machine that is busy with others, a server may not run at all for as long as a burst is to last."""
    with socket.socket(type=socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def answer_what_was_asked_again():
            asked = 0
            while (received := server.recvfrom(2048))[0]:  # an empty one is this test's, at its end
                asked += 1
                if asked > 1:
                    _, stamp, *key = received[0].decode().split("|")
                    answer = "|".join(["4", stamp, "1000", "me", *key, "1", "2", "v" * 1000])
                    server.sendto(answer.encode(), received[1])

        thread = threading.Thread(target=answer_what_was_asked_again)
        thread.start()
        command = [str(program("peer_load")), "ask", "waxwing", str(server.getsockname()[1]), "1", "1", "1000"]
        try:
            load = Load(command, tmp_path / "words", is_serial=True)
            try:
                burst = load.burst(0.01)
            finally:
                load.end()
        finally:
            server.sendto(b"", server.getsockname())
            thread.join()
    assert burst.requests >= 1
    assert burst.lost == 1


def test_answers_that_are_none_fail_the_load(tmp_path):
    told = (
        '{"requests": 9, "seconds": 0.1, "cpu_seconds": 0.1, "p50_us": 1, "p99_us": 1, "late": 0, "bad": 9, "lost": 0}'
    )
    load = Load(["sh", "-c", f"echo ready; read seconds; echo '{told}'; read more"], tmp_path / "words", is_serial=True)
    try:
        with pytest.raises(Failed, match="9 of 9 answers are not what was asked for"):
            load.burst(0.1)
    finally:
        load.end()


def test_a_process_that_ends_before_it_is_ready_is_quoted(tmp_path):
    process = Process(["sh", "-c", "echo the port is taken >&2"], tmp_path / "words")
    try:
        with pytest.raises(Failed, match="the port is taken"):
            process.line()
    finally:
        process.end()
