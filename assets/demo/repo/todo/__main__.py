"""Runs the commands: python3 -m todo."""

import sys

from todo.cli import main

sys.exit(main(sys.argv[1:]))
