"""Which nodes are in a group: the newest report of each definer for each node."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.systems.contextnet.records.records import ALL, GroupReport

Group = tuple[str, str]
"""A definer and its group."""


class Groups:
    def __init__(self) -> None:
        self._reports: dict[str, dict[bytes, tuple[int, tuple[str, ...]]]] = {}
        """By definer and node: version and groups."""
        self._nodes: dict[Group, set[bytes]] = {}

    def learn(self, report: GroupReport) -> None:
        """A report replaces what its definer said of the node; one that is older is dropped."""
        reports = self._reports.setdefault(report.definer, {})
        version, before = reports.get(report.node, (-1, ()))
        if report.version <= version:
            return
        reports[report.node] = report.version, report.groups
        for name in set(before).difference(report.groups):
            self._leave((report.definer, name), report.node)
        for name in set(report.groups).difference(before):
            self._nodes.setdefault((report.definer, name), set()).add(report.node)

    def _leave(self, group: Group, node: bytes) -> None:
        nodes = self._nodes[group]
        nodes.discard(node)
        if not nodes:
            del self._nodes[group]

    def nodes(self, group: str) -> set[bytes]:
        """``group``: definer/group, or the group of any definer."""
        definer, slash, name = group.partition("/")
        if slash:
            return set(self._nodes.get((definer, name), ()))
        return set().union(*(self._nodes.get((definer, group), ()) for definer in self._reports))

    def addressed(self, group: str, present: Iterable[bytes]) -> list[bytes]:
        """Those of the present nodes that are in the group, or all, in their order."""
        if group == ALL:
            return list(present)
        nodes = self.nodes(group)
        return [node for node in present if node in nodes]

    def of(self, node: bytes) -> set[Group]:
        """All groups of a node."""
        return {(definer, name) for definer, reports in self._reports.items() for name in reports.get(node, (0, ()))[1]}

    def check_invariants(self) -> None:
        """(I11). Raises ``AssertionError``."""
        found: dict[Group, set[bytes]] = {}
        for definer, reports in self._reports.items():
            for node, (_, names) in reports.items():
                for name in names:
                    found.setdefault((definer, name), set()).add(node)
        assert found == self._nodes, "groups are the union over definers of the newest version"
