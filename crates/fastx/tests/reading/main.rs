//! Reading odd, random, damaged and large inputs in every way, compared with a naive parser.

mod corpus;
mod damage;
mod harness;
mod oracle;
mod random;
mod ways;
