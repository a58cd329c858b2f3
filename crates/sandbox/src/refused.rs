//! Why an order was not run at all.

use std::io;

use base::AbsPath;

use crate::Layer;

/// Nothing was run. The text is a sentence for the person: what is missing and how to get it.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A layer cannot be put up here.
    #[error(
        "the sandbox cannot be put up: {layer} is missing ({step}: {cause}); {advice}. \
         To run without this layer all the same, say --without {layer}"
    )]
    Missing {
        /// The layer.
        layer: Layer,
        /// What was tried, in words.
        step: String,
        /// What the system said.
        cause: io::Error,
        /// How to get the layer.
        advice: &'static str,
    },
    /// The policy asks for what cannot be enforced, such as a workspace that is the whole disk.
    #[error("the sandbox cannot be put up: {reason}")]
    Policy {
        /// What is wrong, and with which path.
        reason: String,
    },
    /// The folder to start in is not within the workspace or something writable, or is not there.
    #[error("cannot start in {folder}: {reason}")]
    Folder {
        /// The folder of the order.
        folder: AbsPath,
        /// Why not.
        reason: String,
    },
    /// The sandbox is up, but the program cannot be run in it.
    #[error("cannot run {program}: {cause}")]
    Program {
        /// The program of the order.
        program: String,
        /// What the system said.
        cause: io::Error,
    },
    /// The room has ended, or the launcher is gone.
    #[error("the sandbox is gone: {reason}; open a new one")]
    Gone {
        /// What was seen.
        reason: String,
    },
    /// This system has no sandbox that we know of.
    #[error("commands cannot be confined on this system: {reason}")]
    System {
        /// What is missing.
        reason: String,
    },
}

impl Refused {
    /// The layer that is missing, where that is the reason.
    pub fn layer(&self) -> Option<Layer> {
        match self {
            Self::Missing { layer, .. } => Some(*layer),
            _ => None,
        }
    }

    /// Whether the program was not found or is no program, as a shell's 127 and 126.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Program { cause, .. } if cause.kind() == io::ErrorKind::NotFound => 127,
            Self::Program { .. } => 126,
            _ => 125,
        }
    }
}
