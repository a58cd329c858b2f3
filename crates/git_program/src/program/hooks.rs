//! Calls that may run hooks, streamed.

use host::process::LaunchRequest;

use super::GitProgram;
use super::environment::arguments;
use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::{Error, HookFailure};
use crate::hook_trace::HookTrace;
use crate::output_log::OutputLog;
use crate::run::{CallTerminal, run_streamed};

/// Lines of a hook's output that its failure shows.
const HOOK_LINES: usize = 20;

impl GitProgram {
    /// Runs a call that may run hooks, and passes on its output as it arrives. Standard input is
    /// empty, or the terminal.
    ///
    /// # Errors
    /// `HookFailed` if a hook refused, else the recognized reason.
    pub(crate) fn run_with_hooks(
        &self,
        call: &GitCall,
        terminal: Option<&CallTerminal>,
        cancellation: &Cancellation,
        on_output: &mut dyn FnMut(&[u8]),
    ) -> Result<OutputLog, Error> {
        let _ticket = self.enter(call, cancellation)?;
        let session = self.prompt_session();
        let trace = HookTrace::new(&self.git_dir(cancellation)?);
        let mut variables = self.variables(call, session.as_ref());
        variables.extend(trace.iter().flat_map(HookTrace::variables));
        let request = LaunchRequest {
            program: self.program.as_path().into(),
            arguments: arguments(call),
            folder: self.root.clone(),
            variables,
            terminal: terminal.map(|terminal| terminal.size),
            sandbox: None,
        };
        let typed = terminal.and_then(|terminal| terminal.input.clone());
        let mut log = OutputLog::default();
        let mut keep = |bytes: &[u8]| {
            log.push(bytes);
            on_output(bytes);
        };
        let end = run_streamed(&request, typed, cancellation, &mut keep)?;
        if end.is_success() {
            return Ok(log);
        }
        let hook = trace.as_ref().and_then(HookTrace::failed_hook);
        Err(match hook {
            Some(hook) => Self::hook_failure(hook, log),
            None => self.recognize(&call.command(), &log),
        })
    }

    /// Returns a trace that names hooks which fail, with the variables to add to a call.
    pub(crate) fn hook_trace(
        &self,
        cancellation: &Cancellation,
    ) -> Result<Option<HookTrace>, Error> {
        Ok(HookTrace::new(&self.git_dir(cancellation)?))
    }

    pub(crate) fn hook_failure(hook: String, log: OutputLog) -> Error {
        let last_lines = log.last_lines(HOOK_LINES);
        Error::HookFailed(Box::new(HookFailure {
            hook,
            last_lines,
            log,
        }))
    }
}
