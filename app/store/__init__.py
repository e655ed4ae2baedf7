"""Conversations on disk: SQLite in WAL mode with full-text search. Knows nothing of Qt."""

from app.store.records import Conversation, Message, Sampling
from app.store.store import Store
from app.store.tree import Tree

__all__ = ["Conversation", "Message", "Sampling", "Store", "Tree"]
