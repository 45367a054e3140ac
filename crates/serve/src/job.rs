//! A job: what somebody asked for, and what has become of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// Letters of an identifier: 36^27 is more than 2^139, so that nobody guesses one.
const LETTERS: usize = 27;
const ALPHABET: &[u8; 36] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// A new identifier, which nobody can guess.
///
/// # Errors
/// The system has no random numbers.
pub fn new_id() -> Result<String, getrandom::Error> {
    let mut id = String::with_capacity(LETTERS);
    let mut bytes = [0; 64];
    while id.len() < LETTERS {
        getrandom::fill(&mut bytes)?;
        // Of 256 values 252 are seven times the alphabet: each letter is as likely as any other.
        let fair = bytes.iter().filter(|&&byte| byte < 252);
        let letters = fair.map(|byte| char::from(ALPHABET[usize::from(byte % 36)]));
        id.extend(letters.take(LETTERS - id.len()));
    }
    Ok(id)
}

/// Whether a text has the form of an identifier.
pub fn is_id(text: &str) -> bool {
    text.len() == LETTERS && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs() as i64
}

/// What is done for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// Its queries are searched for.
    Search,
    /// Its reads are classified.
    Classify,
    /// The k-mers of its sequences are looked up.
    Kmers,
}

impl JobKind {
    /// All kinds.
    pub const ALL: [JobKind; 3] = [JobKind::Search, JobKind::Classify, JobKind::Kmers];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            JobKind::Search => "search",
            JobKind::Classify => "classify",
            JobKind::Kmers => "kmers",
        }
    }

    /// The kind of a name.
    pub fn named(name: &str) -> Option<JobKind> {
        JobKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What has become of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It waits.
    Queued,
    /// It runs.
    Running,
    /// It has a result.
    Done,
    /// It has none, and never will.
    Failed,
}

impl State {
    /// All states.
    pub const ALL: [State; 4] = [State::Queued, State::Running, State::Done, State::Failed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
        }
    }

    /// The state of a name.
    pub fn named(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing will change any more.
    pub fn has_ended(self) -> bool {
        matches!(self, State::Done | State::Failed)
    }
}

/// What somebody asks for.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Of [`new_id`].
    pub id: String,
    /// What is to be done.
    pub kind: JobKind,
    /// The name of a database.
    pub database: String,
    /// Words of the command line, with the program of a search among them.
    pub options: Vec<String>,
    /// What people call it.
    pub title: String,
    /// Who asks.
    pub client: String,
    /// FASTA as text; nothing where files were sent.
    pub fasta: Vec<u8>,
    /// Sequences in it.
    pub queries: u64,
    /// Letters of them, or bytes of files.
    pub letters: u64,
    /// The URL to which is told that it ended.
    pub webhook: Option<String>,
}

/// What has become of a webhook: of telling a URL that a job ended. The URL is told to nobody,
/// since it may hold what only its owner should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Webhook {
    /// Whether it was taken.
    pub state: WebhookState,
    /// How often it was sent.
    pub attempts: u64,
    /// Why it was not taken when it was last sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Whether a webhook was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookState {
    /// For the end of its job, or to be sent again.
    Waiting,
    /// It was.
    Delivered,
    /// It was not, and is sent no more.
    Failed,
}

/// A job that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// By which people know it.
    pub id: String,
    /// Jobs are done in the order of their numbers.
    pub number: i64,
    /// What is done for it.
    pub kind: JobKind,
    /// What has become of it.
    pub state: State,
    /// The name of the database.
    pub database: String,
    /// Words of the command line.
    pub options: Vec<String>,
    /// What people call it.
    pub title: String,
    /// Queries; reads or sequences, once they were read.
    pub queries: u64,
    /// Letters of them, or bytes of files.
    pub letters: u64,
    /// When it was accepted, in seconds since 1970.
    pub submitted: i64,
    /// When it last began to run.
    pub started: Option<i64>,
    /// When it ended.
    pub finished: Option<i64>,
    /// How often it began.
    pub attempts: u64,
    /// Subjects of all queries; taxa with reads; k-mers that are there.
    pub hits: u64,
    /// Queries with a hit; reads with a taxon; k-mers in all.
    pub with_hits: u64,
    /// Why it failed.
    pub problem: Option<String>,
    /// What has become of its webhook, if it has one.
    pub webhook: Option<Webhook>,
}

impl Job {
    /// The value of an option, without its dashes.
    pub fn option(&self, name: &str) -> Option<&str> {
        let value = |word: &'_ String| {
            let rest = word.strip_prefix("--")?.strip_prefix(name)?;
            rest.strip_prefix('=').map(|value| value.len())
        };
        let (word, length) = self
            .options
            .iter()
            .find_map(|word| Some((word, value(word)?)))?;
        Some(&word[word.len() - length..])
    }

    /// Whether an option without a value was chosen, without its dashes.
    pub fn has_flag(&self, name: &str) -> bool {
        let own = |word: &String| word.strip_prefix("--") == Some(name);
        self.options.iter().any(own)
    }

    /// The command that does the same.
    pub fn command(&self) -> String {
        let database = &self.database;
        let mut command = match self.kind {
            JobKind::Search => format!("gyrase search queries.fa --db {database}"),
            JobKind::Classify => format!("gyrase classify reads.fq --db {database}"),
            JobKind::Kmers => format!("gyrase kmers query {database} --reads reads.fa"),
        };
        for word in &self.options {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.,+=".contains(&byte);
            match word.bytes().all(plain) {
                true => command.push_str(&format!(" {word}")),
                false => command.push_str(&format!(" '{word}'")),
            }
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_of_27_letters_and_differ() {
        let [one, other] = [(); 2].map(|()| new_id().unwrap());
        assert!(is_id(&one) && is_id(&other));
        assert_ne!(one, other);
        assert!(!is_id(&one[1..]) && !is_id(&format!("{}/", &one[1..])));
    }
}
