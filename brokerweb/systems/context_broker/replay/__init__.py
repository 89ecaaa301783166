"""Messages of a recorded run, for REST; the replay reads them there."""
