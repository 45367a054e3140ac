//! What the doctor finds.

use crate::failure::Code;

/// What was found out about one thing.
#[derive(Debug)]
pub struct Finding {
    /// The thing.
    pub topic: &'static str,
    /// How it is.
    pub state: State,
    /// What there is, what it means, what to do.
    pub sentence: String,
}

/// How a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Fine,
    /// Some runs will be slower, or fail.
    Warning,
    /// Runs of this kind will fail, with this exit code.
    Broken(Code),
}

impl State {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            State::Fine => "ok",
            State::Warning => "warning",
            State::Broken(_) => "broken",
        }
    }
}

impl Finding {
    /// All is well with `topic`.
    pub fn fine(topic: &'static str, sentence: impl Into<String>) -> Finding {
        Finding {
            topic,
            state: State::Fine,
            sentence: sentence.into(),
        }
    }

    /// Some runs will be slower, or fail, by `topic`.
    pub fn warning(topic: &'static str, sentence: impl Into<String>) -> Finding {
        Finding {
            topic,
            state: State::Warning,
            sentence: sentence.into(),
        }
    }

    /// Runs will fail by `topic`, with this exit code.
    pub fn broken(topic: &'static str, code: Code, sentence: impl Into<String>) -> Finding {
        Finding {
            topic,
            state: State::Broken(code),
            sentence: sentence.into(),
        }
    }
}
