"""Gyrase: count k-mers, look them up from numpy, classify reads.

>>> import gyrase
>>> gyrase.decode(gyrase.encode(["TTGCA"]), k=5)        # canonical: the smaller of both strands
['TGCAA']

`open` opens a file of the command line, `count` and `classify` run its verbs in this process: the same engine, the same
bytes. Failures are `Error`, with the `exit_code` of the command line; Ctrl-C is KeyboardInterrupt.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Union

from . import _gyrase
from ._frame import Frame
from ._gyrase import Error, __version__
from ._packing import decode, encode
from ._runs import Classification, classify, count
from ._tables import Database, KmerTable

__all__ = [
    "Classification",
    "Database",
    "Error",
    "Frame",
    "KmerTable",
    "__version__",
    "classify",
    "count",
    "decode",
    "encode",
    "open",
]

Error.exit_code = 3  # of an error that nobody gave another one


def open(path: Union[str, os.PathLike[str]]) -> Union[KmerTable, Database]:
    """Opens a `.gyk` file as KmerTable and a `.gydb` file as Database, told apart by how they begin.

    Raises Error (exit_code 2) for a file that is missing, damaged, of another version, or neither.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY), "rb") as file:
            magic = file.read(8)
    except OSError:
        magic = b""  # KmerTable says what is wrong with it.
    return Database(path) if magic == b"GYRASED\n" else KmerTable(path)


def _main() -> None:
    """The command line, as the program `gyrase` is."""
    # Gyrase has its own handlers; Python's would raise KeyboardInterrupt when all is over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_gyrase.main(["gyrase", *sys.argv[1:]]))
