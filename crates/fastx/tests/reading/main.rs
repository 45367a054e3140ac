//! Reading odd, random, damaged and large inputs in every way, compared with a naive parser.

// Helpers of tests are tests.
#![allow(clippy::unwrap_used)]

mod chunks;
mod corpus;
mod damage;
mod harness;
mod oracle;
mod random;
mod shares;
mod ways;
