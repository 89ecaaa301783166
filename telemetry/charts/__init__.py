"""The one shape of a chart, for pages and reports alike. Pure."""
