//! Counting k-mers, and what is done with the counts
