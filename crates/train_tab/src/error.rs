//! The one error of the trainer.

use autocomplete::local::TableError;

/// The cause that ended a step of the trainer. Its message is printed as it is.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("there is no step {name:?}; there are pin, {known}, score, final")]
    UnknownStep {
        name: String,
        /// The steps of a whole run, separated by commas.
        known: String,
    },
    /// The list holds no package that can be trained on.
    #[error("the set {set} has no changes of code")]
    NothingToLearn { set: &'static str },
    /// A thread that read packages or fitted tables panicked.
    #[error("a thread panicked")]
    ThreadPanicked,
    #[error(transparent)]
    Packages(#[from] packages::Error),
    #[error(transparent)]
    Tables(#[from] TableError),
}
