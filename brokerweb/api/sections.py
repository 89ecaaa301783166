"""Sections of the REST API, one per resource: listed by its root, and tags of the OpenAPI document."""

from __future__ import annotations

from brokerweb.systems.registry import webs

SECTIONS = {
    "topologies": "Overlays of brokers, generated or drawn, with their versions and measures.",
    "networks": "Topologies deployed as networks that stay up, with their servers, events and context.",
    "experiments": "Definitions of runs: topology, system, settings and workload, any of which can be swept.",
    "presets": "Predefined experiments, as bodies to create one.",
    "runs": "Executions of experiments: state, figures, samples, events and files.",
    "reports": "Comparisons of runs, computed by Spark.",
    "schedules": "Launches and reports at given times, with their history.",
    "studies": "Questions and published figures, to be launched and judged.",
    "systems": "The systems that can be run, with their settings, workload, measures and studies.",
    "hosts": "Machines that run servers and clients.",
    "compare": "Groups of runs compared with a baseline; nothing is stored.",
    "calibration": "Measured service times, and the accuracy of simulated runs.",
    "queue": "Runs that wait, and whether the queue is paused.",
    "search": "Search by name, over everything.",
    "tags": "Labels of runs.",
    "views": "Your own saved views of lists.",
    "notifications": "Webhooks and e-mail addresses that are notified, and their deliveries.",
    "storage": "Disk usage and the retention policy.",
    "tokens": "Your own access tokens.",
    "accounts": "Accounts, their roles, and their rights on single networks.",
    "changes": "The change log: who changed what and when, before and after.",
}
"""By the first part of its path below ``/api/``. ``GET`` of that path answers."""
ROOT = "root"


def described() -> list[dict[str, str]]:
    """The tags of the OpenAPI document, including those of systems."""
    known = {ROOT: "What the API has.", **SECTIONS}
    for web in webs():
        known.update(web.sections)
    return [{"name": name, "description": sentence} for name, sentence in known.items()]
