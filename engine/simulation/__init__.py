"""Replays routing traces over eviction policies, cache sizes and lookaheads, against Belady's bound."""
