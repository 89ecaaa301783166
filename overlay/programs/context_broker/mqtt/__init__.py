"""The MQTT bridge as a process: ``python -m overlay mqtt-bridge``.

Counterpart: ``overlay.systems.context_broker.mqtt``, which decides.

- ``command``     arguments, exit codes
- ``options``     of the MQTT server, from flags, a file and the environment
- ``process``     the bridge between a connection and a network, with reconnecting
- ``connection``  one connection to the MQTT server, by paho in the event loop
- ``bounded_client``  paho with bounds on what it keeps
- ``network``     operations on the network's brokers, and its changes
- ``supervised``  the bridge of a network, checked for the web and run by the supervisor
- ``reports``     the status: a line, a retained message
"""
