//! Numbers in bytes, for what travels between the processes of a job. Little-endian throughout.

/// Appends the length of a section (u64) and its bytes.
pub(crate) fn put_section(to: &mut Vec<u8>, section: &[u8]) {
    to.extend((section.len() as u64).to_le_bytes());
    to.extend(section);
}

/// Appends 1 and the number, or 0.
pub(crate) fn put_option(to: &mut Vec<u8>, number: Option<u64>) {
    to.push(u8::from(number.is_some()));
    to.extend(number.into_iter().flat_map(u64::to_le_bytes));
}

/// Takes numbers off the front of bytes; nothing where they end too early.
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader(bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let bytes = self.0.split_off(..4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        let bytes = self.0.split_off(..8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// What [`put_option`] wrote.
    pub(crate) fn option(&mut self) -> Option<Option<u64>> {
        match self.0.split_off_first()? {
            0 => Some(None),
            1 => self.u64().map(Some),
            _ => None,
        }
    }

    /// What [`put_section`] wrote.
    pub(crate) fn section(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.u64()?).ok()?;
        self.0.split_off(..length)
    }

    /// True when nothing is left.
    pub(crate) fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}
