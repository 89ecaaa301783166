"""Hot paths as machine code: mypyc compiles the same sources, so there is no second implementation to keep true.

- ``modules.txt``  what is compiled
- ``build``        compiles it into the environment: ``python -m overlay.compiled``, which ``make`` calls
- ``finder``       imports what was compiled, as long as the sources are those that it was compiled from

Without a compiler, after any change of a source, and with ``WAXWING_COMPILED=0``, Python runs the sources as they are.
The results are the same, later. Rejected: C of our own, a second implementation; Cython, a second language; PyPy, on
which neither Spark nor Django's database drivers run.
"""
