"""The Django application of the toy system: a part of its runs' pages, a page, and a REST address."""
