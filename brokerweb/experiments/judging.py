"""What a collected run's row says of what was measured: figures, verdict, and whether its thresholds held."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from brokerweb.experiments.models import Run
from overlay.errors import InvalidSetting
from telemetry import thresholds

log = logging.getLogger(__name__)


def measured(run: Run, summary: Mapping[str, Any], *, is_done: bool) -> dict[str, Any]:
    """The fields of ``run``'s row. Only a run that is done keeps or breaks a threshold: half of one proves nothing."""
    return {
        "summary": dict(summary),
        "verdict": summary.get("verdict", ""),
        "verdict_reasons": summary.get("verdict_reasons", []),
        **(judged(run, summary) if is_done else {}),
    }


def judged(run: Run, summary: Mapping[str, Any]) -> dict[str, Any]:
    """What its experiment demanded, held against its summary."""
    try:
        demanded = thresholds.read_all(run.experiment.definition.get("thresholds") or [])
    except InvalidSetting:  # they were read when it was made: a figure has gone since
        log.exception("run %s: its thresholds cannot be read", run.pk)
        return {}
    found = thresholds.judge(demanded, summary)
    return {"thresholds": found, "passed": thresholds.passed(found)}
