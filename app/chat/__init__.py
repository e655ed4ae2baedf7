"""The Chat place: messages, composer, streaming, Markdown, code, branches."""
