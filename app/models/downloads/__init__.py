"""Downloads from a model hub: listing (hub), one file (transfer), the child process (worker), policy and state."""
