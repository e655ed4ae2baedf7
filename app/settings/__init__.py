"""The Settings place."""
