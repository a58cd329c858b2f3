//! Continuation: predicts text from similar contexts, in this file or elsewhere in the project.
//!
//! Must not know: trees, files. The occurrences with the longest common context vote for one token
//! after the other; learned tables tell how likely each token and the whole guess are right, and the
//! guess ends where its expected benefit is greatest.
//! Invariant: the work is bounded by constants, not by the text or the project.

mod features;
mod guess_builder;
mod idioms;
mod nearby_tokens;
mod occurrence;
mod scorer;
mod tables;
mod token_window;

use std::collections::HashSet;

use base::{AbsPath, Span};

use super::corpus::CorpusView;
use super::line_ending::lf_len;
use super::log::EditLog;
use crate::EditorState;
pub use features::{GUESS_FEATURES, GuessVector, TOKEN_FEATURES, TokenVector};
use guess_builder::GuessBuilder;
pub use idioms::{IdiomContext, IdiomFollower, IdiomTable, MAX_FOLLOWERS, MAX_ORDER, each_idiom};
use nearby_tokens::NearbyTokens;
use occurrence::{occurrences, spelled};
pub use scorer::{ObliviousTree, ShowPolicy, TabScorer, TreeTable};
pub use tables::{TabTables, TableError};
pub(crate) use token_window::{MAX_ROW_BYTES, TokenWindow};

/// A possible continuation of the text at the caret, found in similar code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guess {
    /// Span that it replaces; empty, since the typed prefix of a word stays.
    pub(crate) span: Span,
    pub(crate) new: String,
    /// Probability that all of it is right, from 0 to 1.
    pub(crate) likelihood: f32,
    pub(crate) first: GuessStart,
}

/// First token of a guess.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GuessStart {
    /// Probability that it is right, from 0 to 1.
    pub(crate) likelihood: f32,
    /// Its bytes that are not typed yet.
    bytes: usize,
    /// Number of tokens between the caret and its nearest use around it. `None` if there is no use,
    /// or the guess is not for `GuessMode::Words`.
    pub(crate) distance: Option<usize>,
}

/// Selects which words with the typed prefix to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuessMode {
    /// Only words that the context before the caret supports.
    Likely,
    /// All such words around the caret and in open files, for an explicit request.
    Words,
}

/// Sources of guesses, beside the text around the caret.
#[derive(Clone, Copy)]
pub(crate) struct GuessSources<'a> {
    pub(crate) view: &'a CorpusView,
    /// The open files, whose code weighs more.
    pub(crate) open: &'a HashSet<AbsPath>,
    pub(crate) log: &'a EditLog,
    pub(crate) scorer: &'a TabScorer,
    pub(crate) idioms: &'a IdiomTable,
}

/// Maximum number of tokens of one guess.
const MAX_TOKENS: usize = 60;

/// Maximum number of guesses at one caret.
const MAX_GUESSES: usize = 4;

/// Returns the continuations at the caret that similar code suggests, the most useful first. Words
/// without supporting context are included only if `wanted` is `GuessMode::Words`.
pub(crate) fn guesses(
    state: &EditorState,
    window: &mut TokenWindow,
    sources: GuessSources<'_>,
    wanted: GuessMode,
) -> Vec<Guess> {
    let Some(near) = NearbyTokens::new(state, window, sources.log) else {
        return Vec::new();
    };
    let (view, open) = (sources.view, sources.open);
    let context = occurrences(&near, view, state.path.as_ref(), open);
    let mut guesses: Vec<Guess> = Vec::new();
    let (mut tried, mut listed) = (HashSet::new(), HashSet::new());
    for _ in 0..MAX_GUESSES {
        let walk = GuessBuilder::new(&near, state, &context, sources);
        let Some((first, guess)) = walk.guess(&tried) else {
            break;
        };
        if let Some(mut guess) = guess {
            if wanted == GuessMode::Words {
                guess.first.distance = near.nearest(&first);
            }
            listed.insert(first.clone());
            guesses.push(guess);
        }
        tried.insert(first);
    }
    let look = sources.scorer.look();
    guesses.sort_by(|a, b| b.benefit(look).total_cmp(&a.benefit(look)));
    if wanted == GuessMode::Words {
        let spelled = spelled(&near, view, state.path.as_ref(), open);
        let walk = GuessBuilder::new(&near, state, &context, sources);
        guesses.extend(walk.word_guesses(&spelled, &listed));
    }
    guesses
}

/// A training sample for the table of tokens: a predicted token, and whether it was right.
#[derive(Clone, Debug)]
pub struct TokenSample {
    /// Features of the token before it was predicted.
    pub features: TokenVector,
    /// Number of tokens before it in the guess.
    pub depth: usize,
    /// Length of the guess including it, in bytes.
    pub bytes: usize,
    /// Whether the text continued with the token.
    pub is_right: bool,
}

/// A training sample for the table of guesses: a guess that could be shown, and whether all of it
/// was right.
#[derive(Clone, Debug)]
pub struct GuessSample {
    /// Features of the guess.
    pub features: GuessVector,
    /// Whether the text continued with all of it.
    pub is_right: bool,
}

/// Returns the predictions for the tokens after the caret, up to the first prediction that
/// disagrees with `truth`.
pub(crate) fn token_samples(
    state: &EditorState,
    window: &mut TokenWindow,
    sources: GuessSources<'_>,
    truth: &str,
) -> Vec<TokenSample> {
    let Some(near) = NearbyTokens::new(state, window, sources.log) else {
        return Vec::new();
    };
    let context = occurrences(&near, sources.view, state.path.as_ref(), sources.open);
    GuessBuilder::new(&near, state, &context, sources).token_samples(truth)
}

/// Returns the guesses at the caret at each length at which they could be shown.
pub(crate) fn guess_samples(
    state: &EditorState,
    window: &mut TokenWindow,
    sources: GuessSources<'_>,
    truth: &str,
) -> Vec<GuessSample> {
    let Some(near) = NearbyTokens::new(state, window, sources.log) else {
        return Vec::new();
    };
    let context = occurrences(&near, sources.view, state.path.as_ref(), sources.open);
    let mut samples = Vec::new();
    let mut tried = HashSet::new();
    for _ in 0..MAX_GUESSES {
        let walk = GuessBuilder::new(&near, state, &context, sources);
        let mut ends = Vec::new();
        let Some((first, _)) = walk.guess_with(&tried, &mut |features, text| {
            ends.push(GuessSample {
                features: *features,
                is_right: continues_with(truth, text),
            });
        }) else {
            break;
        };
        tried.insert(first);
        samples.extend(ends);
    }
    samples
}

/// Whether `truth` begins with `text` and does not continue in the middle of a word.
fn continues_with(truth: &str, text: &str) -> bool {
    let is_word = super::token::is_word_char;
    truth
        .strip_prefix(text)
        .is_some_and(|rest| !(text.ends_with(is_word) && rest.starts_with(is_word)))
}

impl Guess {
    /// Expected keystrokes saved by accepting all of it or its first token, less the cost of
    /// reading a wrong guess, which is `look` keystrokes.
    fn benefit(&self, look: f32) -> f32 {
        let GuessStart {
            likelihood, bytes, ..
        } = self.first;
        let part = (likelihood - self.likelihood).max(0.0) * (bytes as f32 - 1.0).max(0.0);
        self.likelihood * (lf_len(&self.new) as f32 - 1.0) + part - look * (1.0 - self.likelihood)
    }
}

#[cfg(test)]
mod tests;
