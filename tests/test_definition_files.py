"""Definitions in files: YAML and JSON as people write them, and topologies inline."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.engines import ENGINES, SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import checked
from overlay.experiment.files import MAX_BYTES, parse_definition
from overlay.experiment.inline import separated

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.text(max_size=5), plain, max_size=3))
def test_what_json_can_say_is_read_as_it_was_written(document):
    assert parse_definition(json.dumps(document).encode(), is_json=True) == document


@given(st.dictionaries(st.text(st.characters(codec="ascii", min_codepoint=32)), st.integers() | st.booleans()))
def test_yaml_is_read_as_its_own_writer_wrote_it(document):
    assert parse_definition(yaml.safe_dump(document).encode()) == document


@given(st.binary(max_size=60) | st.text("{}[]&*!:-,#|>'\"ab1 \n", max_size=60).map(str.encode), st.booleans())
def test_any_bytes_are_an_object_or_a_sentence(data, is_json):
    try:
        assert isinstance(parse_definition(data, is_json=is_json), dict)
    except InvalidSetting as error:
        assert (error.field, bool(error.sentence)) == ("spec", True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "one object"),
        ("- 1", "one object"),
        ("a: [1", "is not YAML"),
        ("a: &x [*x]", "refers to an anchor"),
        ("a: &x 1\nb: *x", "refers to an anchor"),
        ("seed: 1\nseed: 2", "says “seed” twice"),
        ("".join(f"k{i}: 1\n" for i in range(30_000)) + "k7: 2", "says “k7” twice"),
        ('1: a\n"1": b', "says “1” twice"),
        ("a: 2026-01-01", "no text, number, list or object"),
        ("a: !!python/object/apply:os.system [ls]", "is not YAML"),
        ("a: .nan", "not finite at a"),
        ("a: {b: [1, -.inf]}", "not finite at a.b.1"),
        ("a: 1\nb: [1.0e+999]", "not finite at b.0"),
        ("a:\n- 1\n- " + "9" * 100_000, "number of more than 400 characters in line 3"),
        ("a: 0x" + "f" * 5_000, "number of more than 400 characters in line 1"),
        ("a: !!int '0x" + "f" * 5_000 + "'", "a number that is too large"),
        ("a: [" + "[]," * 210_000 + "]", "more than 200,000 values"),
        ("a: " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("a: " + "[" * 200_000, "nested too deeply"),
        ("a: 1" + ":1" * 100_000, "more than 100,000 characters"),
        ("a: 1" + ":1" * 400 + ".5", "number of more than 400 characters"),
        ("a: 1" + ":1" * 190 + ".5", "a number that is too large"),
        ("a: !!bool maybe", "does not match its tag"),
        ("a: !!int ''", "does not match its tag"),
        ("a: !!timestamp soon", "does not match its tag"),
        ("a" * (MAX_BYTES + 1), "more than 5,000,000 bytes"),
    ],
)
def test_what_is_no_definition_gets_a_sentence(text, words):
    with pytest.raises(InvalidSetting) as caught:
        parse_definition(text.encode())
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": {"b": [1, ' + "9" * 100_000 + "]}}", "number of more than 400 characters at a.b.1"),
        ('{"a": 0.' + "3" * 100_000 + "}", "number of more than 400 characters at a"),
        ('{"a": [1e999]}', "not finite at a.0"),
        ('{"a": NaN}', "not finite at a"),
        ('{"a": -Infinity}', "not finite at a"),
        ('{"a": "\\ud800"}', "half a surrogate pair"),
        ('{"a": {"\\udfff": 1}}', "half a surrogate pair"),
        ('{"a": ' + "[" * 60 + "]" * 60 + "}", "nested too deeply"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        ('{"a": [' + "[]," * 600_000 + "1]}", "more than 1,000,000 values"),
        ('{\n"a": tru}', "line 2, column 6"),
        ('{"a": {"b": 1, "c": 2, "b": 1}}', "says “b” twice in one object"),
        ('{"a": "' + '\\"' * 2_000_000, "Unterminated string"),
    ],
    ids=lambda text: text[:20],
)
def test_json_that_would_cost_too_much_or_cannot_be_kept_is_refused_by_its_place(text, words):
    with pytest.raises(InvalidSetting) as caught:
        parse_definition(text.encode(), is_json=True)
    assert words in caught.value.sentence


def test_punctuation_in_texts_counts_as_no_values():
    assert parse_definition(json.dumps({"a": ",:[{" * 500_000}).encode(), is_json=True)["a"].startswith(",:[{")


RING = {"kind": "ring", "brokers": 4}
BODY = {"name": "e", "engine": SIMULATED, "topology": RING, "workload": {"providers": 1, "consumers": 2}}


def configurations(**changes):
    return checked(*separated({**BODY, **changes}))[1]


def test_an_inline_topology_is_drawn():
    [configuration] = configurations()
    assert configuration["topology"]["name"] == "ring-4"
    assert [(link["a"], link["b"]) for link in configuration["topology"]["links"]] == [(0, 1), (0, 3), (1, 2), (2, 3)]


def test_lists_and_blocks_may_have_topologies_of_their_own():
    other = {"kind": "custom", "brokers": 3, "links": [[0, 1], [1, 2]]}
    assert len(configurations(topology=[RING, other])) == 2
    assert len(configurations(blocks=[{"topology": RING}, {"topology": [RING, other]}])) == 2


def test_a_block_may_have_faults_instead_of_those_of_the_definition():
    kill, restart = ({"what": what, "brokers": [1], "at_s": 1} for what in ("kill", "restart"))
    found = configurations(faults=[kill], blocks=[{}, {"faults": []}, {"faults": [restart]}])
    assert [one["faults"] for one in found] == [[kill], [], [restart]]
    with pytest.raises(InvalidSetting, match="must be a list"):
        configurations(blocks=[{"faults": kill}])
    with pytest.raises(InvalidSetting, match="faults"):
        configurations(blocks=[{"faults": [{"what": "burn", "at_s": 1}]}])


def test_alike_names_are_told_apart():
    random = {"kind": "random-regular", "brokers": 10}
    found = configurations(topology=[{**random, "seed": 1}, {**random, "seed": 2}, {**random, "seed": 1}])
    assert [one["topology"]["name"] for one in found] == ["random-regular-10", "random-regular-10 (2)"]


def test_faults_are_known_in_every_configuration():
    fault = {"what": "kill", "brokers": [3], "at_s": 1}
    assert [one["faults"] for one in configurations(faults=[fault], workload={"consumers": [1, 2]})] == [[fault]] * 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"topology": "ring"}, "topology"),
        ({"topology": []}, "topology"),
        ({"topology": {"kind": "ring"}}, "topology.brokers"),
        ({"topology": {**RING, "colour": "red"}}, "topology.colour"),
        ({"topology": {**RING, "kind": "knot"}}, "topology.kind"),
        ({"topology": {**RING, "brokers": ENGINES[SIMULATED].brokers + 1}}, "topology.brokers"),
        ({"topology": {**RING, "params": {"delay_ms": -1}}}, "topology.params.delay_ms"),
        ({"topology": {**RING, "params": 3}}, "topology.params"),
        ({"topology": {**RING, "seed": "x"}}, "topology.seed"),
        ({"topology": {**RING, "links": [[0, 1]]}}, "topology.links"),
        ({"topology": [RING, {"kind": "custom", "brokers": 2, "links": [[0, 5]]}]}, "topology.1.links"),
        ({"blocks": [{"topology": {"kind": "knot", "brokers": 3}}]}, "blocks.0.topology.kind"),
        ({"faults": [{"what": "kill", "brokers": [4], "at_s": 1}]}, "faults.0.brokers"),
    ],
)
def test_what_is_wrong_with_a_topology_is_named(changes, field):
    with pytest.raises(InvalidSetting) as caught:
        configurations(**changes)
    assert caught.value.field.startswith(field)


def test_more_brokers_than_a_host_runs_are_refused_live_and_said_to_be_for_the_simulator():
    body = {**BODY, "engine": "live", "topology": {"kind": "ring", "brokers": 1001}}
    with pytest.raises(InvalidSetting, match="1000"):
        checked(*separated(body))
