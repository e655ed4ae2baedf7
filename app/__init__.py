"""The desktop application: talks to a running engine over HTTP, imports none of its code."""
