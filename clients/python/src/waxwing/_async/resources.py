"""Networks, topologies, reports and studies. Counterparts: ``context``, ``experiments``."""

from __future__ import annotations

from typing import Any

from waxwing._async import lists, waits
from waxwing._async.context import AsyncContextOf
from waxwing._async.contextnet import AsyncContextNetOf
from waxwing._async.federation import AsyncFederationOf
from waxwing._async.transport import AsyncTransport
from waxwing.calls import at, call, segment
from waxwing.errors import RunFailed
from waxwing.records import Bridge, Launch, Network, Records, Report, Study, Topology
from waxwing.waiting import Watcher

TEXT = {"Accept": "text/plain, application/json"}


class AsyncNetworks:
    """Networks that stay up. ``network`` is an id wherever it is asked for; ``find`` takes names, too."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, *, limit: int | None = lists.LIMIT, **filters: Any) -> Records[Network]:
        """``filters``: ``name``, ``state``, ``topology``, ``ordering`` and others of the API."""
        return await lists.listed(self._transport, Network, at("networks"), limit, filters)

    async def get(self, network: str) -> Network:
        return Network.of((await self._transport.send(call("GET", at("networks", network)))).data)

    async def find(self, name: str) -> Network:
        """By id or name. Raises ``NotFound``."""
        named = await self.list(limit=1, name=name)
        with lists.named("network", name):
            return await self.get(named[0].id if named else name)

    async def create(self, name: str, *, topology: str | None = None, **more: Any) -> Network:
        """Deploy a topology (its id). ``more``: ``system``, ``settings``, ``seed``."""
        body = {"name": name, "topology": topology, **more}
        return Network.of((await self._transport.send(call("POST", at("networks"), body=body, key=True))).data)

    async def start(self, network: str) -> Network:
        return await self._do(network, "start")

    async def stop(self, network: str) -> Network:
        return await self._do(network, "stop")

    async def delete(self, network: str) -> None:
        await self._transport.send(call("DELETE", at("networks", network)))

    async def wait(
        self, network: str, *states: str, timeout_s: float | None = None, progress: Watcher[Network] | None = None
    ) -> Network:
        """Until its state is one of ``states`` (``running``). Raises ``RunFailed`` if it fails, ``NotInTime``."""
        wanted = states or ("running",)

        async def looked() -> Network:
            found = await self.get(network)
            if found.state == "failed" and "failed" not in wanted:
                raise RunFailed(f"Network {found.name} failed: {found.reason}")
            return found

        return await waits.until(looked, lambda found: found.state in wanted, timeout_s, progress)

    async def bootstrap(self, network: str, **place: Any) -> tuple[str, ...]:
        """``host:port`` of healthy brokers for ``waxwing.udp``, the best first. ``place``: ``by``, ``x``, ``y``."""
        asked = call("GET", f"/api/networks/{segment(network)}/bootstrap.txt", query=place, headers=TEXT)
        return tuple((await self._transport.send(asked)).text.split())

    async def bridges(self, network: str) -> Records[Bridge]:
        """Its connections with MQTT servers."""
        told = (await self._transport.send(call("GET", at("networks", network, "bridges")))).data
        return Records(map(Bridge.of, told))

    async def bridge(self, network: str, number: int | str) -> Bridge:
        return await self._bridge("GET", network, str(number))

    async def add_bridge(self, network: str, mqtt: str, **more: Any) -> Bridge:
        """``more``: ``username``, ``password``, ``tls``, ``settings``, ``desired``, ``out``, ``**{"in": [...]}``."""
        asked = call("POST", at("networks", network, "bridges"), body={"mqtt": mqtt, **more}, key=True)
        return Bridge.of((await self._transport.send(asked)).data)

    async def change_bridge(self, network: str, number: int | str, **fields: Any) -> Bridge:
        """``desired="stopped"`` ends its process, ``"running"`` starts it again; others as in ``add_bridge``."""
        return await self._bridge("PATCH", network, str(number), fields)

    async def remove_bridge(self, network: str, number: int | str) -> None:
        await self._transport.send(call("DELETE", at("networks", network, "bridges", str(number))))

    async def _bridge(self, method: str, network: str, number: str, body: Any = None) -> Bridge:
        asked = call(method, at("networks", network, "bridges", number), body=body)
        return Bridge.of((await self._transport.send(asked)).data)

    def context(self, network: str) -> AsyncContextOf:
        return AsyncContextOf(self._transport, network)

    def federation(self, network: str) -> AsyncFederationOf:
        return AsyncFederationOf(self._transport, network)

    def contextnet(self, network: str) -> AsyncContextNetOf:
        return AsyncContextNetOf(self._transport, network)

    async def _do(self, network: str, what: str) -> Network:
        return Network.of((await self._transport.send(call("POST", at("networks", network, what), body={}))).data)


class AsyncTopologies:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, *, limit: int | None = lists.LIMIT, **filters: Any) -> Records[Topology]:
        """``filters``: ``name``, ``kind``, ``brokers`` and others of the API."""
        return await lists.listed(self._transport, Topology, at("topologies"), limit, filters)

    async def get(self, topology: str) -> Topology:
        return Topology.of((await self._transport.send(call("GET", at("topologies", topology)))).data)

    async def create(self, name: str, kind: str, brokers: int, **more: Any) -> Topology:
        """``more``: ``params``, ``seed``, and ``links`` of the kind ``custom``."""
        body = {"name": name, "kind": kind, "brokers": brokers, **more}
        return Topology.of((await self._transport.send(call("POST", at("topologies"), body=body, key=True))).data)

    async def delete(self, topology: str) -> None:
        await self._transport.send(call("DELETE", at("topologies", topology)))


class AsyncReports:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, *, limit: int | None = lists.LIMIT, **filters: Any) -> Records[Report]:
        """``filters``: ``state``, ``kind``, ``experiments`` and others of the API."""
        return await lists.listed(self._transport, Report, at("reports"), limit, filters)

    async def get(self, report: str) -> Report:
        return Report.of((await self._transport.send(call("GET", at("reports", report)))).data)

    async def create(self, **body: Any) -> Report:
        """``body``: ``runs`` or ``experiments`` (ids), ``kind``."""
        return Report.of((await self._transport.send(call("POST", at("reports"), body=body, key=True))).data)

    async def cancel(self, report: str) -> Report:
        return Report.of((await self._transport.send(call("POST", at("reports", report, "cancel")))).data)

    async def delete(self, report: str) -> None:
        await self._transport.send(call("DELETE", at("reports", report)))

    async def wait(
        self, report: str, *, timeout_s: float | None = None, progress: Watcher[Report] | None = None
    ) -> Report:
        """Until it is over. Raises ``RunFailed`` if it is not done then, ``NotInTime``."""

        async def looked() -> Report:
            return await self.get(report)

        found = await waits.until(looked, lambda found: found.is_over, timeout_s, progress)
        if found.state != "done":
            raise RunFailed(f"Report {found.id} is {found.state}: {found.reason}")
        return found

    async def html(self, report: str) -> str:
        """The report as one self-contained file."""
        asked = call("GET", at("reports", report, "html"), headers={"Accept": "text/html"})
        return (await self._transport.send(asked)).text


class AsyncStudies:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, *, limit: int | None = lists.LIMIT, **filters: Any) -> Records[Study]:
        """``filters``: ``system``."""
        return await lists.listed(self._transport, Study, at("studies"), limit, filters, cursor=False)

    async def get(self, study: str, *, scale: str | None = None) -> Study:
        """With its claims and their verdicts, by its latest result (at ``scale``: quick, paper)."""
        return Study.of((await self._transport.send(call("GET", at("studies", study), query={"scale": scale}))).data)

    async def launch(self, study: str, *, scale: str = "quick") -> Launch:
        """Raises ``Conflict`` while it is in progress."""
        asked = call("POST", at("studies", study, "launch"), body={"scale": scale}, key=True)
        return Launch.of((await self._transport.send(asked)).data)
