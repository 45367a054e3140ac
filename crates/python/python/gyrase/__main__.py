"""`python -m gyrase` is the command line."""

from . import _main

_main()
