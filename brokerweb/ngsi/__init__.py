"""NGSI-v2 and NGSI-LD over the context of a network, for clients of either standard. ``docs/ngsi.md`` has the mapping.

::

    entries ── pairs ──> attributes ── entries ──> entity ──> v2.rendering, ld.rendering ──> JSON
            <── steps ── changed attributes      <── v2.bodies, ld.bodies <──────────────── JSON

Pure:

- ``values``, ``pairs``  values and attributes as texts of a payload
- ``model``, ``entries`` entities, and the entries that they are made of
- ``queries``            the two query languages, one evaluator
- ``selection``          which entities a query is about
- ``scopes``, ``times``, ``patterns``, ``known``, ``answers``, ``requests``, ``problems``, ``translated``

The rest:

- ``store``     entities found and changed through ``brokerweb.systems.contract.Context``
- ``together``  many changes at the same time
- ``v2``, ``ld``  what each path of a standard does
- ``standards`` the two, and their answers to problems
- ``views``     the way through Django
"""
