"""What a group knows of partitions that a member gets. It asks the cluster and waits, so it is called in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from confluent_kafka import Consumer, TopicPartition

from overlay.log.member import Standing
from overlay.log.node import Start, Subscription

ANSWER_S = 5.0


class Look(NamedTuple):
    standing: Standing
    begin: int
    """The offset of the first record to read if the group reads all."""


def look(consumer: Consumer, places: Mapping[TopicPartition, Subscription], now_us: int) -> dict[TopicPartition, Look]:
    """Raises ``KafkaException``: the cluster is away, or the member is not in the group any more."""
    committed = {place: place.offset for place in consumer.committed(list(places), timeout=ANSWER_S)}
    found: dict[TopicPartition, Look] = {}
    new: list[TopicPartition] = []
    for place, subscription in places.items():
        low, high = consumer.get_watermark_offsets(place, timeout=ANSWER_S)
        offset = committed.get(place, -1)
        position = offset if offset >= 0 else None
        if position is None and subscription.start is Start.NEWEST:
            position = high
            new.append(TopicPartition(place.topic, place.partition, high))
        begin, last_us = low, now_us
        if since_us := subscription.since_us(now_us):
            asked = TopicPartition(place.topic, place.partition, since_us // 1_000)
            first = consumer.offsets_for_times([asked], timeout=ANSWER_S)[0].offset
            begin, last_us = (first, now_us) if first >= 0 else (high, 0)
        found[place] = Look(Standing(position, high if high > low else 0, last_us), begin)
    if new:
        consumer.commit(offsets=new, asynchronous=False)
    return found
