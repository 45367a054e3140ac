"""Runs in this process: the bytes of the command line, progress, failures, Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import gyrase
import pytest
from conftest import PATIENCE, gyrase_program, letters

SCRIPT = """
import sys, gyrase

def tell(done, total, unit):
    print("running", flush=True)

try:
    gyrase.count(sys.argv[1], output=sys.argv[2], tmp=sys.argv[3], progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def files(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_a_count_has_the_bytes_of_the_command_line(reads, tmp_path):
    done = gyrase_program("count", "-k", 21, "--min-count", 2, reads, "-o", tmp_path / "program.gyk")
    assert done.returncode == 0, done.stderr
    table = gyrase.count([str(reads)], 21, output=tmp_path / "x.gyk", min_count=2, memory="1G", threads=2)
    assert (tmp_path / "x.gyk").read_bytes() == (tmp_path / "program.gyk").read_bytes()
    assert table.report["counts"]["distinct"] == len(table) > 0
    assert table.report["command"][:2] == ["gyrase", "count"]
    assert gyrase.open(table.path).report is None


def test_what_a_run_is_asked_for_must_make_sense(reads, tmp_path):
    output = tmp_path / "x.gyk"
    with pytest.raises(gyrase.Error, match="128") as usage:
        gyrase.count(reads, 128, output=output)
    assert usage.value.exit_code == 1
    with pytest.raises(gyrase.Error, match="nowhere.fa") as missing:
        gyrase.count(tmp_path / "nowhere.fa", output=output)
    assert missing.value.exit_code == 1
    truncated = tmp_path / "truncated.fq"
    truncated.write_text("@r\nACGT\n")
    with pytest.raises(gyrase.Error, match="truncated.fq") as cut:
        gyrase.count(truncated, output=output)
    assert cut.value.exit_code == 7
    with pytest.raises(gyrase.Error) as unknown:
        gyrase.count(reads, output=output, options=["--no-such-option"])
    assert unknown.value.exit_code == 1
    assert files(tmp_path) == ["truncated.fq"]


def test_warnings_are_those_of_python(reads, tmp_path):
    with pytest.warns(UserWarning, match="named twice"):
        table = gyrase.count([reads, reads], output=tmp_path / "x.gyk")
    assert any("named twice" in warning for warning in table.report["warnings"])
    assert gyrase.count(reads, output=tmp_path / "y.gyk").report["warnings"] == []


def test_progress_is_told(reads, tmp_path, capfd):
    told = []
    gyrase.count(reads, output=tmp_path / "x.gyk", progress=lambda *now: told.append(now))
    assert told and all(done >= 0 and total >= 0 and unit for done, total, unit in told)
    assert capfd.readouterr() == ("", "")
    gyrase.count(reads, output=tmp_path / "x.gyk", progress=True)
    assert "gyrase: " in capfd.readouterr().err


class Feeder:
    """A pipe of reads without end, so that no machine is through before it is stopped."""

    def __init__(self, pipe):
        os.mkfifo(pipe)
        self.pipe = pipe
        self.stop, self.silent = threading.Event(), threading.Event()
        # One that nobody reads from must not keep pytest from its end.
        self.thread = threading.Thread(target=self.feed, daemon=True)

    def feed(self):
        block = "".join(f">r\n{letters(1000, seed)}\n" for seed in range(200)).encode()
        try:
            with open(self.pipe, "wb") as file:
                while not self.stop.is_set():
                    if not self.silent.is_set():
                        file.write(block)
                    time.sleep(0.005)
        except BrokenPipeError:
            pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(PATIENCE)


@contextmanager
def started(words, **more):
    """A program that is gone afterwards, whatever happens."""
    child = subprocess.Popen([str(word) for word in words], text=True, stderr=subprocess.PIPE, **more)
    killer = threading.Timer(PATIENCE, child.kill)
    killer.start()
    try:
        yield child
    finally:
        killer.cancel()
        child.kill()
        child.communicate()


def test_what_progress_raises_ends_the_run(tmp_path):
    def tell(done, total, unit):
        raise LookupError(unit)

    with Feeder(tmp_path / "reads") as feeder:
        with pytest.raises(LookupError):
            gyrase.count(feeder.pipe, output=tmp_path / "x.gyk", progress=tell)
    assert files(tmp_path) == ["reads"]


@pytest.mark.parametrize("silent", [False, True])
def test_control_c_ends_a_run_soon(tmp_path, silent):
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    with Feeder(tmp_path / "reads") as feeder:
        words = [sys.executable, "-c", SCRIPT, feeder.pipe, tmp_path / "x.gyk", tmp]
        with started(words, stdout=subprocess.PIPE) as child:
            assert child.stdout.readline() == "running\n"
            start = time.monotonic()
            if silent:
                feeder.silent.set()
                time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            if silent:
                time.sleep(0.5)
                assert child.poll() is None
                child.send_signal(signal.SIGINT)
            said, complaint = child.communicate(timeout=PATIENCE)
        assert said.endswith("interrupted\n") and complaint == ""
        assert child.returncode == 0 and time.monotonic() - start < 20
    if not silent:
        assert files(tmp_path) == ["reads", "tmp"]
    assert not (tmp_path / "x.gyk").exists()


def test_runs_of_several_threads_take_turns(reads, tmp_path):
    names = [tmp_path / f"{i}.gyk" for i in range(4)]
    threads = [threading.Thread(target=gyrase.count, args=(reads,), kwargs={"output": name}) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len({name.read_bytes() for name in names}) == 1


def test_a_database_tells_its_references_and_taxa(references):
    database = gyrase.open(references / "refs.gydb")
    assert isinstance(database, gyrase.Database)
    parameters = database.parameters
    assert parameters["k"] > 0 and parameters["window"] >= parameters["stride"] > 0
    targets = database.references()
    assert targets["taxid"].tolist() == [11, 12] and targets["letters"].tolist() == [20_000, 20_000]
    assert targets.rows == 2 and targets["name"] == ["kraken:taxid|11|one", "kraken:taxid|12|other"]
    taxa = database.taxa()
    found = zip(taxa["taxid"].tolist(), taxa["parent"].tolist(), taxa["rank"], taxa["name"])
    assert list(found) == [(1, 1, "no rank", "root"), (10, 1, "genus", "Genus"), (11, 10, "species", "One"),
                           (12, 10, "species", "Other")]
    assert taxa["depth"].tolist() == [0, 1, 2, 2]
    with pytest.raises(gyrase.Error) as missing:
        gyrase.Database(references / "nowhere.gydb")
    assert missing.value.exit_code == 2


def test_classification_has_the_bytes_of_the_command_line(references, tmp_path):
    reads, refs = references / "reads.fa", references / "refs.gydb"
    outputs = ["-o", tmp_path / "program.tsv", "--kreport", tmp_path / "program.kreport"]
    done = gyrase_program("classify", "--db", refs, reads, *outputs, "--confidence", 0.1)
    assert done.returncode == 0, done.stderr
    told = []
    found = gyrase.classify(
        gyrase.Database(refs),
        reads,
        output=tmp_path / "x.tsv",
        kreport=tmp_path / "x.kreport",
        confidence=0.1,
        progress=lambda *now: told.append(now),
    )
    for ending in ("tsv", "kreport"):
        assert (tmp_path / f"x.{ending}").read_bytes() == (tmp_path / f"program.{ending}").read_bytes()
    assert told and found.report["parameters"]["thresholds"]


def test_reports_are_frames(references):
    found = gyrase.classify(references / "refs.gydb", [references / "reads.fa"])
    taxa = found.kreport()
    reads = dict(zip(taxa["taxid"], taxa["clade_reads"]))
    assert reads == {0: 5, 1: 40, 10: 40, 11: 20, 12: 20}
    assert dict(zip(taxa["name"], taxa["depth"]))["Other"] == 2
    pytest.importorskip("pyarrow")
    answers = found.answers().to_arrow()
    assert answers.column_names == ["status", "name", "taxid", "letters", "hits"]
    assert answers["taxid"].to_pylist() == [11] * 20 + [12] * 20 + [0] * 5
    assert answers["name"].to_pylist() == [f"read{i}" for i in range(45)]
    assert set(answers["letters"].to_pylist()) == {"150"}
    located = gyrase.classify(references / "refs.gydb", references / "reads.fa", locations=True, with_confidence=True)
    where = located.answers().to_arrow().to_pydict()
    assert where["target"][0] == "kraken:taxid|11|one" and where["target"][44] == "*"
    assert where["first"][1] <= 701 and where["last"][1] >= 850 and where["confidence"][0].startswith("11:")


def test_no_reads_are_an_empty_frame(references, tmp_path):
    empty = tmp_path / "empty.fa"
    empty.write_text("")
    found = gyrase.classify(references / "refs.gydb", empty)
    assert found.kreport()["clade_reads"][0] == 0
    pytest.importorskip("pyarrow")
    assert found.answers().rows == 0


def test_frames_go_to_pandas_and_polars(references):
    frame = gyrase.classify(references / "refs.gydb", references / "reads.fa").kreport()
    pytest.importorskip("pyarrow")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert frame.to_pandas().set_index("taxid").loc[11, "name"] == "One"
    assert frame.to_polars().filter(polars.col("taxid") == 12)["reads"].to_list() == [20]
    assert polars.DataFrame(frame.to_arrow()).equals(frame.to_polars())
    assert isinstance(frame.to_pandas(), pandas.DataFrame)


@pytest.mark.parametrize("module, method", [("pyarrow", "to_arrow"), ("pandas", "to_pandas"), ("polars", "to_polars")])
def test_a_missing_package_is_named(monkeypatch, module, method):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'gyrase\["):
        getattr(gyrase.Frame({"x": [1]}), method)()


def test_wrong_numbers_of_reads_are_refused(references):
    with pytest.raises(ValueError):
        gyrase.classify(references / "refs.gydb", [])
    with pytest.raises(ValueError):
        gyrase.classify(references / "refs.gydb", ["a", "b", "c"])
