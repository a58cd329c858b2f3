//! Other programs of the user in the working tree, such as gh.

use std::ops::ControlFlow;

use base::AbsPath;
use host::process::{ProcessEnvironment, StartRequest};

use super::{GitProgram, SMALL_OUTPUT};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::output_log::OutputLog;
use crate::run::{StopMethod, run};

/// Lines of the output that a failure shows.
const SHOWN_LINES: usize = 20;

impl GitProgram {
    /// Runs another program of the user, such as gh, in the working tree; returns its output.
    pub(crate) fn other_program(
        &self,
        program: &AbsPath,
        arguments: &[&str],
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, Error> {
        let mut variables = self.environment.clone();
        for name in [
            "GH_PROMPT_DISABLED",
            "GH_NO_UPDATE_NOTIFIER",
            "NO_COLOR",
            "NO_PROMPT",
        ] {
            variables.push((name.into(), "1".into()));
        }
        let request = StartRequest {
            program: program.as_path().into(),
            arguments: arguments.iter().map(Into::into).collect(),
            folder: self.root.clone(),
            environment: ProcessEnvironment::Only(variables),
        };
        let (mut output, mut log) = (Vec::new(), OutputLog::default());
        let mut take = |bytes: &[u8]| -> ControlFlow<()> {
            let free = SMALL_OUTPUT.saturating_sub(output.len()).min(bytes.len());
            output.extend_from_slice(&bytes[..free]);
            ControlFlow::Continue(())
        };
        let mut keep = |bytes: &[u8]| log.push(bytes);
        let method = StopMethod::Terminate;
        let end = run(&request, &[], method, cancellation, &mut take, &mut keep)?;
        if end.is_success() {
            return Ok(output);
        }
        let command = program.name();
        let message = log.last_lines(SHOWN_LINES);
        Err(Error::Failed { command, message })
    }
}
