//! What a service and a worker say to each other.
//!
//! ```text
//!  GYRW   length of the head, 4 bytes   length of the body, 8   head: JSON   body
//! ```

use std::io::{self, ErrorKind, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const MAGIC: [u8; 4] = *b"GYRW";
/// Bytes of a head, and of a body, at most.
const MOST: (u32, u64) = (16 << 20, 16 << 30);

/// What a service says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// To search; the body are files of queries, one behind the other.
    Search(Search),
    /// To stop that.
    Cancel { task: u64 },
}

/// A search in a share of a database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    pub task: u64,
    pub database: String,
    /// Words of the command line.
    pub options: Vec<String>,
    /// Which share, of how many.
    pub share: [usize; 2],
    /// Bytes of each file of queries.
    pub files: Vec<usize>,
}

/// What a worker says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Word {
    /// It can search. What it has of each database must be what the service has.
    Ready {
        version: String,
        digests: Vec<(String, [u64; 4])>,
    },
    /// The body is what was found in a fragment.
    Found { task: u64 },
    /// Nothing more was found. So many bytes of fragments were read for this.
    Done { task: u64, read: u64 },
    /// Nothing can be found, or nobody wants it any more.
    Failed {
        task: u64,
        problem: String,
        cancelled: bool,
    },
}

/// Says something.
///
/// # Errors
/// The other end is gone.
pub fn say(to: &mut impl Write, head: &impl Serialize, body: &[u8]) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    to.write_all(&MAGIC)?;
    to.write_all(&(head.len() as u32).to_le_bytes())?;
    to.write_all(&(body.len() as u64).to_le_bytes())?;
    to.write_all(&head)?;
    to.write_all(body)?;
    to.flush()
}

/// What is said next; nothing at the end.
///
/// # Errors
/// The other end says what nobody understands, or ended within a sentence.
pub fn hear<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<(T, Vec<u8>)>> {
    let mut start = [0; 16];
    match from.read(&mut start[..1])? {
        0 => return Ok(None),
        _ => from.read_exact(&mut start[1..])?,
    }
    let [magic, head] = [0, 4].map(|at| [0, 1, 2, 3].map(|byte| start[at + byte]));
    let head = u32::from_le_bytes(head);
    let body = u64::from_le_bytes([8, 9, 10, 11, 12, 13, 14, 15].map(|byte| start[byte]));
    if magic != MAGIC || head > MOST.0 || body > MOST.1 {
        let shown = String::from_utf8_lossy(&start);
        let problem = format!("it says {shown:?}, which no worker says");
        return Err(io::Error::new(ErrorKind::InvalidData, problem));
    }
    let head = serde_json::from_slice(&read(from, head.into())?)?;
    Ok(Some((head, read(from, body)?)))
}

/// So many bytes, for which no memory is taken before they come.
fn read(from: &mut impl Read, bytes: u64) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    from.take(bytes).read_to_end(&mut read)?;
    match read.len() as u64 == bytes {
        true => Ok(read),
        false => Err(ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_and_nothing_else_is() {
        let order = |task| {
            Order::Search(Search {
                task,
                database: "nt".into(),
                options: vec!["--top=5".into()],
                share: [1, 4],
                files: vec![2, 3],
            })
        };
        let mut said = Vec::new();
        say(&mut said, &order(7), b"abcde").unwrap();
        say(&mut said, &Order::Cancel { task: 7 }, b"").unwrap();
        let mut hearing = &said[..];
        let heard = hear::<Order>(&mut hearing).unwrap().unwrap();
        assert_eq!(heard, (order(7), b"abcde".to_vec()));
        let heard = hear::<Order>(&mut hearing).unwrap().unwrap();
        assert_eq!(heard, (Order::Cancel { task: 7 }, Vec::new()));
        assert!(hear::<Order>(&mut hearing).unwrap().is_none());
        for length in 1..said.len() - 60 {
            assert!(hear::<Order>(&mut &said[..length]).is_err(), "{length}");
        }
        let banner = b"Last login: Wed Nov 25 on tty1".to_vec();
        let error = hear::<Word>(&mut &banner[..]).unwrap_err();
        assert!(error.to_string().contains("Last login"), "{error}");
        let mut endless = MAGIC.to_vec();
        endless.extend([0xff; 12]);
        assert!(hear::<Word>(&mut &endless[..]).is_err());
    }
}
