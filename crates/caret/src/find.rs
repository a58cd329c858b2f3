//! Find and replace within one text.
//!
//! A query is compiled once and then asked for matches in any snapshot, from any thread. Patterns
//! that cannot match a line ending run over windows of whole rows; others walk the rope's pieces
//! through a cursor. Either way the answers equal a search through the whole text as one string.
//! Invariant: matches are sorted and disjoint.
//! Start at `FindQuery::compile`.

mod contiguous;
mod endings;
mod engine;
mod piece_walker;
mod query;
mod replace;

pub use contiguous::{Groups, Searcher, TextMatches};
pub use engine::{FindMatch, MatchCount, MatchLimit, MatchList, Matcher, Matches, SearchWrap};
pub use query::{CaseMatching, FindQuery, PatternKind, QueryError, WordBounds};
pub use replace::{LetterCase, ReplacementTemplate};
