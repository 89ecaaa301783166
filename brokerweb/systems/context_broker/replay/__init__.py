"""Messages of a recorded run, for REST and the replay page."""
