//! What an error of a library means on the command line: the exit code, and what to type.
//!
//! Libraries say what failed, with figures. They have other callers, who know no flags.

use std::error::Error;
use std::io::ErrorKind;

use gyrase_classify::edit::EditError;
use gyrase_classify::samples::SheetError;
use gyrase_classify::{
    BuildError, CandidatesError, ClassifyError, IndexError, MemoryFor, Mismatch, Parameters,
    QueryError, StoredError,
};
use gyrase_count::exchange::ExchangeError;
use gyrase_count::ops::OperationError;
use gyrase_fabric::FabricError;
use gyrase_fabric_mpi::{ExitCodes, SetupError, StartError};
use gyrase_fastx::Problem;
use gyrase_kmer::Choice;
use gyrase_lab::schedule::ScheduleError;
use gyrase_picture::words::bytes;
use gyrase_search::SearchError;
use gyrase_seqdb::SeqDbError;
use gyrase_simulate::SimulateError;
use gyrase_table::gydb::GydbError;
use gyrase_table::gyk::GykError;
use gyrase_tabulate::TabulateError;
use gyrase_taxonomy::TaxonomyError;
use gyrase_trace::profile::TraceError;
use gyrase_transfer::{KeyError, TransferError};

use crate::failure::{Code, Failure};

/// What an error means to whoever typed the command.
pub struct Meaning {
    code: Code,
    /// What to type instead, where that is not clear from the error.
    help: Option<String>,
}

impl From<Code> for Meaning {
    fn from(code: Code) -> Meaning {
        Meaning { code, help: None }
    }
}

impl Meaning {
    pub fn helped(code: Code, help: impl Into<String>) -> Meaning {
        Meaning {
            code,
            help: Some(help.into()),
        }
    }

    /// The error in its own words, and behind them what helps.
    pub fn failure(self, error: &(dyn Error + 'static)) -> Failure {
        let mut failure = Failure::from_error(self.code, error);
        if let Some(help) = self.help {
            failure.message += "; ";
            failure.message += &help;
        }
        failure
    }
}

/// How references are given taxids.
pub const GIVE_TAXIDS: &str =
    "name a table that says it with --map, or write kraken:taxid|N into the header";

/// The codes that a process of a job ends with where it has no error of its own.
pub const EXIT_CODES: ExitCodes = ExitCodes {
    memory: Code::Memory as u8,
    mpi: Code::Mpi as u8,
    stopped: Code::Interrupted as u8,
};

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Failure {
        let meaning = match &error {
            SearchError::Database(SeqDbError::Missing { .. }) => Code::Database.into(),
            SearchError::Database(error) => sequences(error),
            SearchError::Input(error) => input(error),
            SearchError::TooLong { .. } | SearchError::Name { .. } | SearchError::Format(_) => {
                Code::Usage.into()
            }
            SearchError::Memory { least } => {
                let enough = least.div_ceil(1 << 20);
                Meaning::helped(Code::Memory, format!("give --memory {enough}M or more"))
            }
            SearchError::Changed { .. } | SearchError::Reread(_) => Code::Input.into(),
            SearchError::Matches { .. } => Meaning::helped(Code::Memory, "give more --memory"),
            SearchError::Molecule { .. } => Meaning::helped(
                Code::Usage,
                "without --program the letters decide what is compared with what",
            ),
            SearchError::Costs(_)
            | SearchError::Template { .. }
            | SearchError::Sensitivity { .. }
            | SearchError::NoTaxids { .. }
            | SearchError::GeneticCode { .. }
            | SearchError::NeverFast { .. } => Code::Usage.into(),
            SearchError::Metadata(_) => Code::Input.into(),
            SearchError::OtherQueries { .. } => {
                Meaning::helped(Code::Usage, "give the queries of that search")
            }
            SearchError::OtherDatabase { .. } | SearchError::OtherAnswer { .. } => Meaning::helped(
                Code::Database,
                "give a replica of the database that was searched, and its version of gyrase",
            ),
            SearchError::DifferentQuestions => Meaning::helped(
                Code::Usage,
                "start all of them with the same files and options",
            ),
            SearchError::Together(error) => tabulate(error),
            SearchError::Output(_) | SearchError::Garbled(_) => Code::Output.into(),
            SearchError::Cancelled => Code::Interrupted.into(),
        };
        meaning.failure(&error)
    }
}

