//! Cache of recent model completions, keyed by the text around the caret.
//!
//! A completion still matches after the user has typed its beginning; the cache then returns the
//! rest. It also matches when the user comes back to its position, as after a typing mistake and its
//! correction. The hash of the text right before the caret tells which completions are compared.
//!
//! Invariant: holds at most `MAX_COMPLETIONS` completions and `MAX_BYTES` of text; the least
//! recently used go first.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use base::{AbsPath, Bias, Span};
use model::ModelId;

use crate::EditorState;

/// Maximum number of cached completions.
const MAX_COMPLETIONS: usize = 256;
/// Maximum bytes of all cached completions together.
const MAX_BYTES: usize = 512 * 1_024;
/// Bytes before and after the caret that must match.
const BEFORE: usize = 256;
const BEHIND: usize = 128;
/// Bytes right before the caret that are hashed.
const HASHED: usize = 24;
/// Maximum bytes typed after a caret before it no longer counts as the same position.
const MAX_TYPED: usize = 64;
/// Closing characters that an editor may have inserted after the caret since.
const MAX_CLOSERS: usize = 3;

/// A caret position, identified by the file and the text around it, so that it is recognised again
/// in another revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaretText {
    path: Option<AbsPath>,
    before: String,
    behind: String,
    /// Whether `before` reaches the start of the text.
    is_start: bool,
    /// Hash of the last bytes of `before`; `None` if there are fewer than `HASHED`.
    hash: Option<u64>,
}

/// Completions of models by position and model. The cache is bounded: beyond the bound, it drops
/// the least recently used completions.
#[derive(Debug, Default)]
pub(crate) struct CompletionCache {
    /// Ordered from the least to the most recently used.
    completions: VecDeque<CachedCompletion>,
    bytes: usize,
}

#[derive(Debug)]
struct CachedCompletion {
    caret_text: CaretText,
    model: ModelId,
    text: String,
}

impl CaretText {
    /// Copies the text around the caret of an editor state, up to a bound in bytes on each side.
    pub(crate) fn of(state: &EditorState) -> Self {
        let snapshot = &state.snapshot;
        let caret = state.caret.min(snapshot.len());
        // Keeps more than is compared, since part of a completion may have been typed.
        let start = snapshot.clip(caret - 2 * BEFORE, Bias::Right);
        let end = snapshot.clip(caret + BEHIND, Bias::Left);
        let before = snapshot.text(Span::new(start, caret)).into_owned();
        Self {
            path: state.path.clone(),
            hash: hash_before(&before, before.len()),
            before,
            behind: snapshot.text(Span::new(caret, end)).into_owned(),
            is_start: start.0 == 0,
        }
    }

