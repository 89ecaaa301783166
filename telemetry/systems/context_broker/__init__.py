"""What is measured of seed 000 alone.

- ``oracle``      what each answer was worth, held against what had been provided
- ``traces``      single queries, joined over all brokers; ``tracefile``: as a file; ``endings``: how each ended;
                  ``sequence``: as a diagram; ``traffic``: by link
- ``messages``    every message of a recorded run; ``captures``: with all their bytes; ``recent_messages``: the newest
- ``brokers``     one broker by its own journal; ``entries``, ``updates``: what it holds and why
- ``holdings``    how many copies of what lay where when a run ended, beside how often it was asked for
- ``published``   Table B.1 of the thesis; ``figures``: 4.3 to 4.6 of a report; ``studies``: its figures and questions
- ``lab``         overlays in which one query after the other is asked; ``search_table``: every strategy, measured there
"""
