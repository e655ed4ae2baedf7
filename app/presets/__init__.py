"""Named sets of engine settings."""
