//! Occurrences of a context similar to the caret's, near the caret and in the corpus.
//!
//! Before the tokens that match exactly, a context may match except for names. Its names then map
//! to the user's, and the tokens after the occurrence are read with the names replaced.

use std::collections::{HashMap, HashSet};

use base::AbsPath;

use super::nearby_tokens::NearbyTokens;
use crate::local::corpus::stream::{NEWLINE, PackedToken};
use crate::local::corpus::{CorpusPosition, CorpusView};

/// An occurrence of a similar context, with the text that follows it.
pub(super) struct ContextOccurrence<'a> {
    near: &'a NearbyTokens<'a>,
    at: OccurrencePosition<'a>,
    /// Number of tokens before it that match the caret's context.
    pub(super) length: usize,
    /// Number of words among them.
    pub(super) words: usize,
    /// Number of further tokens that match except for names.
    pub(super) farther: usize,
    pub(super) weight: f32,
    /// Whether it is in the same file.
    pub(super) is_here: bool,
    /// Maps its names to the user's.
    names: HashMap<String, String>,
}

enum OccurrencePosition<'a> {
    Near(usize),
    Corpus(&'a CorpusView, CorpusPosition),
}

/// Maximum number of occurrences used near the caret and from the corpus, and of those inspected in
/// each segment.
const MAX_NEARBY: usize = 40;
const MAX_CORPUS: usize = 40;
const MAX_VISITED: usize = 400;

/// Maximum number of words listed by prefix alone, here and in other open files.
const MAX_SPELLED: usize = 40;

/// Maximum number of tokens by which a context is extended where only names differ.
const MAX_RENAMED_TOKENS: usize = 24;

/// Number of tokens already following the caret that identify an occurrence as the caret's own
/// text.
const SAME_AS_BEHIND: usize = 3;

/// Returns the occurrences with the longest context in common with the caret.
pub(super) fn occurrences<'a>(
    near: &'a NearbyTokens<'a>,
    view: &'a CorpusView,
    path: Option<&AbsPath>,
    open: &HashSet<AbsPath>,
) -> Vec<ContextOccurrence<'a>> {
    let mut occurrences = nearby_occurrences(near);
    let context = near.context_in(view, MAX_RENAMED_TOKENS);
    let fits = |item: PackedToken| fits(near, item, |word| view.text(word));
    let mut places = view.find_positions(&context, (MAX_CORPUS, MAX_VISITED), fits);
    places.sort_by_key(|place| std::cmp::Reverse(place.length));
    places.truncate(MAX_CORPUS);
    occurrences.extend(places.into_iter().map(|place| {
        let file = view.path(&place);
        let is_here = file.is_some() && file == path;
        let is_open = file.is_some_and(|file| open.contains(file));
        let factor = if is_here || is_open { 1.5 } else { 1.0 };
        ContextOccurrence::new(
            near,
            OccurrencePosition::Corpus(view, place),
            place.length,
            is_here,
            factor,
        )
    }));
    occurrences.retain(|occurrence| !occurrence.is_what_follows());
    occurrences
}

fn nearby_occurrences<'a>(near: &'a NearbyTokens<'a>) -> Vec<ContextOccurrence<'a>> {
    let context = &near.context;
    let end = near.before.len() + near.behind.len();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in (0..end).filter(|at| *at != near.before.len()) {
        let Some(item) = near.item(at) else {
            continue;
        };
        if !fits(near, item, |word| near.text(word)) {
            continue;
        }
        let alike = context
            .iter()
            .enumerate()
            .take_while(|(back, word)| {
                let before = at
                    .checked_sub(back + 1)
                    .filter(|ix| is_same_side(near, at, *ix));
                before
                    .and_then(|ix| near.item(ix))
                    .is_some_and(|item| item.word_number() == **word)
            })
            .count();
        // Without any context only a typed prefix is evidence.
        if alike > 0
            || !near.partial.is_empty() && near.text(item.word_number()).len() > near.partial.len()
        {
            found.push((alike, at));
        }
    }
    let distance = |at: usize| at.abs_diff(near.before.len());
    found.sort_by_key(|(alike, at)| (std::cmp::Reverse(*alike), distance(*at)));
    found.truncate(MAX_NEARBY);
    found
        .into_iter()
        .map(|(alike, at)| {
            let nearness = 2.0 - (distance(at) as f32 / 1500.0).min(1.0);
            ContextOccurrence::new(near, OccurrencePosition::Near(at), alike, true, nearness)
        })
        .collect()
}

/// Returns the nearest occurrence of each word with the typed prefix, those near the caret first.
pub(super) fn spelled<'a>(
    near: &'a NearbyTokens<'a>,
    view: &'a CorpusView,
    path: Option<&AbsPath>,
    open: &HashSet<AbsPath>,
) -> Vec<ContextOccurrence<'a>> {
    let begins = |text: &str| {
        let rest = text.strip_prefix(near.partial.as_str());
        !near.partial.is_empty() && rest.is_some_and(|rest| !rest.is_empty())
    };
    let mut known: HashSet<&str> = HashSet::new();
    let middle = near.before.len();
    let end = middle + near.behind.len();
    let mut places: Vec<usize> = (0..end)
        .filter(|at| {
            near.item(*at)
                .is_some_and(|it| begins(near.text(it.word_number())))
        })
        .collect();
    places.sort_by_key(|at| at.abs_diff(middle));
    places.retain(|at| {
        near.item(*at)
            .is_some_and(|it| known.insert(near.text(it.word_number())))
    });
    places.truncate(MAX_SPELLED);
    let is_other = |file: &AbsPath| Some(file) != path && open.contains(file);
    let mut elsewhere = view.spelled(is_other, begins);
    elsewhere.retain(|(_, word)| known.insert(word));
    elsewhere.truncate(MAX_SPELLED);
    let here = places
        .into_iter()
        .map(|at| ContextOccurrence::new(near, OccurrencePosition::Near(at), 0, true, 1.0));
    let elsewhere = elsewhere.into_iter().map(|(place, _)| {
        ContextOccurrence::new(near, OccurrencePosition::Corpus(view, place), 0, false, 0.5)
    });
    here.chain(elsewhere).collect()
}

