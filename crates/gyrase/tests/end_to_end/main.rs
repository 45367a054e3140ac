//! The program as a user runs it: every verb, every exit code, and what must never be left behind.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod assemble;
mod classify;
mod databases;
mod doctor;
mod examples;
mod extras;
mod failures;
mod fetch;
mod gossip;
mod gpu;
mod graph;
mod group;
mod help;
mod howto;
mod index;
mod lab;
mod limits;
mod parts;
mod place;
mod recipes;
mod sameness;
mod samples;
mod search;
mod send;
mod serve;
mod serve_reads;
mod served_options;
mod service;
mod skewed;
mod spectrum;
mod stops;
mod suffix;
mod told;
mod trace;
#[path = "../../../gpu/tests/twin/mod.rs"]
mod twin;
mod unitigs;
mod verbs;
