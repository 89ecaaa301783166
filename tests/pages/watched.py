"""A network that has been watched for two weeks: time series, alarms and operations, none of which really happened."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from brokerweb.alarms import services as alarms
from brokerweb.alarms.models import Alarm, AlarmEvent
from brokerweb.bridges import services as bridges
from brokerweb.kit.errors import NotAnswered
from brokerweb.networks.models import Network
from brokerweb.networks.probes import TIERS
from brokerweb.networks.probing import probe_file
from brokerweb.operationlog import storing
from brokerweb.operationlog.buffer import Taken
from brokerweb.operationlog.entries import GET, PAGE, PUT, REST, Entry

LONG = "weather-station-on-the-roof-of-the-physics-building-number-1742"


def watch(network: Network, owner: User) -> None:
    """With a night without measurements, an hour of loss, and a firing alarm."""
    probes, now_s = probe_file(network), int(time.time())
    for tier in TIERS:
        newest = now_s // tier.step_s
        for number in range(newest - tier.slots // 9 * 8, newest, 1 if tier.step_s > 1 else 2):
            at_s = number * tier.step_s
            if 0.55 < (newest - number) / tier.slots < 0.62:
                continue
            one = _figures(at_s, tier.step_s, lossy=(newest - number) / tier.slots < 0.05)
            probes.write(tier, at_s, {None: {**one, "load_per_s": 4 * one["load_per_s"]}, 0: one})
    _alarms(network, owner)
    _bridges(network, owner)
    lost = Counter({network.pk: 1_203})
    storing.write(Taken(list(_operations(network, owner)), lost))


def _figures(at_s: int, step_s: int, *, lossy: bool) -> dict[str, float]:
    wave = math.sin(at_s / step_s / 40) + 0.3 * math.sin(at_s / step_s * 1.7)
    answered = 0.96 if lossy else 1.0
    asked = 4 * step_s
    p50 = 180 + 40 * wave
    return {
        "asked": asked, "answered": int(asked * answered), "p50_us": p50, "p95_us": p50 * (6 if lossy else 2.2),
        "sum_us": p50 * 1.2 * int(asked * answered), "load_per_s": 300 + 120 * wave, "cores": 0.2 + 0.05 * wave,
        "private_bytes": 7.4e6 + 2e5 * wave, "hops": 1.4 + 0.4 * wave, "answers_per_s": 90 + 20 * wave,
        "looks_s": step_s,
    }  # fmt: skip


def _alarms(network: Network, owner: User) -> None:
    now = timezone.now()
    firing = alarms.create(network, measure="answered_share", comparison="below", value="99%", for_s=60, owner=owner)
    alarms.create(network, measure="p95_us", comparison="above", value="5ms", for_s=300, broker=0, owner=owner)
    Alarm.objects.filter(pk=firing.pk).update(state="firing", since=now - timedelta(minutes=4), seen=0.96)
    rule = alarms.rule_of(firing)
    events = [(190, "firing", f"{rule} fires. Now 95\u202f%.", 0.95), (150, "resolved", f"{rule} is resolved.", 1.0)]
    for minutes, state, words, value in (*events, (4, "firing", f"{rule} fires. Now 96\u202f%.", 0.96)):
        at = now - timedelta(minutes=minutes)
        AlarmEvent.objects.create(
            network=network, alarm=firing.pk, at=at, state=state, rule=rule, words=words, value=value
        )


def _bridges(network: Network, owner: User) -> None:
    """One that is connected, and one whose server is away."""
    pattern = "context/{type}/{entity}/{scope}"
    for number, server in enumerate(("mqtts://mqtt.example.org:8883", f"mqtt://{LONG}.example.org"), 1):
        secret = {"username": "bridge", "password": "kept"}
        bridges.create(network, {"mqtt": server, "in": [pattern], "out": [pattern] * (number == 1), **secret}, owner)
    counted = {"messages_in": 120_034, "messages_out": 98_231, "refused_payload": 17, "unchanged": 98_120}
    last = {"counters": counted, "last_refusal": "'context/room/r1/temp': not JSON"}
    network.bridges.filter(number=1).update(state="connected", report=last)
    network.bridges.filter(number=2).update(state="connecting", reason=f"mqtt://{LONG}.example.org: timed out")


def _operations(network: Network, owner: User) -> Iterator[Entry]:
    common: dict[str, Any] = {"network": network.pk, "who": f"user:{owner.pk}"}
    said = b'"broker_index":%d,"hops":%d,"strategy":"walk","walk":%s}'
    for number in range(14):
        at_ns, took_ns = time.time_ns() - (14 - number) * 47 * 10**9, (300 + 900 * number**2) * 1_000
        walk = b'"/api/networks/x/walks/%016x/"' % number if number % 4 == 1 else b"null"
        key = ("room", LONG if number == 3 else f"r{number}", "temp")
        if number % 3:
            answer = said % (number % 4, number % 3, walk)
            yield Entry(at_ns, took_ns, via=REST, op=GET, key=key, source="", status=200, answer=answer, **common)
        else:
            yield Entry(at_ns, took_ns, via=PAGE, op=PUT, key=key, source="sensor-1", status=200, answer=b"", **common)
    at_ns = time.time_ns()
    silence = NotAnswered("Broker 3 does not answer.")
    failed = {"via": REST, "op": GET, "source": "", "answer": b"", **common}
    yield Entry(at_ns, 10**10, key=("room", "r1", "temp"), status=504, error=silence, **failed)
    missing = LookupError("No broker of this network has valid data for this entity and scope.")
    yield Entry(at_ns, 81 * 10**6, key=("room", "attic", "temp"), status=404, error=missing, **failed)
    refused = PermissionError("This account is read-only.")
    yield Entry(at_ns, 0, key=("room", "safe", "temp"), status=403, error=refused, **{**failed, "op": PUT})
