"""The command line: thin over the same service as HTTP."""

from app.cli.main import main

__all__ = ["main"]
