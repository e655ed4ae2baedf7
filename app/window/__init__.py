"""The window around the places: sidebar, header, engine panel, notices."""
