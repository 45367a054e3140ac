//! What somebody sends, as queries: any compression, FASTA or FASTQ, or bare letters.

use std::io::{self, Cursor, ErrorKind, Read};

use gyrase_search::Molecule;
use gyrase_seqdb::{SeqDbError, SequenceSource};

use crate::config::ServiceLimits;

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

/// Reads what somebody sent.
///
/// # Errors
/// It is too much, damaged, or holds no sequences: in words for who sent it.
pub fn queries(sent: Vec<u8>, limits: &ServiceLimits) -> Result<Queries, String> {
    let text = decompressed(sent, limits)?;
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(start) = start else {
        let message = "there are no queries: paste sequences, or choose a file";
        return Err(message.into());
    };
    let text = match text[start] {
        b'>' | b'@' | b';' => text,
        _ => [NAME, &text].concat(),
    };
    read(text, limits)
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

fn read(text: Vec<u8>, limits: &ServiceLimits) -> Result<Queries, String> {
    let mut queries = Queries {
        fasta: Vec::new(),
        count: 0,
        letters: 0,
        molecule: Molecule::Protein,
        first: String::new(),
    };
    let mut counts = [0; 256];
    let source = SequenceSource::Text("your queries".into(), text.into());
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
        Err(Stopped::Input(error)) => return Err(error.to_string()),
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

    fn sent(text: &[u8]) -> Result<Queries, String> {
        let limits = ServiceLimits {
            letters: 1000,
            queries: 2,
            ..ServiceLimits::default()
        };
        queries(text.to_vec(), &limits)
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
            let refused = sent(text).unwrap_err();
            assert!(refused.contains(wrong), "{refused}");
            assert!(!refused.contains("/tmp"), "{refused}");
        }
    }
}
