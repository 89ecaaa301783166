"""The systems that live here, a folder each, and the registry that lists them."""
