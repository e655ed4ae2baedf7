"""What the pages beside the chat share: figures as words, the page's frame, the five states, cards."""
