#!/usr/bin/env python3
"""Compares Gyrase with other k-mer counters: interleaved runs, equal results checked, a Markdown table printed."""

import argparse
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Run:
    """One program that does the job, and what its runs took."""

    def __init__(self, name, commands, dump=None):
        self.name = name
        self.commands = commands
        self.dump = dump
        self.walls, self.cpus, self.peak, self.digest = [], [], 0, None

    def once(self, folder, log):
        """Runs the commands one after the other; wall and CPU time are summed, peak memory is the largest."""
        wall = cpu = 0.0
        for command in self.commands:
            start = time.monotonic()
            process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
            _, status, usage = os.wait4(process.pid, 0)
            wall += time.monotonic() - start
            if status != 0:
                sys.exit(f"{self.name} failed; see {log.name}: {' '.join(map(str, command))}")
            cpu += usage.ru_utime + usage.ru_stime
            self.peak = max(self.peak, usage.ru_maxrss * 1024)
        self.walls.append(wall)
        self.cpus.append(cpu)

    def row(self, ours):
        walls = " ".join(f"{wall:.2f}" for wall in self.walls)
        factor = "" if self is ours else f"{min(self.walls) / min(ours.walls):.2f}x"
        took = f"**{min(self.walls):.2f}** ({walls}) | {min(self.cpus):.1f}"
        return f"| {self.name} | {took} | {self.peak / 1e6:.0f} | {factor} |"


def interleave(runs, options, work):
    """A B A B ...: every program once, then every program again."""
    with open(work / "log.txt", "w") as log:
        for _ in range(options.repeat):
            for run in runs:
                for leftover in work.glob("out*"):
                    shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
                (work / "out_tmp").mkdir()
                run.once(work, log)
                if run.dump and not run.digest and not options.no_check:
                    run.digest = digest(run.dump, work)


def digest(command, work):
    """The checksum of the sorted `KMER<TAB>count` lines that `command` writes."""
    dumped = work / "out_dump"
    with open(dumped, "wb") as out:
        subprocess.run(command, cwd=work, stdout=out, stderr=subprocess.DEVNULL, check=True)
    environment = dict(os.environ, LC_ALL="C")
    sort = subprocess.Popen(["sort", "-S", "1G", "-T", str(work), str(dumped)], stdout=subprocess.PIPE, env=environment)
    total, lines = hashlib.sha256(), 0
    while block := sort.stdout.read(1 << 20):
        block = block.replace(b" ", b"\t")
        lines += block.count(b"\n")
        total.update(block)
    dumped.unlink()
    return f"{total.hexdigest()[:16]} ({lines:,} k-mers)"


def first_bytes(path):
    opened = gzip.open(path) if open(path, "rb").read(2) == b"\x1f\x8b" else open(path, "rb")
    with opened as file:
        return file.read(1)


def kmc_format(paths):
    return "-fm" if first_bytes(paths[0]) == b">" else "-fq"


def gyrase_count(options, paths, output="out.gyk", extra=()):
    threads = ["--threads", str(options.threads)]
    return [
        options.gyrase,
        "--quiet",
        *threads,
        "count",
        "-k",
        str(options.k),
        "--tmp",
        "out_tmp",
        *extra,
        "-o",
        output,
        *paths,
    ]


def gyrase_dump(options, database="out.gyk"):
    return [options.gyrase, "--quiet", "kmers", "dump", database]


def kmc_count(options, paths, output, mode):
    (options.work / "files.txt").write_text("\n".join(paths) + "\n")
    keep_all = ["-ci1", "-cs4294967295"]
    return [
        "kmc",
        f"-k{options.k}",
        f"-t{options.threads}",
        "-m12",
        *keep_all,
        *mode,
        kmc_format(paths),
        "@files.txt",
        output,
        "out_tmp",
    ]


def kmc_dump(database="out"):
    return ["bash", "-c", f"kmc_tools -t1 transform {database} dump out_text >/dev/null && cat out_text"]


def count_runs(options):
    paths = options.paths
    runs = [Run("gyrase", [gyrase_count(options, paths)], gyrase_dump(options))]
    if "kmc" in options.rivals:
        runs.append(Run("kmc, disk", [kmc_count(options, paths, "out", [])], kmc_dump()))
        runs.append(Run("kmc, memory", [kmc_count(options, paths, "out", ["-r"])], kmc_dump()))
    if "jellyfish" in options.rivals:
        count = [
            "jellyfish",
            "count",
            "-C",
            "-m",
            str(options.k),
            "-s",
            "100M",
            "-t",
            str(options.threads),
            "-o",
            "out.jf",
        ]
        inputs = paths
        if any(open(path, "rb").read(2) == b"\x1f\x8b" for path in paths):
            (options.work / "generators.txt").write_text("".join(f"gzip -dc {path}\n" for path in paths))
            count += ["-g", "generators.txt"]
            inputs = []
        runs.append(Run("jellyfish", [count + inputs], ["jellyfish", "dump", "-c", "-t", "out.jf"]))
    return runs