/// Refuses a search whose inputs need so many bytes.
pub fn too_little_memory(least: u64) -> Failure {
    SearchError::Memory { least }.into()
}

impl From<gyrase_assemble::AssemblyError> for Failure {
    fn from(error: gyrase_assemble::AssemblyError) -> Failure {
        use gyrase_assemble::AssemblyError::{Count, Fabric, Graph, LongReads, Memory, Tabulate};
        match error {
            Tabulate(error) => error.into(),
            Count(error) => error.into(),
            Fabric(error) => fabric(&error).failure(&error),
            Graph(gyrase_assemble::Error::TooLarge) => {
                let help = "assemble fewer samples together";
                Meaning::helped(Code::Memory, help).failure(&error)
            }
            Graph(error) => error.into(),
            LongReads { .. } => Failure::usage(error),
            Memory { needed, .. } => {
                let help = format!("give --memory {needed}M or more");
                Meaning::helped(Code::Memory, help).failure(&error)
            }
        }
    }
}

impl From<gyrase_assemble::gfa::GfaError> for Failure {
    fn from(error: gyrase_assemble::gfa::GfaError) -> Failure {
        use gyrase_assemble::gfa::{GfaError, GfaProblem};
        let meaning = match &error {
            GfaError::Open { .. } => Code::Usage.into(),
            GfaError::Read { .. } => Code::Input.into(),
            GfaError::Memory { .. } => Meaning::helped(Code::Memory, "give more --memory"),
            GfaError::Line {
                problem: GfaProblem::Kind { found },
                ..
            } if found.starts_with('>') => Meaning::helped(
                Code::Input,
                "`gyrase graph to-gfa` makes GFA of unitigs in FASTA",
            ),
            GfaError::Line { .. } => Code::Input.into(),
            GfaError::Record {
                problem: GfaProblem::Apart { .. },
                ..
            } => Meaning::helped(Code::Input, "give the k of the unitigs with -k"),
            GfaError::Record { .. } => Code::Input.into(),
            GfaError::LengthOfKmers { .. } => Meaning::helped(Code::Input, "give it with -k"),
            GfaError::Fasta(error) => input(error),
            GfaError::Sink(_) => Code::Output.into(),
        };
        meaning.failure(&error)
    }
}

impl From<SeqDbError> for Failure {
    fn from(error: SeqDbError) -> Failure {
        sequences(&error).failure(&error)
    }
}

impl From<SimulateError> for Failure {
    fn from(error: SimulateError) -> Failure {
        let meaning = match &error {
            SimulateError::Setting {
                setting,
                found,
                expected,
            } => {
                let what = format!("--{setting} is {found}, but it must be {expected}");
                return Failure::usage(what);
            }
            SimulateError::Short { .. } => {
                Meaning::helped(Code::Usage, "give a longer genome or a smaller --length")
            }
            SimulateError::Input(error) => input(error),
            SimulateError::Empty { .. } => Code::Input.into(),
            SimulateError::Output(_) => Code::Output.into(),
            SimulateError::Cancelled => Code::Interrupted.into(),
        };
        meaning.failure(&error)
    }
}

