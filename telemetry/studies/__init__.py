"""Studies: a question with its runs, what a paper says of it, and criteria that were written before the runs. Pure.

- ``study``      what a study is, and the runs that it is reduced from
- ``criteria``   the words of a verdict, and what criteria are made of
- ``judging``    runs reduced to values with intervals, and each claim judged by them
- ``reference``  published values of a paper and its slips, read from tables
- ``drawing``    the same as charts; ``telling``: as a table and as the document of ``--json``

A system lists its studies in ``telemetry.systems.contract.Telemetry.studies``. ``python -m telemetry study``, REST, a
page and a report's part are made from the same objects.
"""
