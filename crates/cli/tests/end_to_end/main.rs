//! The program as a user runs it: every verb, every exit code, and what must never be left behind.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod classify;
mod databases;
mod doctor;
mod extras;
mod failures;
mod group;
mod limits;
mod parts;
mod place;
mod sameness;
mod samples;
mod skewed;
mod stops;
mod trace;
mod verbs;
