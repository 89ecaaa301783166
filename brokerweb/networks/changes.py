"""Use cases that change a network while it runs, or the document with which a stopped one starts.

Each change is a newer version of the network's document, stored in its row. The worker of its host passes it to the
supervisor within a second, which applies the difference step by step (``overlay.deployment.rollout``). Everything can
be repeated: the row is the desired state, whoever dies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from brokerweb.changelog.recording import CHANGE, recorded
from brokerweb.kit.errors import NotPossible
from brokerweb.networks import deploy_tasks, drafts, naming, quotas
from brokerweb.networks.drafts import Draft
from brokerweb.networks.models import DOWN, UP, Desired, Network, NetworkState
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.deployment import rollout
from overlay.deployment.rollout import DRAINED, Step
from overlay.systems.registry import system_of

NAMED = 12
"""Maximum brokers that a remark names."""


@dataclass(frozen=True)
class Changed:
    """What a change does, whether it was stored or only previewed."""

    network: Network
    version: int
    is_dry: bool
    steps: list[Step]
    remarks: list[str]
    split: str
    """A sentence if some brokers can no longer reach each other; empty otherwise."""
    added: tuple[int, ...] = ()
    """Indices of new brokers."""
    drafts: tuple[Draft, Draft] | None = None
    """Before and after."""


@dataclass(frozen=True)
class How:
    """How to change."""

    dry_run: bool = False
    """Only list the steps."""
    allow_split: bool = False
    """Also if brokers can no longer reach each other."""
    version: int | None = None
    """The version that was read; refused if there is a newer one."""
    by: User | None = None


def change(network: Network, edit: Callable[[Draft], object], how: How) -> Changed:
    """Change the desired document of ``network``. Raises ``InvalidSetting`` and ``NotPossible``, without a change."""
    with transaction.atomic():  # IMMEDIATE: of two concurrent changes, the second is based on the first
        network = Network.objects.select_for_update().get(pk=network.pk)
        if how.version is not None and how.version != network.version:
            raise NotPossible(f"This network is at version {network.version}; you changed version {how.version}.")
        before, after = _draft(network), _draft(network)
        edit(after)
        after.check()
        _check_shared(network, before, after)
        added = tuple(range(before.deployed["brokers"], after.deployed["brokers"]))
        quotas.check_brokers(network.host, len(after.running) - len(before.running), "links")
        steps = drafts.steps(before, after, network.brokers) if network.state in UP else []
        split = _separated(before, after)
        if split and not how.allow_split and not how.dry_run:
            raise NotPossible(f"{split} To do it nevertheless, allow the split (allow_split: true).")
        remarks = _remarks(network, after, steps, split)
        differs = after != before
        version = network.version + differs
        found = Changed(network, version, how.dry_run, steps, remarks, split, added, (before, after))
        if not how.dry_run and differs:
            with recorded(CHANGE, network, how.by):
                _store(network, before, after)
    return found


def _check_shared(network: Network, before: Draft, after: Draft) -> None:
    """Raises ``InvalidSetting`` for settings that all brokers of a running network must have in common."""
    if network.state in DOWN:
        return
    for name in sorted(after.system.shared_settings):
        if before.settings.get(name) != after.settings.get(name):
            sentence = "must be equal in all servers, so it cannot change one by one; stop the network first"
            raise InvalidSetting(f"settings.{name}", sentence)


def _store(network: Network, before: Draft, after: Draft) -> None:
    network.previous = {
        "version": network.version,
        "deployed": before.deployed,
        "settings": before.settings,
        "members": before.members,
    }
    network.deployed, network.settings, network.members = after.deployed, after.settings, after.members
    network.version += 1
    network.rollout = {}
    named = after.deployed.get("id")
    if named != before.deployed.get("id") and Topology.objects.filter(pk=named).exists():
        network.topology_id = named
    network.save(update_fields=["deployed", "settings", "members", "version", "previous", "rollout", "topology"])
    if network.state in (*UP, NetworkState.STARTING):
        deploy_tasks.settle(network)


def _draft(network: Network) -> Draft:
    system = system_of(network.system)
    return Draft.of(system, network.deployed, system.whole(network.settings), network.members)


def _separated(before: Draft, after: Draft) -> str:
    """A sentence if the change takes the last way between brokers."""
    parts = drafts.parts(after)
    if len(parts) <= max(len(drafts.parts(before)), 1) or not after.system.can_shrink:
        return ""
    cut_off = ", ".join(map(str, (index for part in parts[1:] for index in part)))
    return f"Afterwards the network is in {len(parts)} parts: the others cannot reach broker {cut_off}."


def _remarks(network: Network, after: Draft, steps: Sequence[Step], split: str) -> list[str]:
    leaves = any(step.verb in (rollout.DRAIN, rollout.REPLACE) for step in steps)
    later = "" if network.state in UP else f"The network is {network.state}; the change takes effect when it runs."
    alone = drafts.indispensable(after, [step.brokers[0] for step in steps if step.verb == rollout.REPLACE])
    meanwhile = f"While broker {_list(alone)} restarts, others cannot reach each other." if alone else ""
    help = after.system.draining_help if leaves else ""
    return [sentence for sentence in (split, later, meanwhile, help) if sentence]


def _list(indices: Sequence[int]) -> str:
    """``3``, ``3 or 5``."""
    named = [str(index) for index in indices[:NAMED]]
    return " or ".join(filter(None, (", ".join(named[:-1]), named[-1])))


# ---- the changes


def add_broker(network: Network, links: Sequence[int], how: How) -> Changed:
    """Add a broker with links to those of the indices ``links``."""
    return change(network, lambda draft: draft.add_broker(links), how)


def move_broker(network: Network, index: int, how: How) -> Changed:
    """Start a broker with the same links at another address, then drain and remove this one."""
    return change(network, lambda draft: draft.move(index), how)


def remove_broker(network: Network, index: int, how: How) -> Changed:
    """Drain a broker and remove it; its index is not used again."""
    return change(network, lambda draft: draft.remove(index), how)


def drain_broker(network: Network, index: int, how: How) -> Changed:
    """Let a broker give its entries away, leave and stop. It keeps its links and its address, and may return."""
    return change(network, lambda draft: draft.drain(index), how)


def return_broker(network: Network, index: int, how: How) -> Changed:
    """Start a drained broker again."""
    return change(network, lambda draft: draft.run(index), how)


def is_drained(network: Network, index: int) -> bool:
    return network.members.get(str(index)) == DRAINED


def add_link(network: Network, a: int, b: int, how: How) -> Changed:
    return change(network, lambda draft: draft.link(a, b), how)


def cut_link(network: Network, a: int, b: int, how: How) -> Changed:
    return change(network, lambda draft: draft.cut(a, b), how)


def set_settings(network: Network, settings: Mapping[str, Any], how: How) -> Changed:
    """Change settings. Brokers restart with them one at a time, each once the one before is up with its links."""
    return change(network, lambda draft: draft.set(settings), how)


def follow_topology(network: Network, topology: Topology | None, how: How) -> Changed:
    """Apply the newest version of a topology, by default of that which was deployed, as a difference."""
    chosen = topology or network.topology
    if chosen is None:
        raise InvalidSetting("topology", "is required: this network was deployed without one")
    if sentences := topologies.problems(chosen, must_connect=False):
        raise InvalidSetting("topology", " ".join(sentences))
    return change(network, lambda draft: draft.follow(topologies.document(chosen)), how)


def roll_back(network: Network, how: How) -> Changed:
    """Return to the document before the last change. Brokers that were removed since stay removed, and their links."""
    with transaction.atomic():  # the last change is that of the row now, not when the caller read it
        network = Network.objects.select_for_update().get(pk=network.pk)
        if not network.previous:
            raise NotPossible("This network has not been changed, so there is nothing to roll back to.")
        previous = network.previous
        return change(network, lambda draft: _return(draft, previous), how)


def _return(draft: Draft, previous: Mapping[str, Any]) -> None:
    removed = {index for index, state in draft.members.items() if state == rollout.REMOVED}
    added = range(previous["deployed"]["brokers"], draft.deployed["brokers"])
    gone = {*map(int, removed), *added}
    links = [link for link in previous["deployed"]["links"] if gone.isdisjoint((link["a"], link["b"]))]
    whole = ("brokers", "names", "positions")
    kept: dict[str, Any] = {name: draft.deployed[name] for name in whole if name in draft.deployed}
    draft.deployed = {**previous["deployed"], **kept, "links": links}
    draft.members = {**previous["members"], **dict.fromkeys(map(str, gone), rollout.REMOVED)}
    draft.settings = dict(previous["settings"])


def rename(network: Network, name: str) -> Network:
    """Raises ``InvalidSetting``."""
    with recorded(CHANGE, network):
        if name.strip() != network.name:
            network.name = naming.free_name(name)
            network.save(update_fields=["name"])
    return network


def progress(network: Network, worker_missing: str = "") -> dict[str, Any]:
    """How far the newest version has been applied. ``worker_missing`` is a sentence if its host has no worker, which
    the steps then wait for."""
    seen = network.rollout if network.rollout.get("version") == network.version else {}
    runs = network.desired == Desired.RUNNING and network.state in (*UP, NetworkState.STARTING)
    left = seen.get("left") or []
    waits, refused = seen.get("waits_for") or "", seen.get("refused") or ""
    if not runs:
        state = "stopped"
    elif refused:
        state = "refused"
    elif seen.get("is_done") or not (seen or network.version):
        state = "done"
    else:
        state = "paused" if "has failed" in waits or "does not answer" in waits else "rolling"
    return {
        "version": network.version,
        "state": state,
        "steps": seen.get("steps", 0),
        "taken": max(0, seen.get("steps", 0) - len(seen.get("left") or [])),
        "left": [{**step, "words": words(Step(step["step"], tuple(step["brokers"])))} for step in left],
        "waits_for": refused or waits or (worker_missing.rstrip(".") if state == "rolling" else ""),
        "previous": network.previous.get("version") if network.previous else None,
    }


_WORDS = {
    rollout.START: "Start broker {0}",
    rollout.JOIN: "Link brokers {0} and {1}",
    rollout.CUT: "Cut the link between brokers {0} and {1}",
    rollout.DRAIN: "Drain broker {0}: it leaves and stops",
    rollout.REPLACE: "Restart broker {0} with the changed settings",
}


def words(step: Step) -> str:
    """A step as a sentence."""
    splits = "; afterwards some brokers cannot reach each other" if step.splits else ""
    return _WORDS[step.verb].format(*step.brokers) + splits
