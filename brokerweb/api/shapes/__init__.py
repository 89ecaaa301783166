"""Request and response bodies of the REST API, one module per app. Services check rules that involve several fields."""
