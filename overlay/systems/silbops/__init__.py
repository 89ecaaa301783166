"""SilboPS and SIENA: content-based publish/subscribe in which context may change without resubscribing (seed 002).

Vavassori et al., Sensors 2013, 13, 2945-2966. Two arms of one code base: ``silbops`` keeps the context of clients
apart from content and tests functions of it; ``siena`` writes the context into content and filters.

- ``content``   values, notifications, constraints, filters; covering
- ``scope``     functions of the publisher's and the subscriber's context, a small language
- ``index``     the filters of a broker that a notification matches, in five ways
- ``tables``    what a broker knows, where notifications go, what neighbours are to be told
- ``wire``      messages; ``peers``: sending and receiving them over the channel
- ``broker``    the broker; ``config``, ``tree``: its network
- ``clients``   the library that applications use
- ``load``, ``measuring``   the clients of a workload; the measures of a run
- ``settings``, ``profiles``, ``workload``, ``system``   what can be set, and the system for drivers and pages
"""
