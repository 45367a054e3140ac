"""The command line that the wheel brings."""

import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import gyrase
from conftest import PATIENCE, gyrase_program
from test_runs import Feeder, files, started

PROGRAM = Path(sysconfig.get_path("scripts"), "gyrase")


def program(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE)


def test_the_program_and_the_module_are_one():
    for run in (program, gyrase_program):
        said = run("--version")
        assert said.returncode == 0 and said.stdout.startswith(f"gyrase {gyrase.__version__}")
        assert run("count", "--help").stdout.startswith("Count the k-mers")


def test_exit_codes_are_those_of_the_program(reads, tmp_path):
    assert program("count", "-k", "0", reads).returncode == 1
    assert program("kmers", "info", tmp_path / "nowhere.gyk").returncode == 2
    truncated = tmp_path / "truncated.fq"
    truncated.write_text("@r\nACGT\n")
    cut = program("count", truncated, "-o", tmp_path / "x.gyk")
    assert cut.returncode == 7 and cut.stderr.startswith("gyrase: error: ")
    done = program("count", "-k", 21, reads, "-o", tmp_path / "x.gyk")
    assert done.returncode == 0 and len(gyrase.open(tmp_path / "x.gyk")) > 0


def test_standard_output_is_whole(reads, tmp_path):
    gyrase.count(reads, 21, output=tmp_path / "x.gyk")
    dumped = program("kmers", "dump", tmp_path / "x.gyk")
    assert dumped.returncode == 0
    assert len(dumped.stdout.splitlines()) == len(gyrase.open(tmp_path / "x.gyk"))


def test_control_c_is_that_of_the_program(tmp_path):
    with Feeder(tmp_path / "reads") as feeder:
        words = [PROGRAM, "count", feeder.pipe, "-o", tmp_path / "x.gyk", "--tmp", tmp_path]
        with started(words) as child:
            # It has an output, so it listens.
            while not any(".gyk" in path.name for path in tmp_path.iterdir()):
                assert child.poll() is None
                time.sleep(0.01)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130 and "KeyboardInterrupt" not in said
    assert files(tmp_path) == ["reads"]


def test_a_closed_pipe_is_no_failure(reads, tmp_path):
    gyrase.count(reads, 31, output=tmp_path / "x.gyk")
    command = f'"{PROGRAM}" kmers dump "{tmp_path / "x.gyk"}" | head -n 1; echo "${{PIPESTATUS[0]}}"'
    said = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
    assert said.stdout.splitlines()[-1] == "0" and said.stderr == ""


def test_the_stubs_are_there():
    package = Path(gyrase.__file__).parent
    assert (package / "py.typed").exists() and (package / "_gyrase.pyi").exists()
    assert sys.modules["gyrase._gyrase"].__file__.endswith(".abi3.so")
