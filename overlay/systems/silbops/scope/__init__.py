"""Functions of context (seed 002, section 4).

::

    this.x - 20 <= pub.x <= this.x + 20 and this.y - 20 <= pub.y <= this.y + 20

``pub`` is the context of the publisher, ``this`` that of the subscriber, whoever wrote the function.

- ``tree``        nodes as tuples, their kinds and limits, reading them from lists
- ``text``        the form for people, and back
- ``evaluation``  what a function means: the reference
- ``compiling``   the same as closures, and the interval form for boxes
- ``intervals``   conjunctions of ``this.v + a <= pub.u <= this.v + b``
- ``reducing``    a function as constraints on the publisher's context, for the siena arm

Numbers are float64. A missing variable (outside ``exists``) makes the whole function false, and so does an error:
unlike types, a division by zero, a result that is not finite. Errors are counted, missing variables are not.
"""
