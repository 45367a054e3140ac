//! BLAST's command lines, as `gyrase search` understands them:
//! `gyrase blastp -query q.faa -db refs -evalue 1e-5` is
//! `gyrase search q.faa --program blastp --format 0 --db refs --evalue 1e-5`.

use std::ffi::OsString;
use std::iter::Peekable;

/// BLAST's programs, and what they do without `-task`.
const PROGRAMS: [(&str, &str); 5] = [
    ("blastn", "megablast"),
    ("blastp", "blastp"),
    ("blastx", "blastx"),
    ("tblastn", "tblastn"),
    ("tblastx", "tblastx"),
];

/// Options that have a value, or none, in both.
const OPTIONS: [(&str, &str); 34] = [
    ("-best_hit_overhang", "--best-hit-overhang"),
    ("-best_hit_score_edge", "--best-hit-score-edge"),
    ("-comp_based_stats", "--comp-based-stats"),
    ("-culling_limit", "--culling-limit"),
    ("-db_gencode", "--db-gencode"),
    ("-dbsize", "--db-length"),
    ("-dust", "--dust"),
    ("-evalue", "--evalue"),
    ("-gapextend", "--gap-extend"),
    ("-gapopen", "--gap-open"),
    ("-help", "--help"),
    ("-lcase_masking", "--lower-case-masking"),
    ("-matrix", "--matrix"),
    ("-max_hsps", "--max-hsps"),
    ("-max_intron_length", "--max-intron"),
    ("-max_target_seqs", "--top"),
    ("-negative_taxids", "--not-taxid"),
    ("-num_threads", "--threads"),
    ("-out", "--output"),
    ("-outfmt", "--format"),
    ("-penalty", "--penalty"),
    ("-perc_identity", "--perc-identity"),
    ("-qcov_hsp_perc", "--query-cover"),
    ("-query_gencode", "--query-gencode"),
    ("-reward", "--reward"),
    ("-seg", "--seg"),
    ("-soft_masking", "--soft-masking"),
    ("-strand", "--strand"),
    ("-subject_besthit", "--subject-besthit"),
    ("-task", "--program"),
    ("-taxids", "--taxid"),
    ("-template_length", "--template-length"),
    ("-template_type", "--template-type"),
    ("-word_size", "--word-size"),
];

/// Options that change nothing here, and how many values they have: names are taken as BLAST
/// writes them, and all threads work on all that there is.
const HARMLESS: [(&str, usize); 4] = [
    ("-mt_mode", 1),
    ("-parse_deflines", 0),
    ("-show_gis", 0),
    ("-use_index", 1),
];

/// Options that are not understood, and what to do instead.
pub(super) const INSTEAD: [(&str, &str); 10] = [
    ("-entrez_query", "--taxid or --not-taxid"),
    ("-html", "--format html"),
    ("-num_alignments", "--top N"),
    ("-num_descriptions", "--top N"),
    (
        "-query_loc",
        "`gyrase index get` or `samtools faidx` to cut",
    ),
    ("-remote", "--db with a database of this machine"),
    ("-searchsp", "--db-length N --db-sequences N"),
    ("-subject_loc", "`gyrase index get` to cut"),
    ("-taxidlist", "--taxid with the numbers, divided by commas"),
    (
        "-negative_taxidlist",
        "--not-taxid with the numbers, divided by commas",
    ),
];

/// The arguments of a search, without BLAST's words for them; others as they are.
pub(super) fn understood(args: Vec<OsString>) -> Vec<OsString> {
    let verb = args.get(1).and_then(|word| word.to_str());
    let program = PROGRAMS.iter().find(|(name, _)| verb == Some(name));
    if program.is_none() && verb != Some("search") {
        return args;
    }
    let mut rest = args.into_iter().peekable();
    let mut line = Line {
        start: rest.by_ref().take(1).chain(["search".into()]).collect(),
        ..Line::default()
    };
    rest.next();
    line.take(&mut rest);
    if let Some((_, task)) = program {
        line.default_to("--program", task);
        line.default_to("--format", "0");
        if line.queries.is_empty() && line.behind.is_empty() {
            line.queries.push("-".into());
        }
    }
    [line.start, line.queries, line.options, line.behind].concat()
}

/// A command line, in the order in which databases, of which there may be many, end at an option.
#[derive(Default)]
struct Line {
    start: Vec<OsString>,
    queries: Vec<OsString>,
    options: Vec<OsString>,
    /// What comes behind `--`.
    behind: Vec<OsString>,
}

