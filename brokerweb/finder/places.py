"""Pages and actions by name. A test checks that every entry of the navigation is listed here."""

from __future__ import annotations

from dataclasses import dataclass

from brokerweb.systems.registry import entries


@dataclass(frozen=True, slots=True)
class Place:
    """A page, or the page that starts an action."""

    name: str
    about: str
    url: str
    """Its name in the URLconf."""
    more: str = ""
    """Further search terms."""
    for_operators: bool = False


PLACES = (
    Place("New experiment", "Vary settings, repeat, measure", "experiments:new", "launch create run", True),
    Place("New topology", "Generate brokers and links", "topologies:new", "create generate overlay", True),
    Place("Import a topology", "From a file of links", "topologies:import", "upload graphml edge list", True),
    Place("Deploy a network", "Brokers that run until stopped", "networks:new", "new create start", True),
    Place("New report", "Compare finished runs in one file", "reports:new", "create spark comparison", True),
    Place("New schedule", "Scheduled report or launch", "schedules:new", "create cron", True),
    Place("New notification target", "Webhook or e-mail", "targets:new", "create alert", True),
    Place("Home", "Active runs, recent results, schedules", "home", "start dashboard now"),
    Place("Experiments", "All experiments", "experiments:list", "sweeps"),
    Place("Runs", "List, filter, tag and export runs", "runs:list", "measurements"),
    Place("Compare", "Compare figures of runs", "compare", "chart baseline difference"),
    Place("Studies", "Published figures and questions, repeated and judged", "studies:list", "claims paper criteria"),
    Place("Reports", "Comparison reports", "reports:list", "spark"),
    Place("Topologies", "All topologies", "topologies:list", "overlays graphs"),
    Place("Networks", "Deployed networks", "networks:list", "brokers"),
    Place("Schedules", "Scheduled reports and launches", "schedules:list", "cron beat"),
    Place("Hosts", "Machines and their workers", "hosts:list", "machines workers supervisor"),
    Place("Storage", "Disk usage and retention", "storage", "disk space delete"),
    Place("Changes", "Who changed what", "changes", "log audit history who"),
    Place("Notifications", "E-mail and webhook targets", "notifications", "alerts webhook e-mail"),
    Place("Filter fields", "Filter syntax with examples", "runs:fields", "help documentation query"),
    Place("Calibration", "Accuracy of simulated times", "calibration", "help documentation simulator accuracy"),
    Place("REST documentation", "Operations of the API", "api:docs", "help openapi swagger api"),
    Place("Account", "Tokens and password", "account", "profile keys api"),
    Place("Change password", "Of your account", "password", "account"),
    Place("Administration", "Django admin", "admin:index", "django admin users groups", True),
)


def places() -> tuple[Place, ...]:
    """Common pages and those of systems."""
    return *PLACES, *(Place(entry.name, entry.about, entry.url, entry.more) for entry in entries())
