"""The Windows package: an installer for one user, made with NSIS."""
