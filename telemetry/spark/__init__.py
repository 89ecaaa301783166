"""Reports by Spark: ``session`` and ``java`` start it, ``nodes`` compute, ``pipeline`` wires them."""
