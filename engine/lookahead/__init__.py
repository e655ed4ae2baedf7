"""The trained correction of the lookahead: fitting it on a trace, and the file that the engine loads."""
