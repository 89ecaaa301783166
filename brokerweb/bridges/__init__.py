"""Bridges of networks: processes that connect a network with a server of another protocol, such as MQTT.

- ``services``  create, change, remove; what the supervisor is told, and what is shown
- ``views``     a section of the network's page, and the form

``brokerweb.control.bridges`` tells the supervisor and writes what it observes. What a bridge is, its system says in
``overlay.systems.bridging``.
"""
