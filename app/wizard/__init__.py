"""The pages of the tuner."""
