//! The errors of this crate.

use std::io;

use base::AbsPath;

use crate::SandboxLayer;

/// The reason that a command was not run. The text is a sentence for the user: what is missing and
/// how to get it.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A layer cannot be set up on this machine.
    #[error(
        "cannot set up the sandbox: {layer} is missing ({step}: {cause}); {advice}. \
         To run without this layer anyway, pass --without {layer}"
    )]
    Missing {
        /// The layer that is missing.
        layer: SandboxLayer,
        /// The attempted step, in words.
        step: String,
        /// The error reported by the system.
        cause: io::Error,
        /// Advice on how to get the layer.
        advice: &'static str,
    },
    /// A part that every sandbox of this system needs cannot be set up; no layer can be omitted to do
    /// without it.
    #[error("cannot set up the sandbox: {step}: {cause}; {advice}")]
    Setup {
        /// The attempted step, in words.
        step: String,
        /// The error reported by the system.
        cause: io::Error,
        /// Advice on how to make the step succeed.
        advice: &'static str,
    },
    /// The policy cannot be enforced, for example a workspace that is the whole disk.
    #[error("cannot set up the sandbox: {reason}")]
    Policy {
        /// The problem and its path.
        reason: String,
    },
    /// The folder to start in is missing, or is neither in the workspace nor writable.
    #[error("cannot start in {folder}: {reason}")]
    Folder {
        /// The folder of the request.
        folder: AbsPath,
        /// The reason it cannot be used.
        reason: String,
    },
    /// The sandbox is running, but the program cannot be started in it.
    #[error("cannot run {program}: {cause}")]
    Program {
        /// The program of the request.
        program: String,
        /// The error reported by the system.
        cause: io::Error,
    },
    /// The warm sandbox or the launcher has ended.
    #[error("the sandbox has ended: {reason}; start a new one")]
    Gone {
        /// The failure that was observed.
        reason: String,
    },
    /// The system cannot read the profile of the sandbox. Only macOS has profiles.
    #[error(
        "cannot set up the sandbox: this version of macOS does not accept Burin's sandbox profile \
         ({reason}). The command was not run; report this message with the version of macOS"
    )]
    Profile {
        /// The message of the system.
        reason: String,
    },
    /// Burin itself runs in a sandbox, and macOS allows none inside another.
    #[error(
        "cannot set up the sandbox: Burin is already inside a sandbox of another program, and macOS \
         does not allow a second one inside it. Start Burin from Finder or from an ordinary terminal"
    )]
    Nested,
}

impl SandboxError {
    /// Returns the missing layer, if that is the reason.
    pub fn layer(&self) -> Option<SandboxLayer> {
        match self {
            Self::Missing { layer, .. } => Some(*layer),
            _ => None,
        }
    }

    /// Returns 127 if the program was not found and 126 if it cannot be executed, as a shell does.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Program { cause, .. } if cause.kind() == io::ErrorKind::NotFound => 127,
            Self::Program { .. } => 126,
            _ => 125,
        }
    }
}
