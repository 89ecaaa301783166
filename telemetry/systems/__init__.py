"""What is measured of each system and of no other, a folder each."""
