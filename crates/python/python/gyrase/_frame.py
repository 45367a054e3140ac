"""Columns of equal length, on their way to Arrow, pandas or polars."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Iterator, Mapping

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def needed(module: str, purpose: str) -> Any:
    """The module, or an ImportError that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        extra = "arrow" if module.startswith("pyarrow") else module
        raise ImportError(f"{purpose} needs {module}: pip install 'gyrase[{extra}]'") from error


class Frame(Mapping[str, Any]):
    """Columns by name, each an array of numpy, a list of str, or an array of Arrow.

    `frame["name"]` is a column, `list(frame)` are the names, `frame.rows` says how many rows there are. With pyarrow
    installed it becomes a table of Arrow, pandas or polars, and whatever takes the stream of the PyCapsule interface.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)

    @property
    def rows(self) -> int:
        """Rows, those of every column."""
        return max((len(column) for column in self._columns.values()), default=0)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<gyrase.Frame: {self.rows} rows of {', '.join(self._columns)}>"

    def to_arrow(self) -> pyarrow.Table:
        """A table of Arrow. Raises ImportError without pyarrow."""
        table: pyarrow.Table = needed("pyarrow", "a table of Arrow").table(self._columns)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """A frame of pandas. Raises ImportError without pyarrow and pandas."""
        needed("pandas", "a frame of pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """A frame of polars. Raises ImportError without pyarrow and polars."""
        frame: polars.DataFrame = needed("polars", "a frame of polars").from_arrow(self.to_arrow())
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]
        return stream
