"""Colours, icons and the style sheet. Every colour in the program comes from `app.theme.tokens`."""

from app.theme.theme import Theme

__all__ = ["Theme"]
