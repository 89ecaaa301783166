"""What the servers of a network tell: the tree, mobile brokers, one broker.

- ``inspecting``  asks servers
- ``tree``        which links are edges, and which brokers are registered
- ``mobile``      mobile brokers: their state, what is stored for them, their bulk queues
- ``panel``       the panel of one server
- ``lists``       clients and waiting notifications of all brokers, for REST
- ``views``, ``rest``
"""
