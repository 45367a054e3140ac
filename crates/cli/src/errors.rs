//! The exit code of each library error.

use gyrase_simulate::SimulateError;

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
