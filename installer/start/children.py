"""Runs before everything else in a packaged program: what it starts gets a plain environment.

PyInstaller's start program puts the bundle's folder on the library path; the loader has read it by now, and a browser
or file manager that Gannet opens must not. Packaged programs of our own that are started from here have to begin anew
as well: taken for a part of this process, they would look for their libraries in the system.
"""

import os

for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH"):
    before = os.environ.pop(f"{name}_ORIG", None)
    os.environ.pop(name, None)
    if before:
        os.environ[name] = before
os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
