"""The engine as a service: one thread computes, an event loop talks HTTP. JSON stays at the edge."""