/// Whether two tokens are on the same side of the caret; text before it is no context for text
/// after it.
fn is_same_side(near: &NearbyTokens<'_>, at: usize, other: usize) -> bool {
    (at < near.before.len()) == (other < near.before.len())
}

/// Whether a token may come next: it continues the typed prefix and fits the typed blanks.
fn fits<'t>(near: &NearbyTokens<'_>, item: PackedToken, text: impl Fn(u32) -> &'t str) -> bool {
    if !near.fits_gap(item.gap()) {
        return false;
    }
    if near.partial.is_empty() {
        return item.word_number() == NEWLINE || !text(item.word_number()).is_empty();
    }
    item.word_number() != NEWLINE && text(item.word_number()).starts_with(&near.partial)
}

impl<'a> ContextOccurrence<'a> {
    fn new(
        near: &'a NearbyTokens<'a>,
        at: OccurrencePosition<'a>,
        length: usize,
        is_here: bool,
        factor: f32,
    ) -> Self {
        let mut occurrence = Self {
            near,
            at,
            length,
            words: near.words_before(length),
            farther: 0,
            weight: 0.0,
            is_here,
            names: HashMap::new(),
        };
        if length > 0 {
            occurrence.follow_names();
        }
        let (signs, words) = (occurrence.length - occurrence.words, occurrence.words);
        let alike = 0.6 * signs as f32 + 1.2 * words as f32 + 0.3 * occurrence.farther as f32;
        occurrence.weight = factor * (0.2 + alike.min(14.0)).powi(3);
        occurrence
    }

    /// Whether it is in the text around the caret rather than in the corpus.
    pub(super) fn is_near(&self) -> bool {
        matches!(self.at, OccurrencePosition::Near(_))
    }

    /// Returns the number of tokens between the occurrence and the caret if it is near.
    pub(super) fn distance(&self) -> Option<usize> {
        match self.at {
            OccurrencePosition::Near(at) => Some(at.abs_diff(self.near.before.len())),
            OccurrencePosition::Corpus(..) => None,
        }
    }

    /// Returns the token at an offset from the occurrence; negative offsets precede it.
    pub(super) fn item(&self, offset: isize) -> Option<PackedToken> {
        match &self.at {
            OccurrencePosition::Near(at) => {
                let ix = at.checked_add_signed(offset)?;
                // The text being typed must not predict itself.
                is_same_side(self.near, *at, ix)
                    .then(|| self.near.item(ix))
                    .flatten()
            }
            OccurrencePosition::Corpus(view, place) => view.item(place, offset),
        }
    }

    fn text(&self, item: PackedToken) -> &str {
        match &self.at {
            OccurrencePosition::Near(_) => self.near.text(item.word_number()),
            OccurrencePosition::Corpus(view, _) => view.text(item.word_number()),
        }
    }

    /// Returns the text of a token, with the user's name in place of its own.
    pub(super) fn rebound(&self, item: PackedToken) -> &str {
        let text = self.text(item);
        self.names.get(text).map_or(text, String::as_str)
    }

    /// Extends the context backwards where only names differ, and records the mapping of names.
    fn follow_names(&mut self) {
        let ours = self
            .near
            .before
            .iter()
            .rev()
            .skip(self.length)
            .take(MAX_RENAMED_TOKENS);
        let mut names: HashMap<String, String> = HashMap::new();
        let mut farther = 0;
        for (back, our) in ours.enumerate() {
            let offset = -((self.length + back) as isize) - 1;
            let Some(their) = self.item(offset) else {
                break;
            };
            if our.word_number() == NEWLINE || their.word_number() == NEWLINE {
                if our.word_number() != their.word_number() {
                    break;
                }
                farther += 1;
                continue;
            }
            let (our, their) = (self.near.text(our.word_number()), self.text(their));
            if our != their {
                let is_name = |text: &str| {
                    text.chars()
                        .next()
                        .is_some_and(|ch| ch.is_alphabetic() || ch == '_')
                };
                let known = names.get(their);
                if !is_name(our) || !is_name(their) || known.is_some_and(|known| known != our) {
                    break;
                }
                names.insert(their.to_owned(), our.to_owned());
            }
            farther += 1;
        }
        // A name that also occurs unchanged in the context is not mapped.
        names.retain(|their, _| !self.near.is_in_context(their));
        self.farther = farther;
        self.names = names;
    }

    /// Whether the text after the occurrence already follows the caret: the occurrence is then most
    /// likely the caret's own position.
    fn is_what_follows(&self) -> bool {
        let mut behind = self.near.behind.iter().copied().peekable();
        behind.next_if(|item| item.word_number() == NEWLINE);
        let mut count = 0;
        for (offset, ours) in behind.take(SAME_AS_BEHIND).enumerate() {
            let Some(theirs) = self.item(offset as isize) else {
                return false;
            };
            let is_same = match (ours.word_number(), theirs.word_number()) {
                (NEWLINE, word) | (word, NEWLINE) => {
                    word == NEWLINE && ours.word_number() == NEWLINE
                }
                (word, _) => self.near.text(word) == self.text(theirs),
            };
            if !is_same {
                return false;
            }
            count += 1;
        }
        count > 0
    }
}
