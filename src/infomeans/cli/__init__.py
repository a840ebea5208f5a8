"""The command line. Commands import their dependencies when they run, so that help is fast."""

from infomeans.cli.app import app

__all__ = ["app"]
