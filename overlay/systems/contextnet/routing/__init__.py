"""Where a message for a node goes, as its sender's library knows it. Pure.

- ``directory``  nodes at gateways, by presence and the list of gateways
- ``listed``     which gateways are listed, and since when others are not
- ``replies``    who asked: a node, or a client of MQTT
- ``settings``   whether one gateway gets a message, or all
"""
