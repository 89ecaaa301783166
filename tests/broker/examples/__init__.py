"""Search strategies with state, written as docs/add-a-search-strategy.md describes."""
