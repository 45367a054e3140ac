"""Databases of k-mers and of references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _gyrase
from ._frame import Frame, needed
from ._packing import Letters, flat, shaped

if TYPE_CHECKING:
    import pyarrow

BINS = 4096


class KmerTable(_gyrase.Table):
    """An opened `.gyk` file: k-mers and how often each occurs.

    The file is mapped, not read: opening takes no time, and what is looked up is read when it is. Any number of threads
    may look up at once. `len(table)` is the number of k-mers, `path`, `k` and `stranded` say what they are.

    Raises Error (exit_code 2) for a file that is missing, damaged or of another version; damage inside of it is found
    when the part is first used.
    """

    report: Optional[Dict[str, Any]] = None
    """What `gyrase --report` writes of the run that made the table; None for a table that was opened."""

    @property
    def canonical(self) -> bool:
        """True when a k-mer and its reverse complement are one."""
        return not self.stranded

    def lookup(self, kmers: Any, *, threads: Optional[int] = None) -> NDArray[np.uint32]:
        """The counts of many k-mers, 0 for those that the table has not: uint32 of shape (n,), in their order.

        `kmers` are packed as by `encode`: an array of uint64 of shape (n,) for k up to 32, else (n, words). A
        contiguous array is read in place. They need not be canonical. Or they are a sequence, or an array of numpy, of
        str or bytes. Long arrays are shared out to `threads` threads (default: the cores of this process); Python's other
        threads go on meanwhile.

        Raises TypeError for another dtype, ValueError for another shape and for letters that are no k-mer, Error for
        words with bits beyond the k bases.
        """
        if isinstance(kmers, (np.ndarray, np.generic)) and kmers.dtype.kind not in "SUO":
            return self._look_up(flat(kmers, self.k), threads)
        if isinstance(kmers, (str, bytes)):
            raise TypeError("lookup takes many k-mers; table[kmer] takes one")
        values = kmers.tolist() if hasattr(kmers, "tolist") else list(kmers)
        if values and not isinstance(values[0], (str, bytes)):
            return self._look_up(flat(kmers, self.k), threads)
        return self._look_up_letters(values, threads)

    def __getitem__(self, kmer: Letters) -> int:
        """The count of one k-mer in letters; 0 where the table has it not."""
        return int(self._look_up_letters([kmer], 1)[0])

    def __contains__(self, kmer: Letters) -> bool:
        return self[kmer] > 0

    def __iter__(self) -> Iterator[Tuple[NDArray[np.uint64], NDArray[np.uint32]]]:
        return self.batches()

    def __repr__(self) -> str:
        strands = "stranded" if self.stranded else "canonical"
        return f"<gyrase.KmerTable {str(self.path)!r}: {len(self)} {strands} {self.k}-mers>"

    def encode(self, kmers: Sequence[Letters]) -> NDArray[np.uint64]:
        """Packs k-mers of the length and strandedness of this table; see `gyrase.encode`."""
        kmers = [kmers] if isinstance(kmers, (str, bytes)) else list(kmers)
        return shaped(_gyrase.encode(kmers, self.k, self.stranded), self.k)

    def histogram(self, *, threads: Optional[int] = None) -> NDArray[np.uint64]:
        """How many k-mers have which count: uint64 of shape (n, 2), rows (count, k-mers), ascending, no zeros."""
        return self._histogram(threads).reshape(-1, 2)

    def histogram_frame(self, *, threads: Optional[int] = None) -> Frame:
        """The histogram as columns `count` and `kmers`."""
        rows = self.histogram(threads=threads)
        return Frame({"count": rows[:, 0].copy(), "kmers": rows[:, 1].copy()})

    def batches(self, size: int = 1 << 20) -> Iterator[Tuple[NDArray[np.uint64], NDArray[np.uint32]]]:
        """All k-mers and their counts, in the order of the file: packed as by `encode`, and uint32 of shape (n,).

        Each batch but the last has at least `size` k-mers.
        """
        bin = 0
        while bin < BINS:
            words, counts, bin = self._batch(bin, size)
            if len(counts):
                yield shaped(words, self.k), counts

    def to_arrow(self, size: int = 1 << 20) -> pyarrow.RecordBatchReader:
        """All k-mers and their counts as a stream of record batches of Arrow, never all in memory.

        `kmer` is uint64 for k up to 32, else a list of so many uint64 as it has words; `count` is uint32. Raises
        ImportError without pyarrow.
        """
        arrow = needed("pyarrow", "a stream of Arrow")
        kmer = arrow.uint64() if self.words == 1 else arrow.list_(arrow.uint64(), self.words)
        schema = arrow.schema([("kmer", kmer), ("count", arrow.uint32())])

        def stream() -> Iterator[pyarrow.RecordBatch]:
            for kmers, counts in self.batches(size):
                words = arrow.array(kmers.reshape(-1))
                if self.words > 1:
                    words = arrow.FixedSizeListArray.from_arrays(words, self.words)
                yield arrow.record_batch([words, arrow.array(counts)], schema=schema)

        reader: pyarrow.RecordBatchReader = arrow.RecordBatchReader.from_batches(schema, stream())
        return reader

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]
        return stream


class Database(_gyrase.Database):
    """An opened `.gydb` file: references to classify reads with.

    `path` is the file, `parameters` say how its references were sketched (k, window, stride, one_in or features,
    locations). Raises Error (exit_code 2) for a file that is missing, damaged or of another version.
    """

    def references(self) -> Frame:
        """The reference sequences: name, taxid (0: none), letters, windows, file (its number, from 0)."""
        return Frame(self._references())

    def taxa(self) -> Frame:
        """The taxa, parents before children: taxid, parent (the root's is its own), depth (root: 0), rank, name."""
        return Frame(self._taxa())

    def __repr__(self) -> str:
        return f"<gyrase.Database {str(self.path)!r}>"
