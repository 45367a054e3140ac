//! Fabrics of one process and of many, and who takes which partition.

mod local;
mod stealing;
mod worlds;
