//! What somebody sends, as queries: any compression, FASTA or FASTQ, or bare letters.

use std::fs;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

use gyrase_search::Molecule;
use gyrase_seqdb::{SeqDbError, open_all};

use crate::config::ServiceLimits;
use crate::job::new_id;

/// Bytes of titles and ends of lines beside letters.
const BESIDE: u64 = 1 << 20;
/// What bare letters are called.
const NAME: &[u8] = b">Query_1\n";

/// Queries that can be searched for.
#[derive(Debug, PartialEq, Eq)]
pub struct Queries {
    /// As FASTA: a line of letters for each.
    pub fasta: Vec<u8>,
    /// How many.
    pub count: u64,
    /// Letters of all.
    pub letters: u64,
    /// What they are.
    pub molecule: Molecule,
    /// The title of the first.
    pub first: String,
}

/// Why there are no queries.
#[derive(Debug)]
pub enum NoQueries {
    /// What was sent is too much, damaged, or holds no sequences: for who sent it.
    Unfit(String),
    /// The disk fails.
    System(io::Error),
}

impl From<String> for NoQueries {
    fn from(message: String) -> NoQueries {
        NoQueries::Unfit(message)
    }
}

impl From<io::Error> for NoQueries {
    fn from(error: io::Error) -> NoQueries {
        NoQueries::System(error)
    }
}

/// Reads what somebody sent, by a file in a folder.
///
/// # Errors
/// See [`NoQueries`].
pub fn queries(sent: Vec<u8>, limits: &ServiceLimits, folder: &Path) -> Result<Queries, NoQueries> {
    let text = decompressed(sent, limits)?;
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(start) = start else {
        let message = "there are no queries: paste sequences, or choose a file";
        return Err(message.to_string().into());
    };
    let text = match text[start] {
        b'>' | b'@' | b';' => text,
        _ => [NAME, &text].concat(),
    };
    let path = folder.join(format!("{}.sent", new_id().map_err(io::Error::from)?));
    fs::write(&path, text)?;
    let read = read(&path, limits);
    let _ = fs::remove_file(&path);
    Ok(read?)
}

/// The text, of which no more is made than is taken: a small file can be the start of a large one.
fn decompressed(sent: Vec<u8>, limits: &ServiceLimits) -> Result<Vec<u8>, String> {
    let most = 2 * limits.letters + BESIDE;
    let damaged = |error: io::Error| match error.kind() {
        ErrorKind::UnexpectedEof => "the compressed file is cut short: send it again".to_string(),
        _ => format!("the compressed file is damaged: {error}"),
    };
    let text = gyrase_fastx::decompress(Cursor::new(sent)).map_err(damaged)?;
    let mut all = Vec::new();
    text.take(most + 1).read_to_end(&mut all).map_err(damaged)?;
    match all.len() as u64 > most {
        true => Err(too_much(limits)),
        false => Ok(all),
    }
}

fn too_much(limits: &ServiceLimits) -> String {
    let (letters, queries) = (limits.letters, limits.queries);
    format!("a job has at most {letters} letters and {queries} queries: divide it")
}

/// Why reading stopped.
enum Stopped {
    Input(SeqDbError),
    TooMuch,
}

impl From<SeqDbError> for Stopped {
    fn from(error: SeqDbError) -> Stopped {
        Stopped::Input(error)
    }
}

fn read(path: &Path, limits: &ServiceLimits) -> Result<Queries, String> {
    let mut queries = Queries {
        fasta: Vec::new(),
        count: 0,
        letters: 0,
        molecule: Molecule::Protein,
        first: String::new(),
    };
    let mut counts = [0; 256];
    let named = |error: SeqDbError| {
        let path = path.display().to_string();
        error.to_string().replace(&path, "your queries")
    };
    for source in open_all(&[path.to_path_buf()]).map_err(named)? {
        let read = source.each(|entry, _| {
            queries.count += 1;
            queries.letters += entry.letters.len() as u64;
            if queries.count > limits.queries || queries.letters > limits.letters {
                return Err(Stopped::TooMuch);
            }
            if queries.count == 1 {
                queries.first = String::from_utf8_lossy(entry.title).into_owned();
            }
            entry
                .letters
                .iter()
                .for_each(|&letter| counts[usize::from(letter.to_ascii_uppercase())] += 1);
            let lines: [&[u8]; 5] = [b">", entry.title, b"\n", entry.letters, b"\n"];
            lines
                .iter()
                .for_each(|line| queries.fasta.extend_from_slice(line));
            Ok(())
        });
        match read {
            Ok(()) => {}
            Err(Stopped::TooMuch) => return Err(too_much(limits)),
            Err(Stopped::Input(error)) => return Err(named(error)),
        }
    }
    if queries.count == 0 {
        return Err("there are no queries in what you sent".into());
    }
    queries.molecule = Molecule::of_counts(&counts);
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &[u8]) -> Result<Queries, NoQueries> {
        let folder = tempfile::tempdir().unwrap();
        let limits = ServiceLimits {
            letters: 1000,
            queries: 2,
            ..ServiceLimits::default()
        };
        let read = queries(text.to_vec(), &limits, folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        if let Err(NoQueries::Unfit(refused)) = &read {
            let place = folder.path().display().to_string();
            assert!(!refused.contains(&place), "{refused}");
        }
        read
    }

    #[test]
    fn fasta_fastq_and_bare_letters_are_queries() {
        let bare = sent(b"\n MKVLAW\nYGDERT\n").unwrap();
        assert_eq!(bare.fasta, b">Query_1\nMKVLAWYGDERT\n");
        assert_eq!((bare.count, bare.letters), (1, 12));
        assert_eq!(bare.molecule, Molecule::Protein);
        let fastq = sent(b"@r 1\nACGTACGTacgt\n+\nIIIIIIIIIIII\n").unwrap();
        assert_eq!(fastq.fasta, b">r 1\nACGTACGTacgt\n");
        assert_eq!(
            (fastq.molecule, fastq.first),
            (Molecule::Nucleotide, "r 1".into())
        );
    }

    #[test]
    fn what_is_too_much_or_nothing_is_refused() {
        for (text, wrong) in [
            (&b" \n"[..], "there are no queries"),
            (
                b">a\nA\n>b\nC\n>c\nG\n",
                "at most 1000 letters and 2 queries",
            ),
            (&[b'A'; 1001], "at most 1000 letters"),
            (&vec![b'A'; 2 << 20], "at most 1000 letters"),
            (&[0x1f, 0x8b, 8, 0, 0], "cut short"),
        ] {
            let Err(NoQueries::Unfit(refused)) = sent(text) else {
                panic!("{wrong}");
            };
            assert!(refused.contains(wrong), "{refused}");
        }
    }
}
