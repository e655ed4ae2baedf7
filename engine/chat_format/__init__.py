"""Taking a chat answer apart: thinking, text and tool calls, by the markers of each model family. Pure."""
