"""A to-do list for the terminal."""
