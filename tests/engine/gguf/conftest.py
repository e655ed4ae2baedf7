"""Named pipes and permissions of this kind exist on Unix only."""

import os

collect_ignore = ["test_opening_on_unix.py"] if os.name == "nt" else []
