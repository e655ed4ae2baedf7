"""Where the packaged program `gannet` begins: the window, or any command of the terminal."""

import sys

from gannet import main

sys.exit(main())
