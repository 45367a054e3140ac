//! What a build found of an earlier one.

/// What an earlier run left for the same database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Earlier {
    /// Nothing that was asked for.
    #[default]
    Nothing,
    /// All that it had read: this run went on from there.
    TakenUp,
    /// What it had read of other references, or with other parameters: this run began anew.
    OfAnother,
}