    /// Returns the part of `text`, a completion for this position, that remains at `now`: all of it
    /// at the same position, the rest if its beginning has been typed, `None` after any other
    /// change.
    pub(crate) fn remaining_completion<'a>(
        &self,
        text: &'a str,
        now: &CaretText,
    ) -> Option<&'a str> {
        if self.path != now.path || !self.is_before(now) {
            return None;
        }
        let mut cuts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        cuts.find(|cut| self.is_typed(&text[..*cut], now))
            .map(|cut| &text[cut..])
    }

    /// Returns the text that was typed at this position since, if that leads to `now`.
    pub(crate) fn typed_since<'a>(&self, now: &'a CaretText) -> Option<&'a str> {
        if self.path != now.path || !self.is_before(now) {
            return None;
        }
        let length = now.before.len();
        let starts = (length.saturating_sub(MAX_TYPED)..=length).rev();
        starts
            .filter_map(|start| now.before.get(start..))
            .find(|typed| self.is_typed(typed, now))
    }

    /// Whether no text follows in the row.
    pub(crate) fn is_row_end(&self) -> bool {
        let behind = self.behind.trim_start_matches([' ', '\t']);
        behind.is_empty() || behind.starts_with(['\n', '\r'])
    }

    /// Returns the hashes of the positions at which a completion may have begun that is typed up to
    /// here.
    fn hashes(&self) -> HashSet<u64> {
        let length = self.before.len();
        let ends = length.saturating_sub(BEFORE)..=length;
        ends.filter_map(|end| hash_before(&self.before, end))
            .collect()
    }

    /// Whether the text after the caret is unchanged except for inserted closing characters.
    fn is_before(&self, now: &CaretText) -> bool {
        let closers = |ch: &char| matches!(ch, ')' | ']' | '}' | '>' | '"' | '\'' | '`');
        let most = now
            .behind
            .chars()
            .take(MAX_CLOSERS)
            .take_while(closers)
            .count();
        (0..=most).any(|count| {
            let now = &now.behind[count..];
            let length = now.len().min(self.behind.len());
            let (a, b) = (now.as_bytes(), self.behind.as_bytes());
            // The captured texts are cut at their ends, so a difference in length there means
            // nothing.
            a[..length] == b[..length] && (length + MAX_CLOSERS >= BEHIND || a.len() == b.len())
        })
    }

    /// Whether the text before `now` is the text before this position followed by `typed`.
    fn is_typed(&self, typed: &str, now: &CaretText) -> bool {
        let Some(before) = now.before.strip_suffix(typed) else {
            return false;
        };
        let length = before.len().min(self.before.len()).min(BEFORE);
        let (a, b) = (before.as_bytes(), self.before.as_bytes());
        let is_whole = length == BEFORE || self.is_start && now.is_start && a.len() == b.len();
        is_whole && a[a.len() - length..] == b[b.len() - length..]
    }
}

impl CompletionCache {
    /// Stores the completion `text` that `model` gave for a position, as the most recent. An empty
    /// text records that the model suggests nothing here.
    pub(crate) fn insert(&mut self, caret_text: CaretText, model: ModelId, text: String) {
        self.completions.retain(|completion| {
            let is_same = completion.caret_text == caret_text
                && completion.model == model
                && completion.text == text;
            if is_same {
                self.bytes -= completion.text.len();
            }
            !is_same
        });
        self.bytes += text.len();
        self.completions.push_back(CachedCompletion {
            caret_text,
            model,
            text,
        });
        while self.completions.len() > MAX_COMPLETIONS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.completions.pop_front() else {
                return;
            };
            self.bytes -= oldest.text.len();
        }
    }

    /// Returns the untyped rest of each completion of `model` that matches a position, the most
    /// recent first. Returns an empty list if no completion matches. An empty string means that the
    /// model suggests nothing, and is returned only for the exact position of the request.
    pub(crate) fn find(&mut self, now: &CaretText, model: &ModelId) -> Vec<String> {
        let mut found = Vec::new();
        let mut used = Vec::new();
        let hashes = now.hashes();
        for (ix, completion) in self.completions.iter().enumerate().rev() {
            let hash = completion.caret_text.hash;
            if completion.model != *model || hash.is_some_and(|hash| !hashes.contains(&hash)) {
                continue;
            }
            let rest = completion
                .caret_text
                .remaining_completion(&completion.text, now);
            // A completion that has been typed to its end predicts nothing about the text after it.
            if let Some(rest) = rest.filter(|rest| !rest.is_empty() || completion.text.is_empty())
                && !found.iter().any(|known| known == rest)
            {
                found.push(rest.to_owned());
                used.push(ix);
            }
        }
        for ix in used.into_iter().take(1) {
            if let Some(completion) = self.completions.remove(ix) {
                self.completions.push_back(completion);
            }
        }
        found
    }
}

/// Returns the hash of the bytes before `end`; `None` if there are fewer than `HASHED`.
fn hash_before(text: &str, end: usize) -> Option<u64> {
    let bytes = text.as_bytes().get(end.checked_sub(HASHED)?..end)?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests;
