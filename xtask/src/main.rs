//! What CI and CONTRIBUTING call.

fn main() {}
