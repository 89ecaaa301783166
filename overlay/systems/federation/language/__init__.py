"""Expressions of subscriptions (seed 001, section 5).

    e ::= and(e…) | or(e…) | not(e) | (name, operator, constant…)

- ``tree``       the four kinds of nodes, reading from lists, and all limits
- ``values``     which values satisfy an operator and its constants
- ``compiler``   an expression as a function of a notification
- ``canonical``  one form for all expressions that differ only in order and spelling
- ``text``       a form for people: ``temperature > 25 and entity.id = r17``

Logic is two-valued: a predicate on a missing attribute is false, so its negation is true. ``exists`` tells
the two apart.
"""
