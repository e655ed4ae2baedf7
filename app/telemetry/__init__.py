"""The Telemetry place."""
