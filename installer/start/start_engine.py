"""Where the packaged program `gannet-engine` begins: the same commands with a console, and never a window by itself."""

import sys

from gannet import main

sys.exit(main(sys.argv[1:] or ["help"]))
