"""Use cases of bridges, called by pages, REST and the worker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import randrange
from typing import Any

from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from brokerweb.bridges.models import Bridge
from brokerweb.changelog.difference import difference
from brokerweb.changelog.recording import say
from brokerweb.kit import etags
from brokerweb.kit.errors import NotPossible
from brokerweb.networks.models import Desired, Network
from overlay.core.errors import InvalidSetting, InvalidSettings, shown
from overlay.systems.bridging import Bridging, bridging_of
from overlay.systems.registry import SYSTEMS

FIRST_REVISIONS = 2**30
"""A first revision is drawn from so many: one that takes the number of a deleted bridge is not mistaken for it."""
OWN = ("mqtt", "username", "password", "tls", "in", "out")
"""Fields of a document that are not among ``settings`` in REST."""
MOST_LETTERS = {"mqtt": 500, "username": 1_000, "password": 4_096, "settings": 20_000, "in": 20_000, "out": 20_000}
"""Of fields as JSON."""
MOST_OF_TLS = 100_000
"""Letters of each text of ``tls``."""


def bridging(network: Network) -> Bridging | None:
    """What bridges of a network's system are; ``None``: it has none."""
    return bridging_of(SYSTEMS[network.system])


def create(network: Network, fields: Mapping[str, Any], owner: User | None = None) -> Bridge:
    """Add a bridge; it starts within a second if the network runs.

    ``fields``: ``mqtt``, ``username``, ``password``, ``tls``, ``in``, ``out``, ``settings``, ``desired``. Raises
    ``InvalidSettings`` and ``NotPossible``.
    """
    with transaction.atomic():
        Network.objects.select_for_update().get(pk=network.pk)  # of two at once, the second sees the first
        if bridging(network) is None:
            raise NotPossible(f"Networks of {SYSTEMS[network.system].title} have no bridges.")
        if network.bridges.count() >= django_settings.MAX_BRIDGES:
            sentence = f"this network has {django_settings.MAX_BRIDGES} bridges, the limit; delete one first"
            raise InvalidSettings([InvalidSetting("mqtt", sentence)])
        number = (network.bridges.aggregate(last=Max("number"))["last"] or 0) + 1
        bridge = Bridge(network=network, number=number, owner=owner, revision=randrange(1, FIRST_REVISIONS))
        _set(bridge, fields)
        bridge.save()
        _log(bridge, "add bridge", {}, told(bridge), owner)
    return bridge


def change(bridge: Bridge, changes: Mapping[str, Any], by: User | None = None, seen: str = "") -> Bridge:
    """Change what is given of ``fields``, as in ``create``. Within ``settings`` and ``tls``, ``None`` removes a value,
    and others stay; a ``password`` of ``None`` is removed.

    The process restarts with it. Raises ``InvalidSettings``, and ``Outdated`` if it differs from ``seen``.
    """
    with transaction.atomic():
        bridge = Bridge.objects.select_for_update().get(pk=bridge.pk)
        before, secrets = told(bridge), bridge.secrets
        etags.check(seen, before)
        _set(bridge, changes)
        after = told(bridge)
        if after != before or secrets != bridge.secrets:
            bridge.revision += 1
            bridge.save(update_fields=["document", "secrets", "desired", "revision"])
            said = {f"new_{name}": True for name, secret in bridge.secrets.items() if secrets.get(name) != secret}
            _log(bridge, "change bridge", before, {**after, **said}, by)
    return bridge


def delete(bridge: Bridge, by: User | None = None) -> None:
    """Its process ends within a second. What it stored and published stays."""
    with transaction.atomic():
        _log(bridge, "delete bridge", told(bridge), {}, by)
        bridge.delete()


def told(bridge: Bridge) -> dict[str, Any]:
    """Its fields, as REST has them; of its secrets only whether there are some."""
    document = bridge.document
    tls = document.get("tls", {})
    return {
        "mqtt": document.get("mqtt", ""),
        "username": document.get("username", ""),
        "has_password": "password" in bridge.secrets,
        "tls": {"ca": tls.get("ca", ""), "certificate": tls.get("certificate", ""), "has_key": "key" in bridge.secrets},
        "in": document.get("in", []),
        "out": document.get("out", []),
        "settings": {name: value for name, value in document.items() if name not in OWN},
        "desired": bridge.desired,
    }


