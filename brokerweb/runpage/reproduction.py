"""A definition that reproduces a run anywhere: one configuration with topology and seed.

Counterpart: ``overlay.experiment.inline`` reads it, for ``python -m overlay simulate`` and the sweeps of ``python -m
telemetry``.
"""

from __future__ import annotations

from typing import Any

from brokerweb.experiments.models import Run
from overlay.core.engines import SIMULATED
from overlay.experiment.definition import CUSTOM


def definition_of(run: Run) -> dict[str, Any]:
    """A definition whose replicate ``run.replicate`` has the seed of ``run``."""
    configuration = run.configuration
    topology = configuration["topology"]
    kept = ("system", "engine", "settings", "workload", "faults", "simulation", "record_mb")
    return {
        "name": f"Run {run.pk}",
        "topology": {
            "name": topology["name"],
            "kind": CUSTOM,
            "brokers": topology["brokers"],
            "links": topology["links"],
        },
        **{name: configuration[name] for name in kept if configuration.get(name)},
        "seed": run.experiment.definition["seed"],
    }


def commands_for(run: Run, origin: str) -> list[tuple[str, str]]:
    """``(description, command)`` pairs that reproduce a run; ``origin`` is the server, such as ``http://host:8000``."""
    who = '-H "Authorization: Bearer $TOKEN"'
    here = f"{origin}/api/runs/{run.pk}"
    commands = [("On this server, as a new run", f"curl -X POST {who} {here}/rerun/")]
    if run.engine == SIMULATED:
        file = f"run-{run.pk}.json"
        commands.append(
            (
                "On any machine, without the server",
                f"curl {who} -o {file} {here}/definition/\n"
                f"python -m overlay simulate {file} --replicate {run.replicate}",
            )
        )
    return commands
