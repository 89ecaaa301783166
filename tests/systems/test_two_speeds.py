"""Roles with costs of their own: simulated response times follow them, and a system calibrates itself."""

from __future__ import annotations

import json
import signal
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest
from django.test import Client

from overlay.core.calibration import Measured
from overlay.core.curves import constant
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.service_times import Costs, Memory
from overlay.deployment.deployment import Deployment, run_document
from overlay.journal.facts import Sample, Tick
from overlay.journal.journal import read_journal
from overlay.plugins import VARIABLE
from overlay.runtime.calibrated import FILE, model_of, reference, stored_services
from overlay.sim.engine import journal_path, simulate
from overlay.systems.registry import FIRST, SYSTEMS
from telemetry.calibration import measuring
from telemetry.calibration.residuals import residuals_path
from telemetry.calibration.trust import trust
from telemetry.cli import calibrate
from telemetry.errors import TelemetryError
from tests.systems.two_speeds import CALL, LETTERS, SYSTEM

PLAIN = Costs(batch_us=10, other_us=10, sent_us=5)
CALLERS = Costs(batch_us=0, other_us=40, sent_us=120)

CHOSEN = {
    "system": SYSTEM.name,
    "quick": True,
    "no_anchors": False,
    "growth": False,
    "only_growth": False,
    "name": "a test",
}
"""Of the command."""


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)


def simulated(directory: Path, **roles: Costs):
    """The facts of a run, one server of each role, with these costs."""
    calibration = reference().with_system(SYSTEM.name, Measured(roles))
    document = run_document(
        {
            "system": SYSTEM.name,
            "topology": {"brokers": 1, "links": []},
            "settings": {},
            "workload": {"callers": 2, "duration_s": 2.0},
        },
        run="r1",
        seed=5,
        directory=str(directory),
    )
    simulate(Deployment.from_json(document, SIMULATED), model_of(calibration, SYSTEM))
    return list(read_journal(journal_path(directory)))


def median_us(facts, server: int) -> float:
    return median(fact.ended_us - fact.sent_us for fact in facts if isinstance(fact, Sample) and fact.broker == server)


def test_each_role_takes_the_time_of_its_messages(tmp_path):
    slow = Costs(batch_us=10, other_us=10, sent_us=5, received_us={CALL: 3000})
    facts = simulated(tmp_path, fast=PLAIN, slow=slow, callers=CALLERS)
    assert median_us(facts, 1) - median_us(facts, 0) == pytest.approx(2990, abs=150)


def test_work_that_is_not_per_message_takes_time_by_the_unit(tmp_path):
    reading = Costs(batch_us=10, other_us=10, sent_us=5, work_us={LETTERS: constant(100)})
    facts = simulated(tmp_path, fast=PLAIN, slow=reading, callers=CALLERS)
    letters = len(str(2_000_000_000))  # of a call: a time in nanoseconds
    assert median_us(facts, 1) - median_us(facts, 0) == pytest.approx(100 * letters, abs=150)


def test_clients_have_costs_and_memory_of_their_own(tmp_path):
    busy = Costs(batch_us=0, other_us=1000, sent_us=0, memory=Memory(8e6, 4e6, 2e6, {"requests": 100}))
    ticks = {}
    for name, callers in (("plain", CALLERS), ("busy", busy)):
        facts = simulated(tmp_path / name, fast=PLAIN, slow=PLAIN, callers=callers)
        ticks[name] = [fact for fact in facts if isinstance(fact, Tick) and fact.process == "callers-0"][-1]
    calls = ticks["busy"].counters["requests"]
    assert ticks["plain"].cpu_us == pytest.approx(160 * calls, rel=0.02)
    assert ticks["busy"].cpu_us == pytest.approx(1000 * calls, rel=0.02)
    assert (ticks["plain"].rss_bytes, ticks["busy"].rss_bytes) == (0, 8_000_000 + 100 * calls)


def test_what_was_not_measured_is_named(tmp_path):
    assert stored_services(tmp_path, SYSTEM).unmeasured == ("fast", "slow", "callers")
    assert stored_services(tmp_path, SYSTEMS[FIRST]).unmeasured == ()


