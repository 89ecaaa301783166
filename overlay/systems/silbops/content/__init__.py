"""Content: typed values, notifications, and filters over them (seed 002, section 3).

- ``values``       the four types, their limits
- ``constraints``  an attribute, an operator and a value; when one implies another
- ``filters``      conjunctions of constraints; matching, covering, intersecting
"""
