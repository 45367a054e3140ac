//! The command line of Gyrase.

fn main() {}
