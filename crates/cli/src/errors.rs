//! The exit code of each library error.

use gyrase_classify::edit::EditError;
use gyrase_classify::{BuildError, CandidatesError, IndexError, Mismatch, QueryError, StoredError};
use gyrase_count::exchange::ExchangeError;
use gyrase_count::ops::OperationError;
use gyrase_fabric::FabricError;
use gyrase_fabric_mpi::{SetupError, StartError};
use gyrase_picture::words::bytes;
use gyrase_simulate::SimulateError;
use gyrase_table::gydb::GydbError;
use gyrase_table::gyk::GykError;
use gyrase_tabulate::TabulateError;
use gyrase_taxonomy::TaxonomyError;

use crate::failure::{Code, Failure};

impl From<SimulateError> for Failure {
    fn from(error: SimulateError) -> Failure {
        let code = match &error {
            SimulateError::Setting { .. } | SimulateError::Short { .. } => Code::Usage,
            SimulateError::Input(error) => input(error),
            SimulateError::Empty { .. } => Code::Input,
            SimulateError::Output(_) => Code::Output,
            SimulateError::Cancelled => Code::Interrupted,
        };
        Failure::from_error(code, &error)
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Failure {
        Failure::from_error(operation(&error), &error)
    }
}

impl From<gyrase_count::Error> for Failure {
    fn from(error: gyrase_count::Error) -> Failure {
        use gyrase_count::Error;
        if let Error::Tabulate(TabulateError::Fabric(FabricError::TooMuchSpill { limit }))
        | Error::Database(GykError::Spill(FabricError::TooMuchSpill { limit })) = error
        {
            return too_much_spill(limit);
        }
        let code = match &error {
            Error::Tabulate(error) => tabulate(error),
            Error::Database(error) => database(error),
            Error::Memory { .. } => Code::Memory,
            Error::MaxTmp { .. } | Error::TmpSpace { .. } => Code::Output,
            Error::Pipe { .. } | Error::DifferentQuestions => Code::Usage,
            Error::Different { .. } | Error::DifferentInputs { .. } => Code::Input,
        };
        Failure::from_error(code, &error)
    }
}

impl From<gyrase_fastx::Error> for Failure {
    fn from(error: gyrase_fastx::Error) -> Failure {
        Failure::from_error(input(&error), &error)
    }
}

impl From<GykError> for Failure {
    fn from(error: GykError) -> Failure {
        Failure::from_error(database(&error), &error)
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Failure {
        let code = match &error {
            ExchangeError::Read { .. } | ExchangeError::Shape(_) => Code::Usage,
            ExchangeError::Truncated { .. }
            | ExchangeError::Damaged { .. }
            | ExchangeError::Malformed { .. }
            | ExchangeError::Unsupported { .. } => Code::Input,
            ExchangeError::Output(_) => Code::Output,
            ExchangeError::Table(error) => database(error),
            ExchangeError::Fabric(error) => fabric(error),
            ExchangeError::Listing(error) => operation(error),
            ExchangeError::Memory { .. } => Code::Memory,
            ExchangeError::Cancelled => Code::Interrupted,
        };
        Failure::from_error(code, &error)
    }
}

impl From<TaxonomyError> for Failure {
    fn from(error: TaxonomyError) -> Failure {
        let code = match &error {
            TaxonomyError::NotFound { .. } => Code::Usage,
            TaxonomyError::Version { .. } | TaxonomyError::Corrupt { .. } => Code::Database,
            _ => Code::Input,
        };
        Failure::from_error(code, &error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        if let BuildError::Tabulate(TabulateError::Fabric(FabricError::TooMuchSpill { limit })) =
            error
        {
            return too_much_spill(limit);
        }
        let code = match &error {
            BuildError::Tabulate(error) => tabulate(error),
            BuildError::Database(error) => references(error),
            BuildError::TooManyWindows => Code::Usage,
            BuildError::Memory { .. } => Code::Memory,
        };
        Failure::from_error(code, &error)
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Failure {
        match error {
            EditError::Build(error) => error.into(),
            EditError::Replaced { .. } => Failure::from_error(Code::Database, &error),
            error => Failure::from_error(Code::Usage, &error),
        }
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Failure {
        Failure::from_error(Code::Database, &error)
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Failure {
        if let QueryError::Stored(StoredError::Full { limit, .. }) = error {
            return too_much_spill(limit);
        }
        let code = match &error {
            QueryError::Reads(error) => tabulate(error),
            QueryError::Database(error) => references(error),
            QueryError::Stored(error) => stored(error),
            QueryError::Sink(_) | QueryError::Extract(_) => Code::Output,
        };
        Failure::from_error(code, &error)
    }
}

impl From<Mismatch> for Failure {
    fn from(error: Mismatch) -> Failure {
        Failure::from_error(Code::Usage, &error)
    }
}

impl From<CandidatesError> for Failure {
    fn from(error: CandidatesError) -> Failure {
        match error {
            CandidatesError::Mismatch(error) => error.into(),
            CandidatesError::Stored(error) => Failure::from_error(stored(&error), &error),
        }
    }
}

impl From<FabricError> for Failure {
    fn from(error: FabricError) -> Failure {
        Failure::from_error(fabric(&error), &error)
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
        let code = if matches!(error, SetupError::Write { .. }) {
            Code::Output
        } else {
            Code::Mpi
        };
        Failure::from_error(code, &error)
    }
}

/// Says the limit as it is written on the command line: libraries know bytes.
fn too_much_spill(limit: u64) -> Failure {
    let limit = bytes(limit);
    let what = format!(
        "the temporary files take more than the {limit} that --max-tmp allows; allow more, or more --memory"
    );
    Failure::new(Code::Output, what)
}

fn tabulate(error: &TabulateError) -> Code {
    match error {
        TabulateError::Input(error) => input(error),
        TabulateError::Fabric(error) => fabric(error),
        TabulateError::Cancelled => Code::Interrupted,
    }
}

fn references(error: &GydbError) -> Code {
    match error {
        GydbError::Write(_) => Code::Output,
        _ => Code::Database,
    }
}

fn stored(error: &StoredError) -> Code {
    match error {
        StoredError::Write(_) | StoredError::Scratch { .. } | StoredError::Full { .. } => {
            Code::Output
        }
        StoredError::OtherReads { .. } => Code::Usage,
        StoredError::Changed { .. } => Code::Input,
        _ => Code::Database,
    }
}

fn input(error: &gyrase_fastx::Error) -> Code {
    match error {
        _ if error.is_usage() => Code::Usage,
        _ if error.is_memory() => Code::Memory,
        _ => Code::Input,
    }
}

fn operation(error: &OperationError) -> Code {
    match error {
        OperationError::Database(error) => database(error),
        OperationError::Reads(error) => input(error),
        OperationError::Mismatch { .. }
        | OperationError::NoInput
        | OperationError::NotAKmer { .. }
        | OperationError::Cutoffs { .. } => Code::Usage,
        OperationError::Sink(_) | OperationError::Write(_) => Code::Output,
        OperationError::Cancelled => Code::Interrupted,
        OperationError::Stopped => Code::Internal,
    }
}

fn fabric(error: &FabricError) -> Code {
    match error {
        FabricError::Memory | FabricError::TooLong { .. } => Code::Memory,
        FabricError::Spill { .. } | FabricError::TooMuchSpill { .. } => Code::Output,
        // It was written and is not what it was, as a corrupt database is.
        FabricError::Damaged { .. } => Code::Database,
        FabricError::Elsewhere | FabricError::Mpi { .. } => Code::Mpi,
    }
}

fn database(error: &GykError) -> Code {
    match error {
        GykError::Write(_) => Code::Output,
        GykError::Spill(error) => fabric(error),
        _ => Code::Database,
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
        let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let full = Failure::from(QueryError::Stored(StoredError::Scratch { folder, source }));
        assert_eq!(full.code, Code::Output);
        assert!(
            full.message
                .starts_with("cannot write temporary files in t: ")
                && full.message.contains("--tmp names")
        );
    }
}
