"""Routing traces: the file format, and recording them with stock llama.cpp."""
