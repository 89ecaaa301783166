"""NGSI-v2: paths, bodies and errors of the specification, on the entities of ``brokerweb.ngsi``.

Source: FIWARE-NGSI v2.0 (2018-09-15), and Orion where the specification leaves something open.
"""
