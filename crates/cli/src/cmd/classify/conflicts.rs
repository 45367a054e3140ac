//! Which arguments of `gyrase classify` exclude each other.

/// The arguments that name the reads and outputs of one sample.
pub const ONE_SAMPLE: [&str; 19] = [
    "reads",
    "mates",
    "candidates",
    "merge",
    "answers",
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
pub const OF_ANSWERS: &[&str] = ONE_SAMPLE.split_at(5).1;

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

/// The arguments that need the reads or what was found of them, more than their answers.
pub const OF_READS_ALONE: [&str; 17] = [
    "reads",
    "mates",
    "interleaved",
    "refs",
    "candidates",
    "merge",
    "min_hits",
    "with_confidence",
    "locations",
    "extract",
    "classified_out",
    "unclassified_out",
    "coverage_plots",
    "drop_least_covered",
    "evidence",
    "kreport_evidence",
    "samples",
];
