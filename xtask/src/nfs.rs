//! Jobs of two hosts that write one output on NFS, in a user-mode kernel with a server of its own.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Result, hosts, packages, steps};

/// Programs, and the packages of Debian's family that have them.
const PROGRAMS: [(&str, &str); 7] = [
    ("linux.uml", "user-mode-linux"),
    ("rpc.nfsd", "nfs-kernel-server"),
    ("mount.nfs", "nfs-common"),
    ("rpcbind", "rpcbind"),
    ("modprobe", "kmod"),
    ("ip", "iproute2"),
    ("python3", "python3"),
];

/// What the kernel runs, as its first process.
const SCRIPT: &str = include_str!("nfs.sh");
/// The line that the script ends with when all is right.
const RIGHT: &str = "every job wrote the bytes of one process";
/// Memory that the kernel may take, and seconds.
const MEMORY: &str = "mem=6G";
const PATIENCE: &str = "3600";

/// Runs all jobs with each of the MPIs, whose names have commas between them; their outputs must be
/// those of one process.
pub fn run(mpis: &str) -> Result<()> {
    println!("== NFS, two hosts in a user-mode kernel");
    if !missing().is_empty() {
        packages::install(&missing(), "NFS");
    }
    let missing = missing();
    if !missing.is_empty() || mpis.is_empty() {
        let wanted = if missing.is_empty() {
            "an MPI".into()
        } else {
            missing.join(" ")
        };
        println!("NFS is skipped: it wants {wanted}");
        return Ok(());
    }
    steps::succeed(steps::cargo(&["build", "--package", "gyrase"]), "build")?;
    let site = Site {
        folder: steps::target().join("mpi-nfs"),
        gyrase: steps::target().join("debug/gyrase"),
    };
    site.prepare(mpis)?;
    site.boot(mpis)
}

/// The packages whose programs are not there. Those of an administrator may not be on the path.
fn missing() -> Vec<&'static str> {
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(Path::new);
    let is_there = |program| folders.iter().any(|folder| folder.join(program).exists());
    let missing = PROGRAMS.iter().filter(|(program, _)| !is_there(program));
    missing.map(|(_, package)| *package).collect()
}

/// Where all of it happens.
struct Site {
    folder: PathBuf,
    gyrase: PathBuf,
}

impl Site {
    /// Makes the scripts, a shim for each MPI, inputs, and what one process makes.
    fn prepare(&self, mpis: &str) -> Result<()> {
        let wrong = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        fs::create_dir_all(&self.folder).map_err(wrong)?;
        for (name, text) in [("nfs.sh", SCRIPT), ("hosts.sh", hosts::HOSTS)] {
            let script = self.folder.join(name);
            fs::write(&script, text).map_err(wrong)?;
            fs::set_permissions(&script, Permissions::from_mode(0o755)).map_err(wrong)?;
        }
        for mpi in mpis.split(',') {
            let mut setup = self.gyrase(&format!("mpi-setup --mpicc mpicc.{mpi}"));
            setup.env("GYRASE_MPI_DIR", self.folder.join(format!("shim-{mpi}")));
            steps::succeed(setup, &format!("mpi-setup, {mpi}"))?;
        }
        for words in [
            "simulate genome -q -o g.fa --length 300000",
            "simulate reads -q g.fa -o reads.fq --coverage 5",
            "simulate community -q -o r_1.fq --out2 r_2.fq --truth truth --abundances abundances \
             --genomes-out genomes.fa --genome-length 100000 --coverage 1",
        ] {
            steps::succeed(self.gyrase(words), words)?;
        }
        for (input, output, make) in [
            ("g.fa", "heavy.fa", heavy as fn(&str) -> String),
            ("genomes.fa", "taxa.tsv", taxa),
        ] {
            let text = fs::read_to_string(self.folder.join(input)).map_err(wrong)?;
            fs::write(self.folder.join(output), make(&text)).map_err(wrong)?;
        }
        for words in [
            "count -q -k 63 reads.fq heavy.fa -o alone.gyk",
            "db build -q genomes.fa --taxonomy taxa.tsv -o alone.gydb",
        ] {
            steps::succeed(self.gyrase(words), words)?;
        }
        Ok(())
    }

    /// The program in the folder, with these words as arguments.
    fn gyrase(&self, words: &str) -> Command {
        let mut command = Command::new(&self.gyrase);
        command
            .args(words.split_whitespace())
            .current_dir(&self.folder);
        command
    }

    /// Runs the kernel to its end, which must be a good one.
    fn boot(&self, mpis: &str) -> Result<()> {
        let log = self.folder.join("kernel.log");
        let wrong = |error: std::io::Error| format!("linux.uml: {error}");
        let folder = self.folder.display();
        let mut kernel = Command::new("timeout");
        kernel
            .args([PATIENCE, "linux.uml", MEMORY, "quiet", "ro"])
            .args(["root=/dev/root", "rootfstype=hostfs", "rootflags=/"])
            .args(["con=null", "con0=null,fd:1"])
            .arg(format!("init={folder}/nfs.sh"))
            .arg(format!("FOLDER={folder}"))
            .arg(format!("GYRASE={}", self.gyrase.display()))
            .arg(format!("MPIS={mpis}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).map_err(wrong)?);
        let mut child = kernel.spawn().map_err(wrong)?;
        let stdout = child.stdout.take().ok_or("linux.uml has no output")?;
        let mut right = false;
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(wrong)?;
            println!("{}", line.trim_end());
            right |= line.trim_end() == RIGHT;
        }
        child.wait().map_err(wrong)?;
        let advice = format!("the lines above and {} say why", log.display());
        right
            .then_some(())
            .ok_or(format!("NFS: not every job was right; {advice}"))
    }
}

/// Sequences in which a line of the genome comes again and again, so that its minimizers have bins
/// of many blocks: ranks write these, whereas rank 0 writes the blocks that many bins share.
fn heavy(genome: &str) -> String {
    let lines: Vec<&str> = genome.lines().skip(1).collect();
    let sequence = |lines: &[&str]| {
        let motif = lines[0];
        let letters: String = lines.iter().map(|line| format!("{motif}{line}")).collect();
        format!(">{motif}\n{letters}\n")
    };
    lines.chunks(250).map(sequence).collect()
}

/// A lineage for each of the genomes, whose names begin with their species.
fn taxa(genomes: &str) -> String {
    let names = genomes.lines().filter_map(|line| line.strip_prefix('>'));
    let lineage = |name: &str| {
        let species = name.get(..8).unwrap_or(name);
        format!("{name}\td__Bacteria;p__P;c__C;o__O;f__F;g__G;s__{species}\n")
    };
    names.map(lineage).collect()
}
