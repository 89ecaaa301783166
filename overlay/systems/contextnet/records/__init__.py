"""Records of the log: their topics, their values, and their bytes. Pure."""
