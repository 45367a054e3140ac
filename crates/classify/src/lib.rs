//! Classifying reads by the references that their sketches share windows with

pub mod abundance;
pub mod report;
pub mod tally;
pub mod taxonomy;
