"""The Server place."""
