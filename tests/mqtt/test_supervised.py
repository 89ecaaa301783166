"""The documents of bridges that are a part of a network: what is refused, with all fields at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trustme

from overlay.core.errors import InvalidSetting
from overlay.programs.context_broker.mqtt.supervised import BRIDGING
from overlay.systems.bridging import bridging_of
from overlay.systems.registry import SYSTEMS
from tests.mqtt.world import PATTERN

GOOD: dict[str, Any] = {"mqtt": "mqtt://h", "in": [PATTERN], "out": [{"pattern": PATTERN}]}


def refused(**document: Any) -> dict[str, str]:
    return {error.field: error.sentence for error in BRIDGING.problems({**GOOD, **document})}


def test_a_system_says_whether_it_has_bridges() -> None:
    assert bridging_of(SYSTEMS["context-broker"]) is BRIDGING
    assert bridging_of(SYSTEMS["radiator"]) is None


def test_everything_that_is_wrong_is_said_at_once() -> None:
    assert refused() == {}
    found = refused(
        mqtt="http://h",
        password="p",
        protocol="4",
        keepalive_s=0,
        valid_ms=-1,
        tries="many",
        value_name=3,
        fields={"x": "y"},
        unknown=1,
        **{"in": [PATTERN, "c/{type}"], "out": "c/{type}/#"},
    )
    assert found.keys() == {
        *("mqtt", "username", "protocol", "keepalive_s", "valid_ms", "tries", "value_name", "fields.x", "unknown"),
        *("in.1.pattern", "out.pattern"),
    }
    assert refused(**{"in": [], "out": []}) == {"in": "a bridge needs a pattern of topics, in or out"}
    assert refused(**{"in": 3}).keys() == {"in"}


@pytest.mark.parametrize("name", ["brokers", "bootstrap", "password_file"])
def test_options_of_the_command_are_none_of_a_network(name: str) -> None:
    assert refused(**{name: "/etc/passwd"}) == {name: "is not a setting of a network's bridge"}


def test_certificates_are_texts_and_fit_each_other() -> None:
    authority = trustme.CA()
    one, other = authority.issue_cert("a"), authority.issue_cert("b")
    ca, certificate = authority.cert_pem.bytes().decode(), one.cert_chain_pems[0].bytes().decode()
    keys = [each.private_key_pem.bytes().decode() for each in (one, other)]
    whole = {"ca": ca, "certificate": certificate, "key": keys[0]}
    assert refused(mqtt="mqtts://h", tls=whole) == {}
    assert refused(tls=whole).keys() == {"tls"}, "without TLS there is nothing to certify"
    secure = "mqtts://h"
    assert refused(mqtt=secure, tls={**whole, "key": keys[1]}).keys() == {"tls.certificate"}
    assert refused(mqtt=secure, tls={"ca": "/etc/ssl/cert.pem"}).keys() == {"tls.ca"}
    assert refused(mqtt=secure, tls={"ca": ca.replace("M", "!")}).keys() == {"tls.ca"}
    assert refused(mqtt=secure, tls={"key": keys[0]}).keys() == {"tls.certificate"}
    assert refused(mqtt=secure, tls={**whole, "key": 3}).keys() == {"tls.key"}


def test_settings_of_forms_have_their_defaults() -> None:
    values = {info.name: info.default for info in BRIDGING.settings if info.default != ""}
    assert refused(**values) == {}
    for info in BRIDGING.settings:
        with pytest.raises(InvalidSetting):
            info.check(None)


def test_a_bridge_of_a_network_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    test_certificates_are_texts_and_fit_each_other()
    assert list(tmp_path.iterdir()) == []
