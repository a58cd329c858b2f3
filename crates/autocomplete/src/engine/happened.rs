//! What is worth writing down.

use std::time::Duration;

use crate::{Part, Source, SuggestionId};

/// Something for the ledger: what was shown, what became of it, and what is left of it later.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// A suggestion came in sight.
    Shown {
        /// Which one.
        id: SuggestionId,
        /// Where it comes from.
        source: Source,
        /// How many chars it brings in.
        chars: usize,
        /// From asking to showing; none if it was known already.
        took: Option<Duration>,
    },
    /// It was taken, or some of it.
    Accepted {
        /// Which one.
        id: SuggestionId,
        /// Where it comes from.
        source: Source,
        /// How much.
        part: Part,
        /// How many chars came in.
        chars: usize,
    },
    /// The person typed all of it.
    Typed {
        /// Which one.
        id: SuggestionId,
        /// Where it comes from.
        source: Source,
    },
    /// It was turned down.
    Dismissed {
        /// Which one.
        id: SuggestionId,
        /// Where it comes from.
        source: Source,
    },
    /// The person did something else.
    Ignored {
        /// Which one.
        id: SuggestionId,
        /// Where it comes from.
        source: Source,
        /// How many of its chars were typed before.
        typed: usize,
    },
    /// What is left of something that was taken.
    Kept {
        /// Which one.
        id: SuggestionId,
        /// Where it comes from.
        source: Source,
        /// How long ago it was taken.
        after: Duration,
        /// How many bytes came in.
        bytes: usize,
        /// How many of them stand there still.
        kept: usize,
    },
}

impl Happened {
    /// To which suggestion.
    pub fn id(&self) -> SuggestionId {
        match self {
            Self::Shown { id, .. }
            | Self::Accepted { id, .. }
            | Self::Typed { id, .. }
            | Self::Dismissed { id, .. }
            | Self::Ignored { id, .. }
            | Self::Kept { id, .. } => *id,
        }
    }
}