def whole(bridge: Bridge) -> dict[str, Any]:
    """The document for its process, with secrets."""
    return _whole(bridge.document, bridge.secrets)


def counters(bridge: Bridge) -> dict[str, int]:
    """What it counted since its process started."""
    known = bridging(bridge.network)
    counted = bridge.report.get("counters", {})
    parts = {} if known is None else known.counters
    return {name: sum(int(counted.get(one, 0)) for one in names) for name, names in parts.items()}


def _whole(document: Mapping[str, Any], secrets: Mapping[str, str]) -> dict[str, Any]:
    tls = {**document.get("tls", {}), **({"key": secrets["key"]} if "key" in secrets else {})}
    password = {"password": secrets["password"]} if "password" in secrets else {}
    return {**document, **password, **({"tls": tls} if tls else {})}


def _set(bridge: Bridge, fields: Mapping[str, Any]) -> None:
    """Raises ``InvalidSettings``."""
    known = bridging(bridge.network)
    assert known is not None
    if wrong := [*_too_long(fields), *_misplaced(fields)]:
        raise InvalidSettings(wrong)
    document, secrets = _merged(bridge, fields)
    if found := [*known.problems(_whole(document, secrets)), *_withheld(bridge, fields)]:
        raise InvalidSettings([_placed(error) for error in found])
    if (desired := fields.get("desired", bridge.desired)) not in Desired.values:
        raise InvalidSettings([InvalidSetting("desired", f"must be running or stopped, not {shown(desired, 40)}")])
    bridge.document, bridge.secrets, bridge.desired = document, secrets, desired


def _merged(bridge: Bridge, fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    tls = {**bridge.document.get("tls", {}), **_one_of(bridge.secrets, "key"), **(fields.get("tls") or {})}
    tls = {name: text for name, text in tls.items() if text not in (None, "")}
    password = fields["password"] if "password" in fields else bridge.secrets.get("password")
    secrets = {**({"password": password} if password else {}), **_one_of(tls, "key")}
    before = {name: value for name, value in bridge.document.items() if name != "tls"}
    given = {name: fields[name] for name in ("mqtt", "username", "in", "out") if name in fields}
    shown_tls = {name: text for name, text in tls.items() if name != "key"}
    document = {**before, **(fields.get("settings") or {}), **given, "tls": shown_tls}
    return {name: value for name, value in document.items() if value not in (None, "", {}, [])}, secrets


def _withheld(bridge: Bridge, fields: Mapping[str, Any]) -> list[InvalidSetting]:
    """A stored password goes to the server that it was given for only: else whoever may change a bridge could read it
    at a server of their own.
    """
    is_kept = "password" in bridge.secrets and "password" not in fields
    if not is_kept or fields.get("mqtt", bridge.document["mqtt"]) == bridge.document["mqtt"]:
        return []
    return [InvalidSetting("password", "is for the server before; type that of the new one, or remove it")]


def _one_of(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {name: values[name]} if values.get(name) else {}


def _too_long(fields: Mapping[str, Any]) -> list[InvalidSetting]:
    found = []
    for name, most in MOST_LETTERS.items():
        if name in fields and len(json.dumps(fields[name], default=str)) > most:
            found.append(InvalidSetting(name, f"must have at most {most:,} characters"))
    for name, text in (fields.get("tls") or {}).items():
        if len(str(text)) > MOST_OF_TLS:
            found.append(InvalidSetting(f"tls.{name}"[:60], f"must have at most {MOST_OF_TLS:,} characters"))
    return found


def _misplaced(fields: Mapping[str, Any]) -> list[InvalidSetting]:
    misplaced = [name for name in (fields.get("settings") or {}) if name in OWN]
    return [InvalidSetting(f"settings.{name}", "is a field of the bridge itself, not a setting") for name in misplaced]


def _placed(error: InvalidSetting) -> InvalidSetting:
    """With the name of the field in REST."""
    is_own = error.field.partition(".")[0] in OWN
    return error if is_own else InvalidSetting(f"settings.{error.field}", error.sentence)


def _log(
    bridge: Bridge, action: str, before: Mapping[str, Any], after: Mapping[str, Any], by: User | None = None
) -> None:
    """In the change log of its network."""
    was, now = difference(before, after)
    network = bridge.network
    say("network", network.pk, network.name, action, {str(bridge): was}, {str(bridge): now}, by)
