//! Classifying reads by the references that their sketches share windows with

pub mod taxonomy;
