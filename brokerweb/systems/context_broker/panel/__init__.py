"""One broker in the panel beside an overlay: of a run by its journal, of a network by asking it."""