impl Line {
    /// Takes all words, each option of BLAST as ours.
    fn take(&mut self, words: &mut Peekable<impl Iterator<Item = OsString>>) {
        while let Some(word) = words.next() {
            let name = word.to_str().unwrap_or_default();
            let ours = OPTIONS.iter().find(|(blast, _)| *blast == name);
            let harmless = HARMLESS.iter().find(|(blast, _)| *blast == name);
            match name {
                "--" => {
                    self.behind.push(word);
                    self.behind.extend(words.by_ref());
                }
                "-query" => self.queries.extend(words.next()),
                "-db" | "-subject" => {
                    self.options.push("--db".into());
                    let names = words.next().unwrap_or_default().into_string();
                    self.options.extend(databases(names));
                }
                "-db_soft_mask" | "-db_hard_mask" => {
                    // The number of an algorithm: a database of ours has one mask.
                    words.next();
                    let how = name
                        .strip_prefix("-db_")
                        .and_then(|name| name.split('_').next());
                    self.options.push("--db-mask".into());
                    self.options.extend(how.map(OsString::from));
                }
                _ if ours.is_some() => self.options.extend(ours.map(|(_, ours)| ours.into())),
                _ if harmless.is_some() => {
                    let values = harmless.map_or(0, |(_, values)| *values);
                    words.by_ref().take(values).for_each(drop);
                }
                _ => self.options.push(word),
            }
        }
    }

    fn default_to(&mut self, option: &str, value: &str) {
        let is_given = |word: &OsString| {
            let word = word.to_string_lossy();
            word.split('=').next() == Some(option)
        };
        if !self.options.iter().any(is_given) {
            self.options.extend([option, value].map(OsString::from));
        }
    }
}

/// The databases of one word, which are divided by spaces as in `-db "nr swissprot"`.
fn databases(names: Result<String, OsString>) -> Vec<OsString> {
    match names {
        Ok(names) => names.split_whitespace().map(OsString::from).collect(),
        Err(name) => vec![name],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn line(words: &[&str]) -> Vec<String> {
        let words = words.iter().map(OsString::from).collect();
        let words = understood(words).into_iter();
        words.map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn blast_is_understood() {
        let asked = [
            "gyrase", "blastp", "-db", "nr swiss", "-query", "q.faa", "-mt_mode", "1",
        ];
        let asked = [&asked[..], &["-evalue", "1e-5", "--top", "5"]].concat();
        let expected = "gyrase search q.faa --db nr swiss --evalue 1e-5 --top 5 --program blastp \
                        --format 0";
        assert_eq!(line(&asked).join(" "), expected);
        let masked = [
            "gyrase",
            "search",
            "-db_soft_mask",
            "40",
            "-db",
            "s",
            "q.fa",
        ];
        let expected = "gyrase search --db-mask soft --db s q.fa";
        assert_eq!(line(&masked).join(" "), expected);
        let behind = ["gyrase", "blastp", "-db", "s", "--format=6", "--", "q.faa"];
        let expected = "gyrase search --db s --format=6 --program blastp -- q.faa";
        assert_eq!(line(&behind).join(" "), expected);
        let of_task = [
            "gyrase",
            "blastn",
            "-task",
            "blastn-short",
            "-outfmt",
            "6 std",
            "-subject",
        ];
        let expected = [
            "--program",
            "blastn-short",
            "--format",
            "6 std",
            "--db",
            "s",
        ];
        let expected = [&["gyrase", "search", "-"], &expected[..]].concat();
        assert_eq!(line(&[&of_task[..], &["s"]].concat()), expected);
    }

    #[test]
    fn other_words_stay() {
        for asked in [
            &[
                "gyrase", "search", "q.faa", "--db", "a b", "-e", "1", "--", "-db", "x",
            ][..],
            &["gyrase", "count", "-out", "x"],
            &["gyrase"],
        ] {
            assert_eq!(line(asked), asked);
        }
    }

    #[test]
    fn the_parser_knows_what_options_become() {
        let mut all = crate::cmd::Cli::command();
        all.build();
        let search = all.find_subcommand("search").unwrap();
        let known: Vec<&str> = search
            .get_arguments()
            .filter_map(|one| one.get_long())
            .collect();
        for (blast, ours) in OPTIONS {
            assert!(known.contains(&&ours[2..]), "{blast}: {ours} of {known:?}");
        }
    }
}
