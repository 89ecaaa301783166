"""Schedules deliveries: one at a time per target, targets in parallel, so that none blocks another.

A delivery is a row; a lost task is queued again. A worker that takes a delivery postpones it for longer than an attempt
lasts, so two workers never send the same one at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connections
from django.db.models import F
from django.utils import timezone

from brokerweb.notices import payload, transport
from brokerweb.notices.models import Channel, Delivery, DeliveryState, NoticeKind, Target

AGAIN_AFTER = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10), timedelta(hours=1))
"""Delays after the first, second, … failed attempt; after the last one the delivery is given up."""
HELD = timedelta(seconds=60)
"""Time for which a worker owns a delivery it has taken."""
OFF_AFTER = 20
"""Consecutive failures after which a target is disabled."""
SIDE_BY_SIDE = 16
SENDING = "Being sent."


def is_due(now: datetime) -> bool:
    return Delivery.objects.filter(state=DeliveryState.WAITING, due__lte=now).exists()


def deliver_due(now: datetime | None = None) -> int:
    """Attempt the oldest due delivery of each target; returns their number when all have ended."""
    taken = _take(now or timezone.now())
    if taken:
        with ThreadPoolExecutor(max_workers=min(SIDE_BY_SIDE, len(taken))) as pool:
            on_the_way = {pool.submit(_sent, delivery): delivery for delivery in taken}
            for sent in as_completed(
                on_the_way
            ):  # written at once: a delivered notice is not sent again after an interruption
                delivered, sentence = sent.result()
                end(on_the_way[sent], delivered, sentence, timezone.now())
    return len(taken)


def _take(now: datetime) -> list[Delivery]:
    rows = Delivery.objects.filter(state=DeliveryState.WAITING, due__lte=now).order_by("due", "created")
    busy = set(_held(now))
    taken: list[Delivery] = []
    for delivery in rows.select_related("target", "notice")[:500]:
        if delivery.target_id in busy or len(taken) >= SIDE_BY_SIDE:
            continue
        mine = Delivery.objects.filter(pk=delivery.pk, state=DeliveryState.WAITING, due=delivery.due)
        if mine.update(due=now + HELD, attempts=F("attempts") + 1, sentence=SENDING):
            delivery.attempts += 1
            busy.add(delivery.target_id)
            taken.append(delivery)
    return taken


def _held(now: datetime) -> Sequence[str]:
    """Targets with a delivery in progress."""
    held = Delivery.objects.filter(state=DeliveryState.WAITING, due__gt=now, sentence=SENDING)
    return list(held.values_list("target", flat=True))


def _sent(delivery: Delivery) -> tuple[bool, str]:
    """Whether it was delivered, and the result."""
    try:
        return True, send(delivery)
    except transport.NotDelivered as error:
        return False, str(error)
    except Exception as error:  # noqa: BLE001  whatever a stranger's server makes a library say is no reason to stop
        return False, f"Sending failed: {error}."
    finally:
        connections.close_all()


def send(delivery: Delivery) -> str:
    """One attempt; returns the result. Raises ``NotDelivered``."""
    target, notice = delivery.target, delivery.notice
    told = {
        "id": notice.pk,
        "event": notice.kind,
        "title": notice.title,
        "text": notice.text,
        "path": notice.path,
        "at": notice.at.isoformat(),
        "facts": notice.facts,
    }
    if target.channel == Channel.EMAIL:
        text = f"{notice.title}.\n\n{notice.text}\n\n{settings.PUBLIC_URL}{notice.path}\n"
        return transport.mail(target.address, f"Waxwing: {notice.title}", text)
    data = payload.body(told, settings.PUBLIC_URL)
    headers = payload.headers(data, notice.kind, delivery.pk, target.secret, settings.VERSION)
    return transport.post(target.address, data, headers, settings.NOTICE_TIMEOUT_SECONDS)


def end(delivery: Delivery, delivered: bool, sentence: str, now: datetime) -> None:
    """Store the result of an attempt and the time of the next one."""
    mine = Delivery.objects.filter(pk=delivery.pk)
    target = Target.objects.filter(pk=delivery.target_id)
    if delivered:
        mine.update(state=DeliveryState.DELIVERED, sentence=sentence, ended_at=now)
        target.update(failures=0)
        return
    if delivery.attempts > len(AGAIN_AFTER) or delivery.notice.kind == NoticeKind.TEST:
        given_up = f" Given up after {delivery.attempts} attempts." if delivery.attempts > 1 else ""
        mine.update(state=DeliveryState.FAILED, sentence=f"{sentence}{given_up}", ended_at=now)
    else:
        mine.update(due=now + AGAIN_AFTER[delivery.attempts - 1], sentence=sentence)
    target.update(failures=F("failures") + 1)
    if target.filter(enabled=True, failures__gte=OFF_AFTER).update(
        enabled=False, note=f"Disabled after {OFF_AFTER} consecutive failures. The last: {sentence}"
    ):
        waiting = Delivery.objects.filter(target=delivery.target_id, state=DeliveryState.WAITING)
        waiting.update(state=DeliveryState.FAILED, sentence="The target was disabled.", ended_at=now)
