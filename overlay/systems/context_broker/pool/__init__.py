"""The client of a whole network: many exchanges at once over lasting ports, the choice of broker, failover and hedging.

Counterparts: ``overlay.programs.context_broker.pool`` gives it sockets in an event loop; ``clients.lanes`` is its like
for load, where each client talks to one broker.

- ``health``    which brokers answer, how fast, and in which order they are asked
- ``hedging``   when a second broker is asked, and how often
- ``stamps``    header timestamps of updates that never run backwards
- ``pool_requests``  one request through one broker after another until it has an outcome
- ``ports``     its ports, each with one exchange at a time
- ``pool``      all requests of a network, their tries and their timers
"""
