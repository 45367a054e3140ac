use super::*;

#[test]
fn x() {}
