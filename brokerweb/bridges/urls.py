"""URLs of bridges on the page of a network."""

urlpatterns: list[object] = []
