"""Models on this machine and in the catalogue: finding, judging, downloading and choosing them."""
