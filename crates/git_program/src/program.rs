//! The user's git in one working tree: the rules of every call.
//!
//! Invariant: a `GitProgram` exists only for the user's own checkout of a trusted folder.
//! Invariant: one call writes at a time; a call that reads takes no lock of Git.

mod environment;
mod hooks;
mod other;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use base::AbsPath;
use host::environment::Variable;
use host::process::{ProcessEnvironment, StartRequest};

use crate::askpass::{PromptServer, PromptSession};
use crate::call::{CallAccess, GitCall};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::index_lock::{holder, wait_for_index};
use crate::output_log::OutputLog;
use crate::run::{RunEnd, StopMethod, run};
use crate::write_gate::{WriteGate, WriteTicket};

use environment::arguments;
pub use environment::find_program;

/// Limit of outputs that are small by nature, in bytes.
pub(crate) const SMALL_OUTPUT: usize = 4 << 20;

/// The trust in a working tree, as the caller knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckoutTrust {
    /// The user's own checkout, in a folder that the user trusts.
    Trusted,
    /// A folder that the user does not trust.
    Untrusted,
    /// The working tree of an agent, whatever its folder.
    AgentTree,
}

/// The user's git program in one working tree. All calls block: they belong on a background thread.
#[derive(Debug)]
pub struct GitProgram {
    program: AbsPath,
    root: AbsPath,
    environment: Vec<Variable>,
    gate: Arc<WriteGate>,
    prompts: Option<Arc<PromptServer>>,
    git_dir: OnceLock<AbsPath>,
}

/// A finished call whose exit code the caller judges.
pub(crate) struct FinishedCall {
    pub(crate) is_success: bool,
    pub(crate) output: Vec<u8>,
    pub(crate) log: OutputLog,
}

impl GitProgram {
    /// Creates the access to the working tree at `root` through the git at `program`, which
    /// `find_program` finds in `environment`, the variables of the user's login shell. Starts no
    /// process.
    ///
    /// # Errors
    /// `Untrusted` or `AgentTree`.
    pub fn new(
        program: AbsPath,
        root: AbsPath,
        environment: Vec<Variable>,
        trust: CheckoutTrust,
    ) -> Result<Self, Error> {
        match trust {
            CheckoutTrust::Trusted => {}
            CheckoutTrust::Untrusted => return Err(Error::Untrusted { root }),
            CheckoutTrust::AgentTree => return Err(Error::AgentTree { root }),
        }
        let environment = environment::prepared(environment);
        Ok(Self {
            program,
            gate: WriteGate::of(&root),
            root,
            environment,
            prompts: None,
            git_dir: OnceLock::new(),
        })
    }

    /// Passes prompts for passwords, passphrases and host keys to the receiver of `prompts`.
    /// Without them such a call fails.
    pub fn with_prompts(mut self, prompts: Arc<PromptServer>) -> Self {
        self.prompts = Some(prompts);
        self
    }

    /// Returns the root of the working tree.
    pub fn root(&self) -> &AbsPath {
        &self.root
    }

    /// Returns whether a call writes in this working tree, so that a refresh can wait for its end.
    pub fn is_writing(&self) -> bool {
        self.gate.is_busy()
    }

    /// Returns the folder with Git's own files of this working tree.
    pub(crate) fn git_dir(&self, cancellation: &Cancellation) -> Result<AbsPath, Error> {
        if let Some(folder) = self.git_dir.get() {
            return Ok(folder.clone());
        }
        let call = GitCall::read("rev-parse").arg("--absolute-git-dir");
        let output = self.output(call, SMALL_OUTPUT, cancellation)?;
        let path = String::from_utf8_lossy(&output);
        let folder = AbsPath::new(path.trim_end_matches('\n'));
        let root = self.root.clone();
        let folder = folder.ok_or(Error::NoRepository { root })?;
        Ok(self.git_dir.get_or_init(|| folder).clone())
    }

