"""What `./dev` does to a checkout: a virtual environment, packages, the native core. Standard library only."""
