//! Classification through the library: from references and reads to answers and reports.

mod abundance;
mod answers;
mod edit;
mod page;
mod parts;
mod pipeline;
mod ranks;
mod reports;
mod sample;
mod thresholds;
