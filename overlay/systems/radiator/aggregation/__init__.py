"""Algorithm 1 (seed 003, section 3.1): which messages are retained for which recipient, and when they leave.

A recipient has a queue of messages for each threshold. A queue that satisfies its threshold leaves as one propagation,
which goes to all recipients with the same messages in their queue. Three forms give the same output:

- ``literal``    as printed: each arrival scans all pending messages of each recipient
- ``classes``    indexed: an arrival changes one queue, of each recipient or of each class of equal recipients
- ``shards``     recipients in parts that share nothing, for parallel work
- ``checked``    all three forms at once, compared
- ``choice``     the form that a setting names

``algorithm`` is their interface, ``options`` its settings; ``queues`` has queues and their deadlines, and
``emissions`` what leaves. Time is ``now``, in ns.
"""
