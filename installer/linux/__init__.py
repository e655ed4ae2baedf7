"""Packages for Linux: a .deb, a self-extracting .run for one user, and an AppImage, all with the same contents."""
