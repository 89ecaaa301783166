"""Django's PostgreSQL with one writer at a time: the ``ENGINE`` that ``brokerweb.databases`` names."""
