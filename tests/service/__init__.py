"""A network as a service, driven for minutes by clients of every kind while parts of it die and change.

``python -m tests.service --minutes 10`` starts an installation of its own and prints what its clients saw. Counterpart
of ``tests.soak``, which does this to brokers alone, in virtual time.

- ``ledger``        what was acknowledged, what was asked, which brokers died; the verdict on each query. Pure
- ``clients``       the ways in: each stores and queries a number of an entity. UDP and ``curl``
- ``libraries``     the others: our Python client, NGSI, MQTT
- ``disturbances``  what happens to the installation meanwhile
- ``drive``         all of it at once
"""
