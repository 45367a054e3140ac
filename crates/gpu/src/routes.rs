//! What devices send each other.

/// Bytes that go from the buffer of a device to that of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuTransfer {
    /// The device that has them, by its place in the group.
    pub from: usize,
    /// The device that gets them.
    pub to: usize,
    /// Where they are in the one buffer.
    pub from_byte: u64,
    /// Where they go in the other.
    pub to_byte: u64,
    /// How many they are.
    pub bytes: u64,
    /// The transfer that brings them, which stands before this one; nothing where they are there at
    /// first.
    pub after: Option<usize>,
}
