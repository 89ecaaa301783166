"""The panel of one broker: of a run from its journal, of a network by querying it."""
