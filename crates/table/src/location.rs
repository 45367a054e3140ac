//! Where features occur in references.

/// A window of the references by its number, counted from 0 through all targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Location(pub u32);

impl Location {
    /// Its number once so many other windows come before all of its references.
    #[inline(always)]
    pub const fn behind(self, others: u32) -> Location {
        Location(self.0 + others)
    }
}