@pytest.mark.django_db
def test_its_calibration_is_measured_written_read_and_shown(tmp_path, monkeypatch, settings, operator):
    """With the command, next to the reference of another system, of which nothing is changed."""
    monkeypatch.setenv(VARIABLE, "tests.systems.two_speeds:SYSTEM")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    monkeypatch.setattr(calibrate, "QUICK", measuring.Effort(1, 0.01, 2.0))
    settings.VAR = tmp_path
    browser = Client()
    browser.force_login(operator)
    page = browser.get(f"/calibration/?system={SYSTEM.name}").content.decode()
    assert "No measured service times for fast, slow, callers: default costs are used." in page
    assert "15 µs per wake-up" in page

    given = Namespace(**CHOSEN, model=None, page=tmp_path / "page.md", var=tmp_path)
    said: list[str] = []
    assert calibrate.make(given, said.append, datetime(2026, 11, 25, tzinfo=UTC)) == tmp_path / FILE
    assert said[0].startswith("1 of 3: two-speeds, fast: calls of fast servers")

    written = json.loads((tmp_path / FILE).read_text())
    assert (list(written["systems"]), "deliveries" in written) == ([SYSTEM.name], False)
    model = stored_services(tmp_path, SYSTEM)
    assert model.server("slow").received_us[CALL] > 2 * model.server("fast").received_us[CALL]
    assert model.unmeasured == ("callers", f"{LETTERS} of slow")
    assert (model.measured["name"], model.deliveries) == ("a test", reference().deliveries)
    assert stored_services(tmp_path, SYSTEMS[FIRST]) == model_of(reference(), SYSTEMS[FIRST])

    found = trust(tmp_path, SYSTEM)
    assert (found.is_own, [one.name for one in found.anchors]) == (True, ["two callers"])
    page = browser.get(f"/calibration/?system={SYSTEM.name}").content.decode()
    assert "No measured cost of letters read of slow: it counts as no time." in page
    assert '<td class="title-cell" data-label="Role">slow</td>' in page
    shown = browser.get(f"/api/calibration/?system={SYSTEM.name}").json()
    assert (shown["system"], shown["own"], shown["date"]) == (SYSTEM.name, True, "2026-11-25")
    assert shown["costs"]["slow"]["received_us"][CALL] == model.server("slow").received_us[CALL]
    assert browser.get("/api/calibration/").json()["system"] == FIRST
    assert browser.get("/calibration/?system=nowhere").status_code == 404
    text = (tmp_path / "page.md").read_text()
    assert f"| slow | parse and handle `{CALL}` |" in text
    assert "| two callers | Busy cores of slow |" in text
    assert "with the same seeds live and simulated (0)" in text
    assert "| two callers | central of 1 |  | `callers: 2`, `interval_ms: 50`, `duration_s: 2.0` |" in text
    assert "**Delays between processes are those of another machine" in text


def test_a_page_is_of_one_system(tmp_path):
    given = Namespace(**CHOSEN | {"system": None}, page=tmp_path / "page.md", model=None, var=tmp_path)
    with pytest.raises(InvalidSetting, match=r"--page: is of one system; choose it with --system: .*two-speeds"):
        calibrate.make(given, str, datetime.now(UTC))
    given.system, given.no_anchors = SYSTEM.name, True
    with pytest.raises(InvalidSetting, match="--page: shows the comparison with live runs, which --no-anchors"):
        calibrate.make(given, str, datetime.now(UTC))
    given.no_anchors, given.page = False, tmp_path / "nowhere" / "page.md"
    with pytest.raises(InvalidSetting, match=r"--page: is in no directory: .*nowhere does not exist"):
        calibrate.make(given, str, datetime.now(UTC))
    assert list(tmp_path.iterdir()) == []


def test_damaged_residuals_are_refused_before_anything_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(calibrate, "measure", lambda *_: pytest.fail("it took minutes to find out"))
    residuals_path(tmp_path / FILE).write_text("{")
    with pytest.raises(TelemetryError, match="cannot be read"):
        calibrate.make(Namespace(**CHOSEN, model=None, page=None, var=tmp_path), str, datetime.now(UTC))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_calibration_leaves_the_files_of_before(tmp_path, monkeypatch, number):
    """Also the handlers of before; what it has begun ends, since the error passes through its blocks."""
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(calibrate, "measure", lambda *_: signal.raise_signal(number))
    (tmp_path / FILE).write_text(json.dumps(reference().to_json()))
    content = (tmp_path / FILE).read_bytes()
    with pytest.raises(TelemetryError, match="Interrupted"):
        calibrate.make(Namespace(**CHOSEN, model=None, page=None, var=tmp_path), str, datetime.now(UTC))
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    assert ([path.name for path in tmp_path.iterdir()], (tmp_path / FILE).read_bytes()) == ([FILE], content)
