"""The published claims, judged by an experiment's runs."""
