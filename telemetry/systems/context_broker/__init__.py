"""Measurements of seed 000.

- ``oracle``      verdicts on answers, compared with the provided data
- ``traces``      single queries, joined over all brokers; ``tracefile``: as a file; ``endings``: the end of each;
                  ``sequence``: as a diagram; ``traffic``: by link
- ``messages``    every message of a recorded run; ``captures``: with all their bytes; ``recent_messages``: the newest
- ``brokers``     one broker from its own journal; ``entries``, ``updates``: its data
- ``holdings``    the number of copies of each entity at the end of a run, and its query rate
- ``published``   Table B.1 of the thesis; ``figures``: 4.3 to 4.6 of a report; ``studies``: its figures and questions
- ``lab``         overlays for single queries; ``search_table``: measurements of every strategy
"""
