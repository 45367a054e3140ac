//! What people type who come from KMC, Jellyfish, Kraken 2, KAT and BLAST: done where it changes
//! nothing, else one sentence that says what to type instead.

mod blast;
mod given;

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue};

pub use given::given;

/// Options that change nothing here, by verb: how inputs are compressed is known by their content,
/// databases are always mapped, and k-mers are canonical unless they are `--stranded`.
const HARMLESS: [(&str, &str); 5] = [
    ("classify", "--gzip-compressed"),
    ("classify", "--bzip2-compressed"),
    ("classify", "--memory-mapping"),
    ("count", "-C"),
    ("count", "--canonical"),
];

/// What the argument parser does not know, by verb (or any), and what to do instead.
const INSTEAD: [(&str, &str, &str); 37] = [
    ("", "hist", HISTO),
    ("", "histo", HISTO),
    ("", "histogram", HISTO),
    ("", "spectrum", HISTO),
    ("", "stats", INFO),
    ("", "info", INFO),
    ("", "dump", KMERS),
    ("", "query", KMERS),
    ("", "union", KMERS),
    ("", "intersect", KMERS),
    ("", "subtract", KMERS),
    ("", "filter", KMERS),
    ("", "merge", "`gyrase kmers union` or `gyrase db merge`"),
    ("", "build", BUILD),
    ("", "add", "`gyrase db add refs.gydb GENOMES`"),
    ("", "inspect", "`gyrase db inspect refs.gydb`"),
    ("", "version", "`gyrase --version`"),
    ("", "makeblastdb", INDEX),
    ("", "makedb", INDEX),
    ("", "createdb", INDEX),
    ("", "blastdbcmd", "`gyrase index get refs.gysd NAME`"),
    (
        "count",
        "-s",
        "leave it out: tables grow with the input, within --memory",
    ),
    (
        "count",
        "--size",
        "leave it out: tables grow with the input, within --memory",
    ),
    ("count", "-f", "leave it out: formats are known by content"),
    (
        "count",
        "-c",
        "--min-count N for KMC's -ciN, --max-count N for -cxN; counts go up to 2^32 - 1",
    ),
    (
        "count",
        "-b",
        "--stranded, which does not take a k-mer and its reverse complement for one",
    ),
    ("count", "-L", "--min-count N"),
    ("count", "-U", "--max-count N"),
    ("count", "--lower-count", "--min-count N"),
    ("count", "--upper-count", "--max-count N"),
    ("count", "--min-qual-char", "--min-base-quality N"),
    (
        "classify",
        "--use-names",
        "leave it out: --kreport has the names, as has --taxpasta",
    ),
    (
        "classify",
        "--report-zero-counts",
        "leave it out: a taxon without reads stands in no report",
    ),
    (
        "classify",
        "--minimum-base-quality",
        "leave it out: qualities are not looked at",
    ),
    (
        "classify",
        "--quick",
        "leave it out: all of a read is looked at, at this speed",
    ),
    ("classify", "--minimum-hit-groups", "--min-hits N"),
    (
        "classify",
        "--report-minimizer-data",
        "--kreport-evidence FILE",
    ),
];

const HISTO: &str = "`gyrase kmers histo s.gyk`";
const INFO: &str = "`gyrase kmers info s.gyk` or `gyrase db info refs.gydb`";
const KMERS: &str = "`gyrase kmers` with the same word behind it";
const INDEX: &str = "`gyrase index refs.fa -o refs.gysd`";
const BUILD: &str = "`gyrase db build GENOMES --taxonomy taxdump/ -o refs.gydb`";

/// The arguments without what changes nothing; `gyrase help VERB` is `gyrase VERB --help`.
pub fn understood(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if args.get(1).is_some_and(|word| word == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    let mut args = blast::understood(args);
    let harmless = HARMLESS.iter().filter(|(verb, _)| names(&args, verb));
    let harmless: Vec<&str> = harmless.map(|&(_, option)| option).collect();
    let end = args
        .iter()
        .position(|word| word == "--")
        .unwrap_or(args.len());
    let mut place = 0;
    args.retain(|word| {
        place += 1;
        place > end || !harmless.iter().any(|option| word == option)
    });
    args
}

/// True where the arguments, which may not make sense, ask for messages as JSON.
pub fn ask_for_json(args: &[OsString]) -> bool {
    let options = args.split(|word| word == "--").next().unwrap_or_default();
    let in_two = |words: &[OsString]| words[0] == "--log" && words[1] == "json";
    options.iter().any(|word| word == "--log=json") || options.windows(2).any(in_two)
}

/// True where the word stands in the place of a verb, and not behind one.
fn of_gyrase(args: &[OsString], word: &str) -> bool {
    let gyrase = crate::cmd::Cli::command();
    let mut before = args.iter().skip(1).take_while(|&arg| arg != word);
    before.all(|arg| gyrase.find_subcommand(arg).is_none())
}

fn names(args: &[OsString], verb: &str) -> bool {
    args.iter().any(|word| word == verb)
}

/// What to type instead of what the argument parser did not know.
pub fn instead(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let (verb, option) = (
        context(ContextKind::InvalidSubcommand),
        context(ContextKind::InvalidArg),
    );
    let known = |&&(of, word, _): &&(&str, &str, &str)| match of {
        "" => verb == Some(word) && of_gyrase(args, word),
        _ => option == Some(word) && names(args, of),
    };
    let of_blast = || {
        let mut all = blast::INSTEAD.iter();
        all.find(|(word, _)| names(args, "search") && names(args, word))
    };
    let found = INSTEAD.iter().find(known);
    let found = found.map(|&(_, unknown, words)| (unknown, words));
    let (unknown, words) = found.or_else(|| of_blast().copied())?;
    Some(format!(
        "{unknown} is not understood here; {}",
        typed(words)
    ))
}

/// The rest of the sentence.
fn typed(words: &str) -> String {
    match words.starts_with("leave it out") {
        true => words.to_owned(),
        false => format!("type {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn json_is_asked_for_before_the_files() {
        for (typed, asked) in [
            ("gyrase --log json count", true),
            ("gyrase count --no --log=json", true),
            ("gyrase count --log plain json", false),
            ("gyrase count -- --log json", false),
            ("gyrase --log", false),
        ] {
            assert_eq!(ask_for_json(&words(typed)), asked, "{typed}");
        }
    }

    #[test]
    fn what_is_told_can_be_typed() {
        use clap::Parser;
        use clap::error::ErrorKind;
        let told = INSTEAD.iter().flat_map(|(_, _, told)| told.split('`'));
        for told in told.filter(|told| told.starts_with("gyrase ")) {
            let Err(error) = crate::cmd::Cli::try_parse_from(words(told)) else {
                continue;
            };
            let unknown = [ErrorKind::UnknownArgument, ErrorKind::InvalidSubcommand];
            assert!(!unknown.contains(&error.kind()), "{told}: {error}");
        }
    }

    #[test]
    fn what_changes_nothing_is_left_out() {
        for (typed, is) in [
            ("gyrase help", "gyrase --help"),
            ("gyrase help count", "gyrase count --help"),
            ("gyrase count -C r.fq -o x", "gyrase count r.fq -o x"),
            ("gyrase kmers -C", "gyrase kmers -C"),
            ("gyrase count -- -C", "gyrase count -- -C"),
            (
                "gyrase classify --gzip-compressed --db x r",
                "gyrase classify --db x r",
            ),
        ] {
            assert_eq!(understood(words(typed)), words(is), "{typed}");
        }
    }
}
