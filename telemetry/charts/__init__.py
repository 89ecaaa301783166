"""Charts. ``charts`` describes one; ``figures``, ``standalone`` and ``points`` are made of the description."""
