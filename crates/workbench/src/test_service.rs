//! The service that runs the commands of tests. Wired by the app, replaced by tests.

use std::sync::Arc;

use async_channel::Receiver;
use base::AbsPath;
use futures::future::BoxFuture;
use test_runner::{TestCommand, TestRunEnd};

/// Returns the service for the tests of a folder.
pub type OpenTests = Arc<dyn Fn(&AbsPath) -> Arc<dyn TestService> + Send + Sync>;

/// Runs the commands of tests. No method blocks.
pub trait TestService: Send + Sync {
    /// Starts a command, unless the user does not trust the folder.
    fn start(&self, command: TestCommand) -> BoxFuture<'static, Result<TestRun, TestServiceError>>;
}

/// A command that runs. Dropping it ends the command with all its processes.
pub struct TestRun {
    /// The output, and at last the end.
    pub output: Receiver<TestOutput>,
    /// Ends the command with all its processes; the end follows on the channel.
    pub stop: Box<dyn FnOnce() + Send>,
}

/// A message of a command that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestOutput {
    /// The next bytes of the output.
    Chunk(Vec<u8>),
    /// The command ended.
    Ended(TestRunEnd),
}

/// The reason why a command did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TestServiceError {
    /// The user does not trust the folder.
    #[error("tests run only in trusted folders")]
    Untrusted,
    /// The command cannot start, for this reason.
    #[error("{0}")]
    Failed(String),
}