impl From<ScheduleError> for Failure {
    fn from(error: ScheduleError) -> Failure {
        let meaning = match &error {
            ScheduleError::Json { .. } => Meaning::helped(
                Code::Input,
                "`gyrase lab schedule --cluster-out c.json` writes one that can be changed",
            ),
            ScheduleError::Cluster { .. } => Code::Usage.into(),
            ScheduleError::Line { .. } => Code::Input.into(),
            ScheduleError::Cancelled => Code::Interrupted.into(),
        };
        meaning.failure(&error)
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Failure {
        use TransferError::{
            Broken, Cancelled, Changed, Damaged, Garbled, Key, Listen, NotLetIn, OtherKey, Output,
            Read, Refused, Taken, Unfit, Unreachable,
        };
        let meaning = match &error {
            Read { source, .. } if source.kind() == ErrorKind::NotFound => Code::Usage.into(),
            Unfit { .. } | Key(_) => Code::Usage.into(),
            Read { .. } | Changed { .. } => Code::Input.into(),
            Listen { .. } | Unreachable { .. } | Broken { .. } | Garbled { .. } => {
                Code::Network.into()
            }
            Refused { .. } | Damaged { .. } => Code::Network.into(),
            OtherKey { found, .. } => Meaning::helped(
                Code::Network,
                format!("if that is who you mean, name it: --key {found}"),
            ),
            NotLetIn { own, .. } => Meaning::helped(
                Code::Network,
                format!("it is let in by `gyrase receive --from {own}`"),
            ),
            Taken { .. } => Meaning::helped(Code::Output, "--replace lets it be replaced"),
            Output(_) => Code::Output.into(),
            Cancelled => Code::Interrupted.into(),
        };
        meaning.failure(&error)
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Failure {
        TransferError::Key(error).into()
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Failure {
        let how = "`gyrase count … --trace FILE.json` makes one";
        match &error {
            TraceError::Unreadable { .. } => Failure::usage(&error),
            TraceError::Empty { .. } => Failure::new(Code::Input, format!("{error}; {how}")),
            TraceError::Foreign { .. } => Failure::new(Code::Input, format!("{error}; {how}")),
            _ => Failure::from_error(Code::Input, &error),
        }
    }
}

impl From<TabulateError> for Failure {
    fn from(error: TabulateError) -> Failure {
        tabulate(&error).failure(&error)
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Failure {
        operation(&error).failure(&error)
    }
}

impl From<gyrase_count::Error> for Failure {
    fn from(error: gyrase_count::Error) -> Failure {
        count(&error).failure(&error)
    }
}

impl From<gyrase_assemble::Error> for Failure {
    fn from(error: gyrase_assemble::Error) -> Failure {
        use gyrase_assemble::Error;
        let meaning = match &error {
            Error::Count(error) => count(error),
            Error::Database(error) => database(error),
            Error::Fabric(error) => fabric(error),
            Error::Even { k } => Meaning::helped(
                Code::Usage,
                format!("count with -k {} or -k {}", (k - 1).max(3), (k + 1).max(3)),
            ),
            Error::Stranded => Meaning::helped(Code::Usage, "count without --stranded"),
            Error::Unlike { .. } => Meaning::helped(Code::Usage, "count all with one -k"),
            Error::Memory { needed, .. } => {
                let enough = needed.div_ceil(1 << 20);
                Meaning::helped(Code::Memory, format!("give --memory {enough}M or more"))
            }
            Error::TooLarge => Meaning::helped(Code::Memory, "give a higher --min-count"),
            Error::Tabulate(error) => tabulate(error),
            Error::Sink(_) | Error::Output(_) | Error::Garbled(_) => Code::Output.into(),
            Error::Cancelled => Code::Interrupted.into(),
        };
        meaning.failure(&error)
    }
}

impl From<gyrase_suffix::Error> for Failure {
    fn from(error: gyrase_suffix::Error) -> Failure {
        use gyrase_suffix::Error;
        let meaning = match &error {
            Error::Input(error) => input(error),
            Error::Container(_) | Error::Lacking { .. } => Code::Database.into(),
            Error::Output(_) | Error::Sink(_) => Code::Output.into(),
            Error::Memory { needed, .. } => {
                let enough = needed.div_ceil(1 << 20);
                Meaning::helped(Code::Memory, format!("give --memory {enough}M or more"))
            }
            Error::NoMemory => Code::Memory.into(),
            Error::Fabric(error) => fabric(error),
            Error::Gpu(_) => Code::Mpi.into(),
            Error::Sorting(_) => Code::Internal.into(),
            Error::TooLong { .. } => Meaning::helped(Code::Usage, "give a higher --length"),
            Error::OneStrand => Code::Usage.into(),
            Error::Cancelled => Code::Interrupted.into(),
        };
        meaning.failure(&error)
    }
}

impl From<gyrase_fastx::Error> for Failure {
    fn from(error: gyrase_fastx::Error) -> Failure {
        input(&error).failure(&error)
    }
}

impl From<GykError> for Failure {
    fn from(error: GykError) -> Failure {
        database(&error).failure(&error)
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Failure {
        exchange(&error).failure(&error)
    }
}

impl From<TaxonomyError> for Failure {
    fn from(error: TaxonomyError) -> Failure {
        Failure::from_error(taxonomy(&error), &error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        build(&error).failure(&error)
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Failure {
        let meaning = match error {
            EditError::Build(error) => return error.into(),
            EditError::Mismatch(error) => return error.into(),
            EditError::Replaced { .. } => Code::Database.into(),
            EditError::NothingLeft { .. } => Code::Usage.into(),
            EditError::Unknown { .. } => Meaning::helped(
                Code::Usage,
                "`gyrase db targets` lists the references of a database, `gyrase db taxa` its taxa",
            ),
        };
        meaning.failure(&error)
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Failure {
        Failure::from_error(Code::Database, &error)
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Failure {
        let meaning = match &error {
            QueryError::Reads(error) => tabulate(error),
            QueryError::Database(error) => references(error).into(),
            QueryError::Stored(error) => stored(error),
            QueryError::Sink(_) | QueryError::Extract(_) => Code::Output.into(),
            QueryError::Apart { .. } => {
                Meaning::helped(Code::Mpi, "give all processes the same files")
            }
        };
        meaning.failure(&error)
    }
}

impl From<ClassifyError> for Failure {
    fn from(error: ClassifyError) -> Failure {
        match error {
            ClassifyError::Memory { least, memory } => Failure::new(
                Code::Memory,
                format!(
                    "classifying takes at least {} of memory with these databases; --memory \
                     allows {}",
                    bytes(least),
                    bytes(memory)
                ),
            ),
            ClassifyError::ReadOnce { .. } => Failure::from_error(Code::Usage, &error),
            ClassifyError::Open(error) => error.into(),
            ClassifyError::Query(error) => error.into(),
        }
    }
}

impl From<SheetError> for Failure {
    fn from(error: SheetError) -> Failure {
        let code = match &error {
            SheetError::Read { .. } | SheetError::File { .. } => Code::Usage,
            SheetError::Unfit { .. } | SheetError::Line { .. } => Code::Input,
        };
        Failure::from_error(code, &error)
    }
}

impl From<Mismatch> for Failure {
    fn from(error: Mismatch) -> Failure {
        let Mismatch::Parameters {
            first,
            of_first,
            other,
            of_other,
        } = &error
        else {
            return Failure::from_error(Code::Usage, &error);
        };
        let (of_first, of_other) = (options(of_first), options(of_other));
        Failure::usage(format!(
            "{first} was built with {of_first}, and {other} with {of_other}; \
             build one of them again with the options of the other"
        ))
    }
}

/// Parameters as options of `db build`.
fn options(parameters: &Parameters) -> String {
    let sketch = &parameters.sketch;
    let choice = match sketch.choice() {
        Choice::OneIn(one_in) => format!("--one-in {one_in}"),
        Choice::Smallest(smallest) => format!("--smallest {smallest}"),
    };
    let (k, window, stride) = (sketch.k(), sketch.window(), sketch.stride());
    let locations = parameters.locations;
    format!("-k {k} --window {window} --stride {stride} {choice} --locations {locations}")
}

impl From<CandidatesError> for Failure {
    fn from(error: CandidatesError) -> Failure {
        match error {
            CandidatesError::Mismatch(error) => error.into(),
            CandidatesError::Stored(error) => stored(&error).failure(&error),
        }
    }
}

impl From<FabricError> for Failure {
    fn from(error: FabricError) -> Failure {
        fabric(&error).failure(&error)
    }
}

impl From<GydbError> for Failure {
    fn from(error: GydbError) -> Failure {
        Failure::from_error(references(&error), &error)
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        Failure::from_error(Code::Mpi, &error)
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Failure {
        let meaning = match &error {
            SetupError::Compiler { .. } => Meaning::helped(
                Code::Mpi,
                "install the development package of an MPI (Debian: libopenmpi-dev or \
                 libmpich-dev), load its module, or name its compiler with --mpicc",
            ),
            SetupError::Family { .. } => {
                Meaning::helped(Code::Mpi, "name another compiler with --mpicc")
            }
            SetupError::Nowhere => Meaning::helped(
                Code::Mpi,
                "name one with --dir and set GYRASE_MPI_DIR to it for every run",
            ),
            SetupError::Write { .. } => Code::Output.into(),
            _ => Code::Mpi.into(),
        };
        meaning.failure(&error)
    }
}

fn count(error: &gyrase_count::Error) -> Meaning {
    use gyrase_count::Error;
    match error {
        Error::Tabulate(error) => tabulate(error),
        Error::Database(error) => database(error),
        Error::Memory { .. } => Meaning::helped(Code::Memory, "raise --memory or lower --threads"),
        Error::MaxTmp { .. } => {
            Meaning::helped(Code::Output, "raise --max-tmp, or give more --memory")
        }
        Error::TmpSpace { .. } => Meaning::helped(
            Code::Output,
            "--tmp names another folder, more --memory needs less",
        ),
        Error::DifferentQuestions => Meaning::helped(
            Code::Usage,
            "start all of them with the same -k, --min-count and other options",
        ),
        Error::Pipe { .. } => Code::Usage.into(),
        Error::Different { .. } | Error::DifferentInputs { .. } => Code::Input.into(),
        Error::Miscounted { .. } => Code::Database.into(),
    }
}

fn exchange(error: &ExchangeError) -> Meaning {
    match error {
        ExchangeError::Read { .. } | ExchangeError::Shape(_) => Code::Usage.into(),
        ExchangeError::Truncated { .. }
        | ExchangeError::Damaged { .. }
        | ExchangeError::Malformed { .. }
        | ExchangeError::Unsupported { .. } => Code::Input.into(),
        ExchangeError::Output(_) => Code::Output.into(),
        ExchangeError::Table(error) => database(error),
        ExchangeError::Fabric(error) => fabric(error),
        ExchangeError::Listing(error) => operation(error),
        ExchangeError::Memory { .. } => Meaning::helped(Code::Memory, "raise --memory"),
        ExchangeError::Cancelled => Code::Interrupted.into(),
    }
}

fn build(error: &BuildError) -> Meaning {
    match error {
        BuildError::Tabulate(error) => tabulate(error),
        BuildError::Database(error) => references(error).into(),
        BuildError::NoTaxon { .. } => Meaning::helped(Code::Usage, GIVE_TAXIDS),
        BuildError::TooManyWindows => Meaning::helped(
            Code::Usage,
            "cut longer ones (--window 245 makes half as many as the default), \
             or build several databases and give `classify` a --db for each",
        ),
        BuildError::Memory { what, .. } => Meaning::helped(
            Code::Memory,
            match what {
                MemoryFor::Threads => "raise --memory or lower --threads",
                MemoryFor::Database => {
                    "raise --memory, or build it with `gyrase db build`, which needs less"
                }
                MemoryFor::Sorting => "raise --memory",
            },
        ),
        BuildError::ReadOnce { .. } => Code::Usage.into(),
        BuildError::Changed => Code::Input.into(),
    }
}

fn tabulate(error: &TabulateError) -> Meaning {
    match error {
        TabulateError::Input(error) => input(error),
        TabulateError::Fabric(error) => fabric(error),
        TabulateError::Differs { .. } | TabulateError::OtherFiles => Code::Input.into(),
        TabulateError::Cancelled => Code::Interrupted.into(),
    }
}

fn references(error: &GydbError) -> Code {
    match error {
        GydbError::Write(_) => Code::Output,
        _ => Code::Database,
    }
}

fn stored(error: &StoredError) -> Meaning {
    match error {
        StoredError::Write(_) => Code::Output.into(),
        StoredError::Scratch { .. } => Meaning::helped(
            Code::Output,
            "--tmp names another folder, and with more --memory none are needed",
        ),
        StoredError::Full { limit, .. } => too_much_spill(*limit),
        StoredError::OtherReads { .. } => Code::Usage.into(),
        StoredError::Changed { .. } => Code::Input.into(),
        _ => Code::Database.into(),
    }
}

fn input(error: &gyrase_fastx::Error) -> Meaning {
    use gyrase_fastx::Error;
    match error {
        _ if error.is_usage() => Code::Usage.into(),
        Error::Window { .. } => Meaning::helped(
            Code::Memory,
            "give more --memory, or compress the file again without a long window (zstd --long)",
        ),
        Error::Malformed {
            problem: Problem::NoRoom { .. },
            ..
        } => Meaning::helped(Code::Memory, "give more --memory"),
        _ => Code::Input.into(),
    }
}

fn taxonomy(error: &TaxonomyError) -> Code {
    match error {
        TaxonomyError::NotFound { .. } => Code::Usage,
        TaxonomyError::Version { .. } | TaxonomyError::Corrupt { .. } => Code::Database,
        _ => Code::Input,
    }
}

fn sequences(error: &SeqDbError) -> Meaning {
    match error {
        SeqDbError::Input(error) => input(error),
        SeqDbError::Write(_) => Code::Output.into(),
        SeqDbError::Taxonomy(error) => taxonomy(error).into(),
        SeqDbError::Mixed { .. } => Meaning::helped(
            Code::Usage,
            "name files of one kind, or say with `gyrase index --molecule` what one has",
        ),
        SeqDbError::Missing { .. }
        | SeqDbError::TooMany { .. }
        | SeqDbError::UnknownTaxid { .. }
        | SeqDbError::NoName { .. }
        | SeqDbError::NoRange { .. } => Code::Usage.into(),
        SeqDbError::Disunity(_) => Meaning::helped(
            Code::Usage,
            "build them again with one taxonomy, or name one with --taxonomy",
        ),
        SeqDbError::Container(_) | SeqDbError::Foreign { .. } | SeqDbError::Unsupported { .. } => {
            Code::Database.into()
        }
        SeqDbError::Cancelled => Code::Interrupted.into(),
    }
}

fn operation(error: &OperationError) -> Meaning {
    match error {
        OperationError::Database(error) => database(error),
        OperationError::Reads(error) => input(error),
        OperationError::Mismatch { .. }
        | OperationError::NoInput
        | OperationError::NotAKmer { .. }
        | OperationError::NotPacked { .. } => Code::Usage.into(),
        OperationError::Cutoffs { .. } => {
            Meaning::helped(Code::Usage, "swap --min-count and --max-count")
        }
        OperationError::Sink(_) | OperationError::Write(_) => Code::Output.into(),
        OperationError::Cancelled => Code::Interrupted.into(),
        OperationError::Stopped => Code::Internal.into(),
    }
}

fn fabric(error: &FabricError) -> Meaning {
    match error {
        FabricError::Memory => Meaning::helped(
            Code::Memory,
            "lower --threads, or lift the limit of the shell (ulimit -v)",
        ),
        FabricError::Spill { .. } => Meaning::helped(Code::Output, "--tmp names another folder"),
        FabricError::TooMuchSpill { limit } => too_much_spill(*limit),
        FabricError::TooLong { .. } | FabricError::NoSpill => Code::Memory.into(),
        // It was written and is not what it was, as a corrupt database is.
        FabricError::Damaged { .. } => Meaning::helped(
            Code::Database,
            "run again without --resume, with another --tmp if it happens again",
        ),
        FabricError::Elsewhere | FabricError::Mpi { .. } => Code::Mpi.into(),
    }
}

/// Says the limit as it is written on the command line: libraries say bytes.
fn too_much_spill(limit: u64) -> Meaning {
    let limit = bytes(limit);
    let help = format!("give more than the {limit} that --max-tmp allows, or more --memory");
    Meaning::helped(Code::Output, help)
}

fn database(error: &GykError) -> Meaning {
    match error {
        GykError::Write(_) | GykError::Garbled(_) => Code::Output.into(),
        GykError::Spill(error) => fabric(error),
        _ => Code::Database.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_said_as_they_were_given() {
        let (limit, folder) = (1 << 20, std::path::PathBuf::from("t"));
        let spilled = || TabulateError::Fabric(FabricError::TooMuchSpill { limit });
        for failure in [
            Failure::from(QueryError::Stored(StoredError::Full {
                limit,
                folder: folder.clone(),
            })),
            Failure::from(BuildError::Tabulate(spilled())),
            Failure::from(gyrase_count::Error::Tabulate(spilled())),
        ] {
            assert!(
                failure.code == Code::Output
                    && failure.message.contains("the 1.0 MiB that --max-tmp"),
                "{failure:?}"
            );
        }
        let source = std::io::Error::from(ErrorKind::StorageFull);
        let full = Failure::from(QueryError::Stored(StoredError::Scratch { folder, source }));
        assert_eq!(full.code, Code::Output);
        assert!(
            full.message
                .starts_with("cannot write temporary files in t: ")
                && full.message.contains("--tmp names")
        );
    }
}
