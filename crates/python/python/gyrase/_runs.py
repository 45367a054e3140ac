"""Runs of `gyrase count` and `gyrase classify` in this process."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import _gyrase
from ._frame import Frame, needed
from ._tables import Database, KmerTable

PathLike = Union[str, "os.PathLike[str]"]
Tell = Callable[[int, int, str], Any]
Progress = Union[Tell, bool, None]

ANSWERS = ["status", "name", "taxid", "letters"]
HITS = ["hits"]
LOCATIONS = ["target", "first", "last", "region_hits", "features", "windows_hit"]


def _printed(done: int, total: int, unit: str) -> None:
    """What `progress=True` shows: a line of standard error that is written over."""
    share = f"{min(done, total) * 100 // total:3} % of {total:,} {unit}" if total else f"{done:,} {unit}"
    sys.stderr.write(f"\r\x1b[Kgyrase: {share}")
    sys.stderr.flush()


def _run(words: List[str], progress: Progress) -> Dict[str, Any]:
    """Runs a verb; its report."""
    tell = _printed if progress is True else progress or None
    try:
        report: Dict[str, Any] = json.loads(_gyrase.run(["gyrase", *words], tell))
    finally:
        if progress is True:
            sys.stderr.write("\r\x1b[K")
    for warning in report["warnings"]:
        warnings.warn(warning, stacklevel=3)
    return report


def _options(**named: Any) -> List[str]:
    """Options of the command line: None and False are left out."""
    words = []
    for name, value in named.items():
        if value is None or value is False:
            continue
        flag = f"--{name.replace('_', '-')}"
        # One word, so that no value is taken for an option.
        words.append(flag if value is True else f"{flag}={os.fspath(value) if hasattr(value, '__fspath__') else value}")
    return words


def _paths(inputs: Union[PathLike, Sequence[PathLike]]) -> List[str]:
    several = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    return [os.fspath(path) for path in several]


def count(
    inputs: Union[PathLike, Sequence[PathLike]],
    k: int = 31,
    *,
    output: PathLike,
    stranded: bool = False,
    min_count: Optional[int] = None,
    max_count: Optional[int] = None,
    memory: Union[int, str, None] = None,
    threads: Optional[int] = None,
    tmp: Optional[PathLike] = None,
    progress: Progress = None,
    options: Sequence[str] = (),
) -> KmerTable:
    """Counts the k-mers of FASTA and FASTQ files into `output`, a `.gyk` file, and opens it.

    As `gyrase count`, with the same bytes: `k` from 1 to 127; `memory` in bytes, or in words such as "4G" and "80%"
    (default: 80 % of what there is); `threads` (default: the cores of this process); `tmp`, the folder for what does
    not fit. `options` are further words of that command line. The table's `report` is what `--report` writes.

    `progress` is called about ten times a second, in this thread, with the units that are done, all units (0 where that
    is not known) and what they are: "bytes" of input, "partitions", "steps"; each stage counts anew. True shows a line
    on standard error. What it raises stops the run.

    Raises Error with the exit code and the message of the command line, KeyboardInterrupt after Ctrl-C. Either way no
    unfinished file is left. Warnings are those of `warnings`. Runs of one process wait for each other.
    """
    words = _options(
        output=output,
        stranded=stranded,
        min_count=min_count,
        max_count=max_count,
        memory=memory,
        threads=threads,
        tmp=tmp,
    )
    report = _run(["count", f"-k{k}", *words, *options, "--", *_paths(inputs)], progress)
    table = KmerTable(output)
    table.report = report
    return table


class Classification:
    """What a sample holds: the answers of its reads and the report of its taxa.

    `report` is what `gyrase --report` writes of the run; `output` and `kreport_path` are files. Those that nobody named
    go away with this object.
    """

    def __init__(self, report: Dict[str, Any], output: Path, kreport_path: Path, columns: List[str], keep: Any) -> None:
        self.report = report
        self.output = output
        self.kreport_path = kreport_path
        self._columns = columns
        self._keep = keep

    def __repr__(self) -> str:
        counts = self.report["counts"]
        return f"<gyrase.Classification: {counts['classified']} of {counts['reads']} reads>"

    def answers(self) -> Frame:
        """A row a read or pair, in the order of the reads, as columns of Arrow. Raises ImportError without pyarrow.

        status (C or U), name, taxid (0: none), letters (text: mates as 150|148), hits (taxid:hits of the best
        references). With `locations` in the place of hits: target (* for none), first, last (letters of it, from 1),
        region_hits, features (of the read), windows_hit (share). With `with_confidence` also confidence.
        """
        csv, arrow = needed("pyarrow.csv", "the frame of answers"), needed("pyarrow", "the frame of answers")
        text, number = arrow.string(), arrow.uint64()
        types = {"taxid": arrow.uint32(), "windows_hit": arrow.float64()}
        types.update((name, number) for name in ("first", "last", "region_hits", "features"))
        if self.output.stat().st_size == 0:
            return Frame({name: arrow.array([], types.get(name, text)) for name in self._columns})
        table = csv.read_csv(
            self.output,
            csv.ReadOptions(column_names=self._columns),
            csv.ParseOptions(delimiter="\t", quote_char=False),
            csv.ConvertOptions(column_types={name: types.get(name, text) for name in self._columns}),
        )
        return Frame({name: table[name] for name in self._columns})

    def kreport(self) -> Frame:
        """A row a taxon, as Kraken 2 reports them: percent (of all reads), clade_reads (at and below it), reads (of
        itself), rank (a letter, perhaps with a digit), taxid, depth (root: 0), name. Unclassified reads are taxid 0.
        """
        lines = self.kreport_path.read_text(encoding="utf-8").splitlines()
        rows = [line.split("\t") for line in lines]
        names = [row[5] for row in rows]
        return Frame(
            {
                "percent": [float(row[0]) for row in rows],
                "clade_reads": [int(row[1]) for row in rows],
                "reads": [int(row[2]) for row in rows],
                "rank": [row[3] for row in rows],
                "taxid": [int(row[4]) for row in rows],
                "depth": [(len(name) - len(name.lstrip(" "))) // 2 for name in names],
                "name": [name.lstrip(" ") for name in names],
            }
        )


def classify(
    database: Union[PathLike, Database, Sequence[Union[PathLike, Database]]],
    inputs: Union[PathLike, Sequence[PathLike]],
    *,
    output: Optional[PathLike] = None,
    kreport: Optional[PathLike] = None,
    confidence: Optional[float] = None,
    min_hits: Optional[int] = None,
    interleaved: bool = False,
    locations: bool = False,
    with_confidence: bool = False,
    memory: Union[int, str, None] = None,
    threads: Optional[int] = None,
    tmp: Optional[PathLike] = None,
    progress: Progress = None,
    options: Sequence[str] = (),
) -> Classification:
    """Says which taxon each read comes from, and what the sample holds.

    As `gyrase classify`, with the same bytes in `output` (the answers) and `kreport`; without these names they are
    temporary files. `database` is a path, an opened Database, or several that are used as one. `inputs` are a file of
    reads, or two of mates; with `interleaved` mates follow each other in one. `confidence` is 0 to 1. The rest, what it
    raises and what Ctrl-C does are as for `count`.
    """
    reads = _paths(inputs)
    if len(reads) not in (1, 2):
        raise ValueError(f"inputs are a file of reads or two files of mates, not {len(reads)} files")
    several = [database] if isinstance(database, (str, os.PathLike, Database)) else database
    databases = [one.path if isinstance(one, Database) else one for one in several]
    keep = TemporaryDirectory(prefix="gyrase-") if output is None or kreport is None else None
    folder = keep.name if keep else ""
    answers = Path(folder, "reads.tsv") if output is None else Path(output)
    taxa = Path(folder, "sample.kreport") if kreport is None else Path(kreport)
    words = [f"--db={os.fspath(path)}" for path in databases] + _options(
        output=answers,
        kreport=taxa,
        confidence=confidence,
        min_hits=min_hits,
        interleaved=interleaved,
        locations=locations,
        with_confidence=with_confidence,
        memory=memory,
        threads=threads,
        tmp=tmp,
    )
    report = _run(["classify", *words, *options, "--", *reads], progress)
    columns = ANSWERS + (LOCATIONS if locations else HITS) + (["confidence"] if with_confidence else [])
    return Classification(report, answers, taxa, columns, keep)
