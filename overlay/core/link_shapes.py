"""Combination of link shapes, and their description in words. Pure.

Counterparts: ``overlay.core.links`` defines the shapes; ``overlay.faults.faults`` combines its own with those of a
topology.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from overlay.core.links import Link, LinkShape
from overlay.core.settings import describe

_LIMITS = {info.name: float(info.high or 0) for info in describe(LinkShape)}
_NEVER_BELOW = 1 + 1e-9
"""Loss bursts are lengthened by this factor, because a quotient of floats may be slightly too small."""


def laid_over(base: LinkShape, others: Sequence[LinkShape]) -> LinkShape:
    """``base`` combined with ``others``, as if each datagram passed through them in sequence.

    Delays and jitters add up. Each probability (loss, duplication, reordering, corruption) applies to the datagrams
    that the others spared. The longest of burst lengths and hold-back times applies, and the smallest of rates and
    queues. A burst limit applies only if every lossy part has one. One partition is enough. Burst lengths, hold-back
    times and queues are ignored in parts without loss, reordering or a rate.
    """
    if not others:
        return base
    shapes = (base, *others)
    loss = _any_of(shape.loss for shape in shapes)
    bursts = [shape.loss_burst for shape in shapes if shape.loss]
    held_back = [shape.reordering_ms for shape in shapes if shape.reordering]
    rated = [shape for shape in shapes if shape.rate_bytes_per_s]
    return replace(
        base,
        delay_ms=min(_LIMITS["delay_ms"], base.delay_ms + sum(shape.delay_ms for shape in others)),
        jitter_ms=min(_LIMITS["jitter_ms"], base.jitter_ms + sum(shape.jitter_ms for shape in others)),
        loss=loss,
        loss_burst=_burst(loss, max(bursts, default=base.loss_burst)),
        loss_burst_limit=_burst_limit(shapes),
        duplication=_any_of(shape.duplication for shape in shapes),
        reordering=_any_of(shape.reordering for shape in shapes),
        reordering_ms=max(held_back, default=base.reordering_ms),
        corruption=_any_of(shape.corruption for shape in shapes),
        rate_bytes_per_s=min((shape.rate_bytes_per_s for shape in rated), default=0.0),
        queue_bytes=min((shape.queue_bytes for shape in rated), default=base.queue_bytes),
        partition=any(shape.partition for shape in shapes),
    )


def _any_of(chances: Iterable[float]) -> float:
    return min(1.0, reduce(lambda found, chance: found + (1 - found) * chance, chances))


def _burst(loss: float, burst: float) -> float:
    """The mean loss burst: the longest one configured, or the length that this loss requires."""
    if not burst or loss == 1 or loss <= burst / (burst + 1):
        return burst
    least = loss / (1 - loss) * _NEVER_BELOW
    return least if least <= _LIMITS["loss_burst"] else 0.0


def _burst_limit(shapes: Sequence[LinkShape]) -> int:
    limits = [shape.loss_burst_limit for shape in shapes if shape.loss] or [shapes[0].loss_burst_limit]
    return max(limits) if all(limits) else 0


def in_words(shape: LinkShape | Link) -> str:
    """``15 ± 3 ms, 30 % lost in runs of 4, 25 % duplicated, 20 kB/s``; empty for a plain link."""
    said = [_delay(shape), _loss(shape), _share(shape.duplication, "duplicated")]
    if shape.reordering:
        said.append(f"{_share(shape.reordering, 'held back')} {shape.reordering_ms:g} ms")
    said.append(_share(shape.corruption, "damaged"))
    if shape.rate_bytes_per_s:
        said.append(f"{_bytes(shape.rate_bytes_per_s)}/s with a queue of {_bytes(shape.queue_bytes)}")
    if isinstance(shape, LinkShape) and shape.partition:
        said.append("cut")
    return ", ".join(part for part in said if part)


def more_in_words(link: Link) -> str:
    """The same without delay, jitter and loss."""
    is_in_runs = link.loss_burst or link.loss_burst_limit
    return in_words(replace(link, delay_ms=0.0, jitter_ms=0.0, loss=link.loss if is_in_runs else 0.0))


def _delay(shape: LinkShape | Link) -> str:
    jitter = f" ± {shape.jitter_ms:g}" if shape.jitter_ms else ""
    return f"{shape.delay_ms:g}{jitter} ms" if shape.delay_ms else ""


def _loss(shape: LinkShape | Link) -> str:
    if not shape.loss:
        return ""
    runs = f" in runs of {shape.loss_burst:.3g}" if shape.loss_burst else ""
    limit = f", at most {shape.loss_burst_limit} in a row" if shape.loss_burst_limit else ""
    return f"{_share(shape.loss, 'lost')}{runs}{limit}"


def _share(share: float, of_what: str) -> str:
    return f"{100 * share:g} % {of_what}" if share else ""


def _bytes(number: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.4g} {unit}"
    return f"{number:.4g} bytes"
