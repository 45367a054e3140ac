"""The examples of docs/python.md run, and give what they say."""

import doctest
import shutil
from pathlib import Path

import pytest
from conftest import fasta, letters

DOCS = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_examples_run(references, tmp_path, monkeypatch):
    for extra in ("pyarrow", "pandas", "polars"):
        pytest.importorskip(extra)
    genome = letters(10_000, 7)
    fasta(tmp_path / "reads.fa", [(f"r{i}", genome[50 * i : 50 * i + 150]) for i in range(190)])
    shutil.copy(references / "refs.gydb", tmp_path)
    shutil.copy(references / "reads.fa", tmp_path / "sample.fa")
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(DOCS), module_relative=False, optionflags=flags, encoding="utf-8")
    assert failed == 0 and tried > 20
