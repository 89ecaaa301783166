"""Which Redis is used, and that one of our own is private and survives misfortune."""

import signal
import subprocess
from urllib.parse import urlsplit

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from brokerweb.up import redis
from overlay.core.errors import WaxwingError
from tests.disks import small_disk
from tests.waiting import BOUND_S, wait_for


class Server:
    """One of our own, from the bundled binary."""

    def __init__(self, directory):
        self.choice = redis.choose({"PATH": ""}, directory)
        self.process = subprocess.Popen(self.choice.command, stdout=subprocess.PIPE, text=True)
        wait_for(lambda: redis.answers(self.choice.url) or self.process.poll() is not None, "the server answers")

    def client(self):
        return Redis.from_url(self.choice.url, socket_timeout=BOUND_S)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.communicate(timeout=BOUND_S)[0]


def test_redis_url_wins(tmp_path):
    assert redis.choose({"REDIS_URL": "redis://elsewhere/0"}, tmp_path) == redis.Redis("redis://elsewhere/0")
    assert list(tmp_path.iterdir()) == []


def test_a_server_on_the_path_is_preferred_to_the_bundled_one(tmp_path):
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert redis.choose({"PATH": str(tmp_path)}, tmp_path / "data").command[0] == str(program)


def test_ours_wants_a_password_and_listens_on_loopback_only(tmp_path):
    server = Server(tmp_path)
    try:
        address = urlsplit(server.choice.url)
        assert address.hostname == "127.0.0.1"
        assert not redis.answers(f"redis://127.0.0.1:{address.port}")
        assert not redis.answers(f"redis://:wrong@127.0.0.1:{address.port}")
        assert (tmp_path / "redis.conf").stat().st_mode & 0o777 == 0o600
        with server.client() as client:
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    finally:
        server.end()


def test_the_address_of_the_server_of_logs_is_told_while_it_runs(tmp_path):
    with pytest.raises(WaxwingError, match="no server of logs of `make up` runs here; WAXWING_LOG_URL"):
        redis.running_for_logs(tmp_path)
    chosen = redis.choose_for_logs({"PATH": ""}, tmp_path)
    with pytest.raises(WaxwingError, match="runs here"):
        redis.running_for_logs(tmp_path)
    process = subprocess.Popen(chosen.command, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: redis.answers(chosen.url), "the server answers")
        assert redis.running_for_logs(tmp_path) == chosen.url
    finally:
        process.terminate()
        process.wait(BOUND_S)


def test_its_password_is_new_at_each_start(tmp_path):
    environment = {"PATH": ""}
    assert redis.choose(environment, tmp_path).url != redis.choose(environment, tmp_path).url


def test_it_keeps_the_queue_over_a_kill_and_a_half_written_end(tmp_path):
    server = Server(tmp_path)
    with server.client() as client:
        client.set("kept", "1")
        wait_for(lambda: client.info("persistence")["aof_pending_bio_fsync"] == 0, "it is written")
        [log] = list((tmp_path / "appendonlydir").glob("*.incr.aof"))
        wait_for(lambda: b"kept" in log.read_bytes(), "it is in the file")
    server.end(signal.SIGKILL)
    with log.open("ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$4\r\nha")
    server = Server(tmp_path)
    try:
        with server.client() as client:
            assert client.get("kept") == b"1"
    finally:
        server.end()


def test_a_queue_that_cannot_be_read_can_be_set_aside(tmp_path):
    Server(tmp_path).end()
    [log] = list((tmp_path / "appendonlydir").glob("*.incr.aof"))
    log.write_bytes(b"this is no queue\n" * 100)
    broken = Server(tmp_path)
    assert broken.process.wait(BOUND_S) == 1
    assert "append only file" in broken.end().lower()

    aside = redis.set_aside(tmp_path)
    assert list(aside.iterdir())
    server = Server(tmp_path)
    assert redis.answers(server.choice.url)
    server.end()
    assert redis.set_aside(tmp_path / "nothing here") is None


def test_it_goes_on_while_its_disk_is_full_and_keeps_its_file_again_once_there_is_room(tmp_path):
    with small_disk(tmp_path / "disk", 100) as disk:
        server = Server(disk.path)
        url = server.choice.url

        def takes(value):
            try:
                with server.client() as client:
                    return client.set("key", value)
            except ResponseError:
                return False

        try:
            assert takes("before")
            assert redis.keep_accepting(url, disk.path) == ""
            disk.fill()
            wait_for(lambda: not takes("x" * 100_000), "it refuses what it cannot write")
            assert redis.keep_accepting(url, disk.path) == "its file cannot be written; continuing without a file"
            assert takes("meanwhile")
            assert redis.keep_accepting(url, disk.path) == "", "there is no room yet"
            disk.make_room()
            assert redis.keep_accepting(url, disk.path) == "its file can be written again"
            assert takes("after")
        finally:
            server.end(signal.SIGKILL)


def test_the_server_of_logs_is_the_valkey_among_the_addresses_and_an_own_one_if_there_is_none(tmp_path):
    both = {"PATH": "", "WAXWING_LOG_URL": "nats://there redis://elsewhere/0"}
    chosen = redis.choose_for_logs(both, tmp_path)
    assert chosen == redis.Redis("redis://elsewhere/0")
    assert redis.addresses_of_logs(both, chosen) == "redis://elsewhere/0 nats://there"
    only = {"PATH": "", "WAXWING_LOG_URL": "nats://there"}
    own = redis.choose_for_logs(only, tmp_path)
    assert own.command is not None
    assert redis.addresses_of_logs(only, own) == f"{own.url} nats://there"
    with pytest.raises(WaxwingError, match="the address of the log must be as redis://"):
        redis.choose_for_logs({"PATH": "", "WAXWING_LOG_URL": "there"}, tmp_path)
