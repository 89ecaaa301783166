"""The ideal numbers of nodes, and who gives how many to whom. Pure functions (contract, section 5)."""

from __future__ import annotations

from collections.abc import Mapping

Counts = Mapping[str, int]
"""Nodes by gateway."""


def ideal(nodes: int, scores: Mapping[str, float]) -> dict[str, int]:
    """In(X) = n·W(X)/ΣW, rounded by the largest remainder, so that their sum is ``nodes``. Ties: by gateway.

    A score of 0 gets no node; at least one is above 0.
    """
    total = sum(scores.values())
    exact = {gateway: nodes * score / total for gateway, score in scores.items()}
    whole = {gateway: int(share) for gateway, share in exact.items()}
    left = nodes - sum(whole.values())
    order = sorted(
        (gateway for gateway, score in scores.items() if score),
        key=lambda gateway: (whole[gateway] - exact[gateway], gateway),
    )
    for place in range(left):  # fewer than there are gateways, but for errors of floating point
        whole[order[place % len(order)]] += 1
    return whole


def targets(counts: Counts, wanted: Counts, giving: Counts, most: int) -> dict[str, list[str]]:
    """For each gateway that gives nodes away, the targets of its nodes in order; at most ``most`` in all.

    ``giving``: how many each can give. The gateway with the greatest surplus gives first; each node goes where most
    are lacking. Ties: by gateway.
    """
    lack = {gateway: wanted[gateway] - counts[gateway] for gateway in counts if wanted[gateway] > counts[gateway]}
    found: dict[str, list[str]] = {}
    for source in sorted(giving, key=lambda gateway: (wanted[gateway] - counts[gateway], gateway)):
        for _ in range(giving[source]):
            if not lack or not most:
                break
            target = min(lack, key=lambda gateway: (-lack[gateway], gateway))
            found.setdefault(source, []).append(target)
            most -= 1
            lack[target] -= 1
            if not lack[target]:
                del lack[target]
    return found
