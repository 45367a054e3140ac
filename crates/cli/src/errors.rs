//! The exit code of each library error.

use gyrase_count::ops::OperationError;
use gyrase_simulate::SimulateError;
use gyrase_table::gyk::GykError;

use crate::failure::{Code, Failure};

impl From<SimulateError> for Failure {
    fn from(error: SimulateError) -> Failure {
        let code = match &error {
            SimulateError::Setting { .. } | SimulateError::Short { .. } | SimulateError::Unreadable { .. } => {
                Code::Usage
            }
            SimulateError::Output(_) => Code::Output,
            SimulateError::Cancelled => Code::Interrupted,
            SimulateError::Empty { .. } => Code::Input,
        };
        Failure::from_error(code, &error)
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Failure {
        let code = match &error {
            OperationError::Database(error) => database(error),
            OperationError::Mismatch { .. }
            | OperationError::NoInput
            | OperationError::NotAKmer { .. }
            | OperationError::Cutoffs { .. } => Code::Usage,
            OperationError::Sink(_) | OperationError::Write(_) => Code::Output,
            OperationError::Cancelled => Code::Interrupted,
            OperationError::Stopped => Code::Internal,
        };
        Failure::from_error(code, &error)
    }
}

fn database(error: &GykError) -> Code {
    match error {
        GykError::Write(_) => Code::Output,
        _ => Code::Database,
    }
}
