//! Which arguments of `gyrase classify` exclude each other.

/// The arguments that name the reads and outputs of one sample.
pub const ONE_SAMPLE: [&str; 18] = [
    "reads",
    "mates",
    "candidates",
    "merge",
    "output",
    "extract",
    "classified_out",
    "unclassified_out",
    "coverage_plots",
    "kreport",
    "kreport_evidence",
    "evidence",
    "mpa",
    "cami",
    "taxpasta",
    "html",
    "bracken",
    "abundance_out",
];

/// Those of them that are made of answers.
pub const OF_ANSWERS: &[&str] = ONE_SAMPLE.split_at(4).1;

/// The arguments that name reads and what they are compared with, or take records.
pub const OF_READS: [&str; 11] = [
    "reads",
    "mates",
    "interleaved",
    "db",
    "refs",
    "taxonomy",
    "map",
    "candidates",
    "extract",
    "classified_out",
    "unclassified_out",
];
