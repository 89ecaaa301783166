"""One seed from its start to its end."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.sim.actors import CheckedActor, NodeActor
from overlay.sim.world import server_address
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import LOOPBACK
from overlay.systems.context_broker.broker.membership import GIVEN
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.sim.witness import Witness
from tests.soak.subject import Told
from tests.swarm.answers import Answers
from tests.swarm.books import Books
from tests.swarm.causes import Causes
from tests.swarm.faults import STORM, Storm
from tests.swarm.following import Following
from tests.swarm.keeping import Keeping
from tests.swarm.plan import Plan, draw
from tests.swarm.served import Processors
from tests.swarm.watcher import Readers

CALM = 15 * SECOND
"""So soon after the storm, at the latest, brokers have the right neighbours again."""
ASKING = 4 * SECOND
"""For how long into the calm clients go on to ask."""
EXCHANGES = 60
LATE_MS = 2_000
ENDED = 22 * SECOND
"""From the last question until brokers have forgotten it: clients wait 10 s, brokers 10 s for those they ask."""


def run(seed: int) -> Told:
    """Raises ``AssertionError`` where an invariant does not hold."""
    plan = draw(seed)
    overlay = watched(plan)
    overlay.start()
    are_right(overlay, plan, left=set())
    random = Random(seed + 1)
    exchanges = ask_throughout(overlay, random)
    storm = Storm(overlay, plan, random)
    overlay.run_for(STORM)
    until_right(overlay, plan, storm)
    overlay.run_for(ASKING)
    calm_questions(overlay, plan, random)
    until_over(overlay, exchanges)
    until_right(overlay, plan, storm)
    assert len(exchanges) == EXCHANGES
    for exchange in exchanges:
        assert exchange.outcome, "an exchange has no end"
        assert exchange.ended_at - exchange.sent_at <= 10 * SECOND, "an exchange ended after its deadline"
    return Told(overlay.simulator.digest, overlay.simulator.delivered, overlay.simulator.now / SECOND)


def watched(plan: Plan) -> Overlay:
    """The overlay of a plan, with all watchers."""
    readers = Readers(scans=plan.scans)
    make_actor: Callable[[Address, Broker], NodeActor] = CheckedActor
    if plan.service_scale:
        addresses = [server_address(i) for i in range(plan.graph.brokers)]
        make_actor = Processors(plan.service_scale, plan.seed, addresses)
    overlay = Overlay(
        plan.graph,
        plan.config,
        plan.seed,
        local=plan.local,
        strict=plan.is_honest,
        make_actor=make_actor,
        make_server=readers,
    )
    Witness(overlay, readers, honest=plan.is_honest)
    Answers(overlay, readers, is_honest=plan.is_honest)
    for watcher in (Books, Keeping, Causes, Following):
        watcher(overlay, readers)
    return overlay


def ask_throughout(overlay: Overlay, random: Random) -> list[Exchange]:
    """Updates and requests about a few entities, of any broker, throughout the storm and some of the calm."""
    now, brokers = overlay.simulator.now, overlay.graph.brokers
    exchanges: list[Exchange] = []
    for i in range(EXCHANGES):
        key = ("room", f"r{random.randrange(4)}", "climate")
        if random.random() < 0.3:
            valid_ms = random.choice([500, 5000, 60_000, 120_000])
            question = questions.update("U", f"p{random.randrange(3)}", key, valid_ms, b"n=%d|*" % i)
            if random.random() < 0.2:
                question = late(question)
        else:
            question = questions.request(key, is_quiet=random.random() < 0.2)
        asked, at = random.randrange(brokers), now + random.randrange(STORM + ASKING)
        overlay.at(at, lambda q=question, b=asked: exchanges.append(overlay.ask(b, q)))
    return exchanges


def late(question: questions.Question) -> questions.Question:
    """Of a provider whose clock is behind."""
    return replace(question, write=lambda stamp: question.write(stamp - LATE_MS))


# ---- neighbours


def until_right(overlay: Overlay, plan: Plan, storm: Storm) -> None:
    """Let the calm last until neighbours are right, and no longer than ``CALM``."""
    while overlay.simulator.now < storm.end + CALM and wrong(overlay, plan, storm.leavers):
        overlay.run_for(SECOND)
    are_right(overlay, plan, storm.leavers)


def are_right(overlay: Overlay, plan: Plan, left: set[int]) -> None:
    """Symmetric, and those of the topology that are up. Who ``left`` stays away until it is ordered to join again."""
    assert not wrong(overlay, plan, left), f"wrong neighbours: {wrong(overlay, plan, left)}"


def wrong(overlay: Overlay, plan: Plan, left: set[int]) -> dict[int, tuple[set[int], set[int]]]:
    """The brokers with wrong neighbours: those they have and those they should have."""
    links = overlay.graph.neighbours()
    there = {i: overlay.neighbours(i) - left for i in overlay.brokers if i not in left}
    if plan.config.membership == GIVEN:
        right = {i: links[i] & there.keys() for i in there}
        return {i: (there[i], right[i]) for i in there if there[i] != right[i]}
    least = plan.config.neighbours_least
    return {
        i: (those, there.keys() - {i})
        for i, those in there.items()
        if not those <= there.keys()
        or not all(i in there[other] for other in those)
        or (len(those) < min(least, len(links[i] & there.keys())) and not left)
    }


# ---- questions


def calm_questions(overlay: Overlay, plan: Plan, random: Random) -> None:
    """After the last fault, every request is answered, and existing data are found."""
    config = plan.config
    roomy = min(config.pending_capacity, config.table_entries) >= 10_000 and config.table_bytes >= 100_000
    if plan.faults & {"leave", "clients' links"} or config.trusted_networks != LOOPBACK or not roomy:
        return
    if config.pending_deadline_ms < 10_000 or config.dht_deadline_ms < 5_000:
        return
    walks_all = "walk_policy" in STRATEGIES[config.search].uses and config.walk_policy == "backtrack"
    floods_all = config.search in ("flood", "expanding-ring") and config.flood_ttl >= len(overlay.brokers) - 1
    finds_all = config.arm == "structured" or (
        config.membership == GIVEN and ((walks_all and not config.walk_ttl) or floods_all) and is_connected(overlay)
    )
    for i in range(2):
        key = ("room", f"calm {i}", "climate")
        stored = overlay.put(random.choice(list(overlay.brokers)), key, b"calm=%d" % i)
        assert stored.outcome == "answered", f"in the calm an update was {stored.outcome}"
        overlay.run_for(SECOND // 10)  # stamps run ahead of the clock where several are made in a millisecond
        found = overlay.get(random.choice(list(overlay.brokers)), key)
        assert found.outcome in (["answered"] if finds_all else ["answered", "not_found"]), (
            f"in the calm a request was {found.outcome}, {found.status}"
        )


def is_connected(overlay: Overlay) -> bool:
    """Whether the running brokers are connected."""
    reached: set[int] = set()
    edge = [next(iter(overlay.brokers))]
    while edge:
        broker = edge.pop()
        reached.add(broker)
        edge += overlay.neighbours(broker) - reached
    return reached == overlay.brokers.keys()


def until_over(overlay: Overlay, exchanges: list[Exchange]) -> None:
    """No client and no broker waits for ever."""
    limit = overlay.simulator.now + ENDED
    while overlay.simulator.now < limit and not is_over(overlay, exchanges):
        overlay.run_for(SECOND)
    assert is_over(overlay, exchanges), f"still pending: {overlay.statistics('pending')}"


def is_over(overlay: Overlay, exchanges: list[Exchange]) -> bool:
    return all(exchange.is_over for exchange in exchanges) and not any(overlay.statistics("pending"))
