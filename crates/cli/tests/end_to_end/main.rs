//! The program as a user runs it: every verb, every exit code, and what must never be left behind.

mod failures;
mod limits;
mod place;
mod sameness;
mod stops;
mod verbs;
