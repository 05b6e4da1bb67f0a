"""``python -m kip`` is the command line."""

from kip.cli import main

main()
