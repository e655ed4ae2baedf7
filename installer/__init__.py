"""Builds the packages people install: a portable engine, one folder with everything in it, what each system wants."""
