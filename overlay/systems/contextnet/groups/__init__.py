"""The group definer: contexts of nodes to groups, by a logic of its own or one of the built-in ones. Pure (contract,
section 6; seed, section 7)."""
