//! What was found for a batch of queries, as processes tell each other and keep it.

/// What was found for a batch of queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Queries with a hit.
    pub with_hits: u64,
    /// Subjects of all queries.
    pub hits: u64,
    /// Their part of the report.
    pub text: Vec<u8>,
}

impl Found {
    /// As one process tells another: the text, then both numbers.
    pub(crate) fn into_message(self) -> Vec<u8> {
        let mut bytes = self.text;
        let numbers = [self.with_hits, self.hits].map(u64::to_le_bytes);
        bytes.extend(numbers.as_flattened());
        bytes
    }

    /// What [`Found::into_message`] made.
    pub(crate) fn of_message(mut bytes: Vec<u8>) -> Found {
        let numbers = bytes.split_off(bytes.len() - 16);
        let number = |at: usize| {
            let bytes = numbers[at..at + 8].try_into();
            u64::from_le_bytes(bytes.expect("a number in eight bytes"))
        };
        Found {
            with_hits: number(0),
            hits: number(8),
            text: bytes,
        }
    }
}
