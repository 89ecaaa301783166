"""Which of two subscriptions makes the other needless on a link, and which two are one (seed 001, section 5).

- ``ranges``        the values that a predicate accepts, and whether they are among those of another
- ``implication``   the same for expressions
- ``covers``        the same for subscriptions: scopes and the temporal bound
- ``merging``       perfect merging: exactly the notifications of both

Sound, not complete: a subscription that covers another in a way that is not seen costs a message, and no notification.
"""
