//! The trunk: reads to keyed records to partitions to one reduced table per partition
