"""Charts. ``charts`` describes one; ``figures``, ``standalone`` and ``points`` are made of the description.

``live`` describes those of a run's page.
"""
