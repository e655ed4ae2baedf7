"""Conversation states that outlive their turn in the context: choosing, keeping and saving them."""
