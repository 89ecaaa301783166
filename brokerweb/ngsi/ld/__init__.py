"""NGSI-LD: paths, bodies and errors of the specification, on the entities of ``brokerweb.ngsi``.

Source: ETSI GS CIM 009 V1.8.1, whose clauses are named here.
"""
