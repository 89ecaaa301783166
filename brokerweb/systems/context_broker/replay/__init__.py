"""The messages of a recorded run, as REST gives them and the replay page draws them."""
