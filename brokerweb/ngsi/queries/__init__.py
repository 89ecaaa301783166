"""The query languages of both standards: two parsers, one tree, one evaluator. Pure."""
