"""Unchanged clients of MQTT at a proxy of a live run: Mosquitto's programs and paho."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.runtime.logs.engines import VARIABLE
from overlay.runtime.logs.valkey import instance
from overlay.runtime.own_supervisor import own_supervisor
from overlay.sim.replay import replay_all
from tests.contextnet.mqtt import bytes_of as b
from tests.contextnet.mqtt.site import CONNECTIONS, Payloads, Site, Teller, id_of
from tests.log.reader import reads
from tests.thorough import examples
from tests.waiting import BOUND_S

ACCEPTED = b"\x20\x02\x00\x00"
PHONE, HALL = id_of("phone"), id_of("hall")
needs_mosquitto = pytest.mark.skipif(shutil.which("mosquitto_rr") is None, reason="Mosquitto's clients are missing")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    directory = tmp_path_factory.mktemp("mqtt")
    with instance.own_instance() as url, own_supervisor(**{VARIABLE: url}) as supervisor:
        one = Site(supervisor, url, directory)
        yield one
        one.end()
    replays = replay_all(directory / "journal")
    assert [str(one.difference) for one in replays if one.difference is not None] == []
    assert "mqtt-0" in {one.begin.process for one in replays}


def run(arguments):
    """The exit code of one of Mosquitto's programs, and what it said."""
    done = subprocess.run(arguments, timeout=BOUND_S, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@needs_mosquitto
@pytest.mark.parametrize("qos", ["0", "1"])
def test_mosquitto_rr_asks_and_gets_the_answer_of_an_application(site, qos):
    asks = ["-t", "sensors/hall", "-e", f"clients/{PHONE}", "-m", "20.5", "-q", qos, "-V", "mqttv311"]
    assert run(site.mosquitto("mosquitto_rr", PHONE, *asks)) == (0, "20.5\n")


@needs_mosquitto
def test_mosquitto_sub_gets_what_an_application_writes_to_it(site):
    command = site.mosquitto("mosquitto_sub", HALL, "-t", f"clients/{HALL}", "-C", "1", "-v", "-d")
    with subprocess.Popen(["stdbuf", "-oL", *command], stdout=subprocess.PIPE, text=True) as reader, site.log() as log:
        lines = iter(reader.stdout.readline, "")
        assert any("SUBACK" in line for line in lines)
        teller = log.start("teller", Teller())
        teller.tell(HALL, b"open the window")
        log.until(lambda: teller.durable)
        assert f"clients/{HALL} open the window\n" in list(lines)


@needs_mosquitto
def test_mosquitto_pub_is_told_what_the_proxy_refuses(site):
    def publish(*arguments, **rest):
        return run(site.mosquitto("mosquitto_pub", HALL, "-t", "sensors/hall", "-m", "20.5", *arguments, **rest))

    assert publish("-q", "1", "-r") == (0, ""), "taken, but not retained"
    refused = [publish("--will-topic", "sensors/hall"), publish(password="another")]
    assert [code for code, _ in refused] == [5, 4]


def test_what_mqtt_cannot_refuse_ends_the_connection(site):
    for packet in (b.publish("sensors/hall", b"x", 2, 1), b.publish("elsewhere", b"x", 1, 1), b"\xf0\x00"):
        assert site.said_to(site.connect(), packet) == ACCEPTED
    wrong = [b.connect(id_of("raw")), b.connect("raw", user="raw", password=b"x")]
    assert {site.said_to(one) for one in wrong} == {b"\x20\x02\x00\x04"}, "without a password, and no node"


@settings(max_examples=examples(80))
@given(data=st.binary(max_size=60), is_connected=st.booleans())
def test_any_bytes_leave_the_proxy_as_it_was(site, data, is_connected):
    end = b.packet(0xF0)  # whatever came before, this is no packet of a client
    first = [site.connect()] if is_connected else []
    with socket.create_connection(site.address, BOUND_S) as one:
        one.sendall(b"".join(first) + data + end)
        one.shutdown(socket.SHUT_WR)
        while one.recv(4_096):
            pass
    assert site.said_to(site.connect("after"), b.PING, b.DISCONNECT) == ACCEPTED + b"\xd0\x00"


def test_connections_beyond_the_limit_are_closed_and_those_before_go_on(site):
    def open_one(name):
        one = socket.create_connection(site.address, BOUND_S)
        one.sendall(site.connect(name))
        return one, one.recv(4)

    opened = [open_one(f"c{number}") for number in range(CONNECTIONS)]
    assert {answer for _, answer in opened} == {ACCEPTED}
    late, answer = open_one("late")
    assert answer == b""
    first = opened[0][0]
    first.sendall(b.PING)
    assert first.recv(2) == b"\xd0\x00"
    for one in (late, *(sock for sock, _ in opened)):
        one.close()


def test_nothing_that_was_acknowledged_is_lost_when_the_proxy_dies(site):
    steady = Steady(site)
    steady.wait(lambda: len(steady.acknowledged) > 100)
    site.kill()
    steady.wait(lambda: steady.connections == 2 and not steady.waiting)
    with site.log() as log:
        reader = log.start("reader", Payloads(reads("mqtt.sensors", "reader")))
        log.until(lambda: steady.acknowledged <= set(reader.payloads))
    assert len(steady.acknowledged) == steady.published, "it repeats what was not"
    steady.client.disconnect()
    steady.client.loop_stop()


class Steady:
    """A client that always has messages under way, until it has connected twice and sent some more."""

    def __init__(self, site):
        self.acknowledged, self.waiting = set(), {}
        self.published = self.connections = self.more = 0
        self._changed = threading.Condition()
        self.client = site.paho("steady")
        self.client.on_connect = self._connected
        self.client.on_publish = self._durable
        self.client.connect(*site.address)
        with self._changed:
            for _ in range(10):
                self._publish()
        self.client.loop_start()

    def wait(self, holds):
        with self._changed:
            assert self._changed.wait_for(holds, BOUND_S)

    def _publish(self):
        self.published += 1
        payload = b"message %d" % self.published
        self.waiting[self.client.publish("sensors/hall", payload, qos=1).mid] = payload

    def _connected(self, *_):
        with self._changed:
            self.connections += 1

    def _durable(self, client, data, number, *_):
        with self._changed:
            self.acknowledged.add(self.waiting.pop(number))
            self.more += self.connections == 2
            if self.more < 100:
                self._publish()
            self._changed.notify_all()
