//! Counting, compared with a naive counter: odd and random inputs, every setting, out of core, cut
//! short and resumed.

// Helpers of tests are tests.
#![allow(clippy::unwrap_used)]

mod corpus;
mod failing;
mod naive;
#[path = "../../../fastx/tests/reading/oracle.rs"]
mod parser;
mod ranks;
mod resuming;
mod runs;
mod sameness;
mod shapes;
mod skewed;
mod spilling;
