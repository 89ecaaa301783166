"""Each fast path against the slow path that it mirrors."""
