"""The broker discovery and registration service (BDRS): which brokers there are, and which tree they form.

- ``bdrs``         the server: its messages
- ``publishing``   when a new epoch is published, and to whom what is sent
- ``epochs``       the published brokers and edges, whole or as changes
- ``registry``     registrations and their deadlines
- ``nearest``      the brokers nearest to a client
- ``forest``       the minimum spanning forest of links
- ``quota``        how many messages of one peer are served
"""