def memory_runs(options):
    limited = ["--memory", options.limit]
    return [
        Run("gyrase, in memory", [gyrase_count(options, options.paths)], gyrase_dump(options)),
        Run(f"gyrase, {options.limit}", [gyrase_count(options, options.paths, extra=limited)], gyrase_dump(options)),
    ]


def growth_runs(options):
    """A quarter, a half, once, twice, four times the data."""
    runs = []
    for share in (0.25, 0.5, 1, 2, 4):
        inputs = cut(options, share) if share < 1 else options.paths * int(share)
        runs.append(Run(f"gyrase, {share}x", [gyrase_count(options, inputs)]))
    return runs


def cut(options, share):
    """The first part of each FASTQ file, in whole records of four lines."""
    parts = []
    for number, path in enumerate(options.paths):
        part = options.work / f"part{number}_{share}.fq"
        wanted = os.path.getsize(path) * share
        with open(path, "rb") as source, open(part, "wb") as target:
            while target.tell() < wanted:
                for _ in range(4):
                    target.write(source.readline())
        parts.append(str(part))
    return parts


def union_runs(options):
    if len(options.paths) != 2:
        sys.exit("union takes two inputs, one for each database")
    with open(options.work / "setup.txt", "w") as log:
        for name, path in zip("ab", options.paths):
            (options.work / "out_tmp").mkdir(exist_ok=True)
            subprocess.run(gyrase_count(options, [path], f"{name}.gyk"), cwd=options.work, stderr=log, check=True)
            subprocess.run(kmc_count(options, [path], name, []), cwd=options.work, stdout=log, stderr=log, check=True)
    threads = ["--threads", str(options.threads)]
    ours = [options.gyrase, "--quiet", *threads, "kmers", "union", "a.gyk", "b.gyk", "-o", "out.gyk"]
    inputs = ["simple", "a", "-ci1", "b", "-ci1"]
    theirs = ["kmc_tools", f"-t{options.threads}", *inputs, "union", "out", "-ci1", "-cs4294967295"]
    return [Run("gyrase kmers union", [ours], gyrase_dump(options)), Run("kmc_tools union", [theirs], kmc_dump())]


WORK = {"count": count_runs, "memory": memory_runs, "growth": growth_runs, "union": union_runs}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gyrase", default="target/release/gyrase", help="the program to measure")
    parser.add_argument("what", choices=WORK)
    parser.add_argument("-k", type=int, default=31)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=2, help="runs of each program (default 2)")
    parser.add_argument("--rivals", default="kmc", type=lambda text: text.split(","), help="kmc,jellyfish")
    parser.add_argument("--limit", default="512M", help="--memory of the limited run")
    parser.add_argument("--folder", default="bench/out", help="where outputs and temporary files go")
    parser.add_argument("--no-check", action="store_true", help="do not compare the results")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    options.gyrase = os.path.abspath(options.gyrase)
    options.paths = [os.path.abspath(path) for path in options.paths]
    return options


def report(options, runs):
    size = sum(os.path.getsize(path) for path in options.paths)
    names = " ".join(os.path.basename(path) for path in options.paths[:2]) + (" ..." if len(options.paths) > 2 else "")
    print(f"\n### {options.what}, k = {options.k}, {options.threads} threads: {names} ({size / 1e6:,.0f} MB)\n")
    print("| program | wall s: best (all) | CPU s | peak memory MB | times our time |\n|---|---|--:|--:|--:|")
    for run in runs:
        print(run.row(runs[0]))
    digests = {run.digest for run in runs if run.digest}
    if digests:
        print(f"\nResults {'equal' if len(digests) == 1 else 'DIFFER'}: {', '.join(sorted(digests))}")
    return len(digests) <= 1


def main():
    options = arguments()
    Path(options.folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder, ignore_cleanup_errors=True) as folder:
        options.work = Path(folder).resolve()
        runs = WORK[options.what](options)
        interleave(runs, options, options.work)
        sys.exit(0 if report(options, runs) else 1)


if __name__ == "__main__":
    main()
