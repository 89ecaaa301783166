"""Messages of SilboPS (seed 002, section 6). Pure."""