    /// Returns what a successful call printed, at most `limit` bytes.
    pub(crate) fn output(
        &self,
        call: GitCall,
        limit: usize,
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, Error> {
        let command = call.command();
        let mut output = Vec::new();
        let mut is_cut = false;
        self.stream(call, cancellation, &mut |bytes| {
            is_cut = output.len() + bytes.len() > limit;
            if is_cut {
                return ControlFlow::Break(());
            }
            output.extend_from_slice(bytes);
            ControlFlow::Continue(())
        })?;
        if is_cut {
            return Err(Error::TooLarge { command, limit });
        }
        Ok(output)
    }

    /// Passes on what a call prints until it ends, or until `on_output` breaks, which ends it.
    pub(crate) fn stream(
        &self,
        call: GitCall,
        cancellation: &Cancellation,
        on_output: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut log = OutputLog::default();
        let mut on_errors = |bytes: &[u8]| log.push(bytes);
        let end = self.execute(&call, cancellation, on_output, &mut on_errors)?;
        if end.is_success() {
            return Ok(());
        }
        Err(self.recognize(&call.command(), &log))
    }

    /// Runs a call whose result depends on more than its exit code. `on_errors` receives standard
    /// error as it arrives, such as progress.
    pub(crate) fn finish(
        &self,
        call: &GitCall,
        cancellation: &Cancellation,
        on_errors: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<FinishedCall, Error> {
        let mut output = Vec::new();
        let mut log = OutputLog::default();
        let mut keep = |bytes: &[u8]| {
            log.push(bytes);
            on_errors(bytes);
        };
        let mut take = |bytes: &[u8]| -> ControlFlow<()> {
            let free = SMALL_OUTPUT.saturating_sub(output.len()).min(bytes.len());
            output.extend_from_slice(&bytes[..free]);
            ControlFlow::Continue(())
        };
        let end = self.execute(call, cancellation, &mut take, &mut keep)?;
        Ok(FinishedCall {
            is_success: end.is_success(),
            output,
            log,
        })
    }

    fn execute(
        &self,
        call: &GitCall,
        cancellation: &Cancellation,
        on_output: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
        on_errors: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<RunEnd, Error> {
        let _ticket = self.enter(call, cancellation)?;
        let session = self.prompt_session();
        let request = StartRequest {
            program: self.program.as_path().into(),
            arguments: arguments(call),
            folder: self.root.clone(),
            environment: ProcessEnvironment::Only(self.variables(call, session.as_ref())),
        };
        let method = match call.access {
            CallAccess::Read => StopMethod::Kill,
            CallAccess::Write | CallAccess::WriteElsewhere => StopMethod::Terminate,
        };
        run(
            &request,
            &call.input,
            method,
            cancellation,
            on_output,
            on_errors,
        )
    }

    /// Recognizes the reason of a failed call, with the program that holds the index.
    pub(crate) fn recognize(&self, command: &str, log: &OutputLog) -> Error {
        match Error::recognize(command, &self.root, log) {
            Error::IndexLocked { path, .. } => {
                let holder = holder(&self.root);
                Error::IndexLocked { path, holder }
            }
            error => error,
        }
    }

    /// Takes the turn of a writer, for another program than git.
    pub(crate) fn enter_as_writer(
        &self,
        cancellation: &Cancellation,
    ) -> Result<WriteTicket, Error> {
        let ticket = self.gate.enter(cancellation)?;
        let git_dir = self.git_dir(cancellation)?;
        wait_for_index(&self.root, &git_dir, cancellation)?;
        Ok(ticket)
    }

    /// Waits for the turn of a call that writes, and for the index.
    fn enter(
        &self,
        call: &GitCall,
        cancellation: &Cancellation,
    ) -> Result<Option<WriteTicket>, Error> {
        match call.access {
            CallAccess::Read | CallAccess::WriteElsewhere => Ok(None),
            CallAccess::Write => self.enter_as_writer(cancellation).map(Some),
        }
    }

    fn prompt_session(&self) -> Option<PromptSession> {
        self.prompts.as_ref().map(PromptServer::session)
    }

    fn variables(&self, call: &GitCall, session: Option<&PromptSession>) -> Vec<Variable> {
        // The last value of a variable counts.
        let mut variables = self.environment.clone();
        variables.extend(session.into_iter().flat_map(PromptSession::variables));
        variables.extend(call.variables.iter().cloned());
        variables
    }
}
