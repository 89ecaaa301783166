"""What is removed to make room, and when: of ended runs, reports and what is kept to simulate the same again.

- ``removal``    what the policy removes, and removing it; ``services``: the policy, previews and figures of disk usage
- ``views``      the page of storage

Its rows, and what each run takes, are in ``brokerweb.storage``, which knows neither runs nor reports.
"""
