//! Which files hold the reads, and which reads are mates.

use std::path::PathBuf;

use clap::Args;
use gyrase_assemble::Library;

use crate::failure::{Failure, Result};

/// Files of reads.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct Libraries {
    /// FASTQ or FASTA, plain or compressed (gz, bgz, zst, bz2, xz): one file of reads without
    /// mates, or two, of first and of second mates
    #[arg(value_name = "READS", num_args = 1..=2)]
    reads: Vec<PathBuf>,

    /// Files of first mates, in the order of -2
    #[arg(short = '1', long = "first", value_name = "FILE", num_args = 1..)]
    first: Vec<PathBuf>,

    /// Files of second mates, in the order of -1
    #[arg(short = '2', long = "second", value_name = "FILE", num_args = 1..)]
    second: Vec<PathBuf>,

    /// Files in which each read is followed by its mate
    #[arg(long, value_name = "FILE", num_args = 1..)]
    interleaved: Vec<PathBuf>,

    /// Files of reads without mates
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    single: Vec<PathBuf>,
}

impl Libraries {
    /// What is read, in a definite order.
    pub fn read(&self) -> Result<Vec<Library>> {
        if self.first.len() != self.second.len() {
            return Err(Failure::usage(format!(
                "-1 names {} and -2 {}: each file of first mates has one of second mates",
                count(self.first.len()),
                count(self.second.len())
            )));
        }
        if self.files().iter().any(|file| file.as_os_str() == "-") {
            return Err(Failure::usage(
                "reads are read twice, and a pipe can be read once; give a file",
            ));
        }
        let mut libraries: Vec<Library> = match self.reads.as_slice() {
            [one, other] => vec![Library::Paired(one.clone(), other.clone())],
            [one] => vec![Library::Single(one.clone())],
            _ => Vec::new(),
        };
        let pairs = self.first.iter().zip(&self.second);
        libraries.extend(pairs.map(|(one, two)| Library::Paired(one.clone(), two.clone())));
        libraries.extend(self.interleaved.iter().cloned().map(Library::Interleaved));
        libraries.extend(self.single.iter().cloned().map(Library::Single));
        Ok(libraries)
    }

    /// All files.
    pub fn files(&self) -> Vec<PathBuf> {
        let all = [
            &self.reads,
            &self.first,
            &self.second,
            &self.interleaved,
            &self.single,
        ];
        all.into_iter().flatten().cloned().collect()
    }
}

fn count(files: usize) -> String {
    gyrase_picture::words::things(files as u64, "file")
}
