"""Search strategies that keep something, as somebody would add them (docs/add-a-search-strategy.md)."""
