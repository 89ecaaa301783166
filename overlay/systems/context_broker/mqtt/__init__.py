"""The bridge between an MQTT server and a network: topics are context, both ways. Pure.

The driver is ``overlay.programs.context_broker.mqtt``. Both sides are registers in which the latest value wins::

    MQTT message ──> payloads ──> Bridge ──> Inward: one operation per entry at a time ──> brokers (ACK 102) ──> PUBACK
    MQTT server  <── payloads <── Bridge <── the view of the network (changes of entries)

- ``topics``    patterns with placeholders, and names in topics
- ``payloads``  JSON objects and the pairs of a payload
- ``values``    a value with its time, and which of two is news
- ``settings``  of a bridge, from a document
- ``topic``     what one topic shows, and what it should show
- ``inward``    the queue towards the network, and acknowledgements in their order
- ``outward``   the topics to publish, each with its latest value only
- ``known``     the topics, the network's entries and the counters
- ``hearing``   what messages lead to
- ``telling``   what changes of the network lead to
- ``bridge``    all of it, as the driver uses it

Loops end because no value is made twice: a value keeps its timestamp, its end of validity and its provider through
any number of bridges, and moves only to where an older or no value is known.
"""
