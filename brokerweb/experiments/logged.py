"""What the change log compares of experiments and runs."""

from __future__ import annotations

from typing import Any

from brokerweb.changelog.recording import subject
from brokerweb.experiments.models import Experiment, Run


def _run(run: Run) -> dict[str, Any]:
    fields = {name: getattr(run, name) for name in ("state", "cancel_requested", "kept", "note")}
    return {**fields, "tags": sorted(tag.name for tag in run.tags.all())}


subject(Experiment, "experiment", "name", "definition", "report_when_done")
subject(Run, "run", state=_run)
