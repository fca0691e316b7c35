"""Run the command line with `python -m app`."""

from app.cli import main

main()
