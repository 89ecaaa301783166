"""Pages and actions by name. An address that is added to the rail is added here too; a test compares the two."""

from __future__ import annotations

from dataclasses import dataclass

from brokerweb.systems.registry import entries


@dataclass(frozen=True, slots=True)
class Place:
    """One page, or the page on which an action begins."""

    name: str
    about: str
    url: str
    """Its name in the URLconf."""
    more: str = ""
    """Further words by which it is found."""
    for_operators: bool = False


PLACES = (
    Place("New experiment", "Vary settings, repeat, measure", "experiments:new", "launch create run", True),
    Place("New topology", "Generate brokers and links", "topologies:new", "create generate overlay", True),
    Place("Import a topology", "From a file of links", "topologies:import", "upload graphml edge list", True),
    Place("Deploy a network", "Brokers that stay up", "networks:new", "new create start", True),
    Place("New report", "Compare finished runs in one file", "reports:new", "create spark comparison", True),
    Place("New schedule", "Report or launch at set times", "schedules:new", "create cron", True),
    Place("New notification target", "Webhook or e-mail", "targets:new", "create alert", True),
    Place("Home", "What runs, what ended, what comes next", "home", "start dashboard now"),
    Place("Experiments", "All experiments", "experiments:list", "sweeps"),
    Place("Runs", "All runs, to filter, tag and export", "runs:list", "measurements"),
    Place("Compare", "Figures of runs with intervals", "compare", "chart baseline difference"),
    Place("Studies", "Published figures and questions, repeated and judged", "studies:list", "claims paper criteria"),
    Place("Reports", "Comparison reports", "reports:list", "spark"),
    Place("Topologies", "All topologies", "topologies:list", "overlays graphs"),
    Place("Networks", "Deployed networks", "networks:list", "brokers"),
    Place("Schedules", "Scheduled reports and launches", "schedules:list", "cron beat"),
    Place("Hosts", "Machines and their workers", "hosts:list", "machines workers supervisor"),
    Place("Storage", "Disk usage and retention", "storage", "disk space delete"),
    Place("Notifications", "Who is notified of what", "notifications", "alerts webhook e-mail"),
    Place("Filter fields", "Every field of a filter with an example", "runs:fields", "help documentation query"),
    Place("Calibration", "How far simulated times are off", "calibration", "help documentation simulator accuracy"),
    Place("REST documentation", "Every operation of the API", "api:docs", "help openapi swagger api"),
    Place("Account", "Tokens and password", "account", "profile keys api"),
    Place("Change password", "Of your account", "password", "account"),
    Place("Administration", "Rows as tables", "admin:index", "django admin users groups", True),
)


def places() -> tuple[Place, ...]:
    """Those of every house, and those that systems bring."""
    return *PLACES, *(Place(entry.name, entry.about, entry.url, entry.more) for entry in entries())
