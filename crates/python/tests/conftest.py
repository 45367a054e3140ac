"""Small data with a known truth, made once."""

import random
import subprocess
import sys

import pytest

# Of whatever is started: a program that hangs must fail its test, not hold it up.
PATIENCE = 120


def letters(length, seed):
    return "".join(random.Random(seed).choices("ACGT", k=length))


def fasta(path, records):
    path.write_text("".join(f">{name}\n{text}\n" for name, text in records))
    return path


def gyrase_program(*words, cwd=None):
    """The command line, as `python -m gyrase`."""
    command = [sys.executable, "-m", "gyrase", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture(scope="session")
def sequences():
    """Sequences with repeats, letters that are no bases, and both cases."""
    repeat = letters(300, 1)
    return [letters(2000, 2) + "N" + repeat, repeat * 2, letters(500, 3).lower(), "ACG"]


@pytest.fixture(scope="session")
def reads(tmp_path_factory, sequences):
    folder = tmp_path_factory.mktemp("reads")
    return fasta(folder / "reads.fa", [(f"r{i}", text) for i, text in enumerate(sequences)])


TAXA = [(1, 1, "no rank", "root"), (10, 1, "genus", "Genus"), (11, 10, "species", "One"), (12, 10, "species", "Other")]


@pytest.fixture(scope="session")
def references(tmp_path_factory):
    """A folder with refs.gydb of two genomes, and reads.fa: 20 of each, 5 of neither."""
    folder = tmp_path_factory.mktemp("references")
    taxonomy = folder / "taxonomy"
    taxonomy.mkdir()
    nodes = [f"{taxid}\t|\t{parent}\t|\t{rank}\t|\t\n" for taxid, parent, rank, _ in TAXA]
    names = [f"{taxid}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for taxid, _, _, name in TAXA]
    (taxonomy / "nodes.dmp").write_text("".join(nodes))
    (taxonomy / "names.dmp").write_text("".join(names))
    one, other, neither = letters(20_000, 4), letters(20_000, 5), letters(20_000, 6)
    fasta(folder / "refs.fa", [("kraken:taxid|11|one", one), ("kraken:taxid|12|other", other)])
    pieces = [(one, 20), (other, 20), (neither, 5)]
    sampled = [text[700 * i : 700 * i + 150] for text, reads in pieces for i in range(reads)]
    fasta(folder / "reads.fa", [(f"read{i}", text) for i, text in enumerate(sampled)])
    built = gyrase_program("db", "build", "refs.fa", "--taxonomy", "taxonomy", "-o", "refs.gydb", cwd=folder)
    assert built.returncode == 0, built.stderr
    return folder
