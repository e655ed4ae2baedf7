"""Runs before everything else in a packaged program: other programs that it starts get their own libraries.

PyInstaller's start program puts the bundle's folder on the library path; the loader has read it by now, and a browser
or file manager that Gannet opens must not.
"""

import os

for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH"):
    before = os.environ.pop(f"{name}_ORIG", None)
    os.environ.pop(name, None)
    if before:
        os.environ[name] = before
