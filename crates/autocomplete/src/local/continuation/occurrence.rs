//! Occurrences of a context similar to the caret's, near the caret and in the corpus.
//!
//! Before the tokens that match exactly, a context may match except for names. Its names then map
//! to the user's, and the tokens after the occurrence are read with the names replaced.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use base::AbsPath;

use super::nearby_tokens::{NearbyTokens, TextSide};
use crate::local::corpus::stream::{NEWLINE, PackedToken};
use crate::local::corpus::{CorpusPosition, CorpusView};

/// An occurrence of a similar context, with the text that follows it.
pub(super) struct ContextOccurrence<'a> {
    near: &'a NearbyTokens<'a>,
    at: OccurrencePosition<'a>,
    /// Where it is.
    pub(super) origin: OccurrenceOrigin,
    /// Number of tokens before it that match the caret's context.
    pub(super) length: usize,
    /// Number of words among them.
    pub(super) words: usize,
    /// Number of further tokens that match except for names.
    pub(super) farther: usize,
    pub(super) weight: f32,
    /// Maps its names to the user's.
    names: HashMap<String, String>,
}

/// The text that holds an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OccurrenceOrigin {
    /// The text around the caret.
    Near,
    /// Text that an edit replaced at the caret.
    ReplacedHere,
    /// Text that another edit replaced.
    Replaced,
    /// The saved text of the file.
    File,
    /// Another open file.
    Open,
    /// Any other file of the project.
    Project,
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

/// The occurrences of contexts similar to the caret's, and how they agree with the typed prefix.
pub(super) struct ContextOccurrences<'a> {
    pub(super) list: Vec<ContextOccurrence<'a>>,
    /// Share of the occurrences of the context that agree with the typed prefix, near the caret and
    /// in the project, from 0 to 1; 1 without a prefix.
    pub(super) agreeing: f32,
    pub(super) agreeing_project: f32,
    /// Tokens before the caret that match an occurrence near it, whatever follows it.
    pub(super) longest: usize,
    /// Words of the project with the typed prefix, and how often they occur, the most frequent
    /// first.
    pub(super) prefixed: Vec<(u32, u32)>,
    prefixed_total: u32,
    /// Different words around the caret that continue the typed prefix.
    pub(super) prefix_rivals: usize,
}

/// Shortest prefix for which words of the project are listed, in bytes.
const MIN_PREFIX: usize = 2;

impl ContextOccurrences<'_> {
    /// Returns how often words with the typed prefix occur in the project, and the share of one of
    /// them.
    pub(super) fn prefix_share(&self, word: &str, view: &CorpusView) -> (usize, f32) {
        if self.prefixed.is_empty() {
            return (0, 0.0);
        }
        let number = view.word_number(word);
        let own = self.prefixed.iter().find(|(known, _)| *known == number);
        let own = own.map_or(0, |(_, count)| *count);
        let share = own as f32 / self.prefixed_total.max(1) as f32;
        (self.prefixed_total as usize, share)
    }
}

/// Returns the occurrences with the longest context in common with the caret.
pub(super) fn occurrences<'a>(
    near: &'a NearbyTokens<'a>,
    view: &'a CorpusView,
    path: Option<&AbsPath>,
    open: &HashSet<AbsPath>,
) -> ContextOccurrences<'a> {
    let nearby = nearby_occurrences(near);
    let mut list = nearby.list;
    let context = near.context_in(view, MAX_RENAMED_TOKENS);
    let (seen, fitting) = (Cell::new(0_u32), Cell::new(0_u32));
    let fits = |item: PackedToken| {
        let fits = fits(near, item, |word| view.text(word));
        seen.set(seen.get() + 1);
        fitting.set(fitting.get() + u32::from(fits));
        fits
    };
    let mut places = view.find_positions(&context, (MAX_CORPUS, MAX_VISITED), fits);
    longest_evenly(&mut places, MAX_CORPUS);
    list.extend(places.into_iter().map(|place| {
        let file = view.path(&place);
        let origin = if file.is_some() && file == path {
            OccurrenceOrigin::File
        } else if file.is_some_and(|file| open.contains(file)) {
            OccurrenceOrigin::Open
        } else {
            OccurrenceOrigin::Project
        };
        let at = OccurrencePosition::Corpus(view, place);
        ContextOccurrence::new(near, at, place.length, origin)
    }));
    list.retain(|occurrence| !occurrence.is_what_follows());
    let prefixed = if near.partial.len() >= MIN_PREFIX {
        view.words_with_prefix(&near.partial)
    } else {
        Vec::new()
    };
    ContextOccurrences {
        list,
        agreeing: nearby.agreeing,
        agreeing_project: fitting.get() as f32 / seen.get().max(1) as f32,
        longest: nearby.longest,
        prefixed_total: prefixed.iter().map(|(_, count)| *count).sum(),
        prefixed,
        prefix_rivals: near.rivals_of_prefix(),
    }
}

/// Keeps the `most` longest matches, and of those of the least length an even part, since neighbours
/// resemble each other.
fn longest_evenly(places: &mut Vec<CorpusPosition>, most: usize) {
    places.sort_by_key(|place| std::cmp::Reverse(place.length));
    let Some(least) = places.get(most).map(|place| place.length) else {
        return;
    };
    let start = places.partition_point(|place| place.length > least);
    let end = places.partition_point(|place| place.length >= least);
    let (wanted, all) = (most - start, end - start);
    let even = (0..wanted).map(|ix| places[start + ix * all / wanted]);
    let even: Vec<CorpusPosition> = even.collect();
    places.truncate(start);
    places.extend(even);
}

/// The occurrences around the caret, and the fields of `ContextOccurrences` that they give.
struct NearbyOccurrences<'a> {
    list: Vec<ContextOccurrence<'a>>,
    agreeing: f32,
    longest: usize,
}

fn nearby_occurrences<'a>(near: &'a NearbyTokens<'a>) -> NearbyOccurrences<'a> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let (mut all, mut fitting, mut longest) = (0, 0, 0);
    for at in (0..near.len()).filter(|at| *at != near.before.len()) {
        let Some(item) = near.item(at).filter(|_| !near.is_frame(at)) else {
            continue;
        };
        let alike = matching_tokens(near, at);
        all += alike;
        longest = longest.max(alike);
        if !fits(near, item, |word| near.text(word)) {
            continue;
        }
        fitting += alike;
        // Without any context only a typed prefix is evidence.
        let has_prefix =
            !near.partial.is_empty() && near.text(item.word_number()).len() > near.partial.len();
        if alike > 0 || has_prefix {
            found.push((alike, at));
        }
    }
    found.sort_by_key(|(alike, at)| (std::cmp::Reverse(*alike), near.distance(*at)));
    found.truncate(MAX_NEARBY);
    let occurrence = |(alike, at): (usize, usize)| {
        let origin = match near.side(at) {
            TextSide::Replaced if near.is_replaced_here(at) => OccurrenceOrigin::ReplacedHere,
            TextSide::Replaced => OccurrenceOrigin::Replaced,
            _ => OccurrenceOrigin::Near,
        };
        ContextOccurrence::new(near, OccurrencePosition::Near(at), alike, origin)
    };
    NearbyOccurrences {
        list: found.into_iter().map(occurrence).collect(),
        agreeing: if all == 0 {
            1.0
        } else {
            fitting as f32 / all as f32
        },
        longest,
    }
}

/// Returns the number of tokens before a position that match those before the caret.
fn matching_tokens(near: &NearbyTokens<'_>, at: usize) -> usize {
    let context = near.context.iter().enumerate();
    let is_alike = |(back, word): &(usize, &u32)| {
        let before = at.checked_sub(back + 1);
        let before = before.filter(|ix| near.side(at) == near.side(*ix));
        let item = before.and_then(|ix| near.item(ix));
        item.is_some_and(|item| item.word_number() == **word)
    };
    context.take_while(is_alike).count()
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
    let here = places.into_iter().map(|at| {
        let at = OccurrencePosition::Near(at);
        ContextOccurrence::new(near, at, 0, OccurrenceOrigin::Near)
    });
    let elsewhere = elsewhere.into_iter().map(|(place, _)| {
        let at = OccurrencePosition::Corpus(view, place);
        ContextOccurrence::new(near, at, 0, OccurrenceOrigin::Open)
    });
    here.chain(elsewhere).collect()
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
        origin: OccurrenceOrigin,
    ) -> Self {
        let mut occurrence = Self {
            near,
            at,
            origin,
            length,
            words: near.words_before(length),
            farther: 0,
            weight: 0.0,
            names: HashMap::new(),
        };
        if length > 0 {
            occurrence.follow_names();
        }
        let (signs, words) = (occurrence.length - occurrence.words, occurrence.words);
        let alike = 0.6 * signs as f32 + 1.2 * words as f32 + 0.3 * occurrence.farther as f32;
        let alike = 0.2 + alike.min(14.0);
        occurrence.weight = occurrence.factor() * alike * alike * alike;
        occurrence
    }

    /// Returns the weight of the text that holds it.
    fn factor(&self) -> f32 {
        match self.origin {
            OccurrenceOrigin::Near => 2.0 - (self.distance().unwrap_or(0) as f32 / 1500.0).min(1.0),
            OccurrenceOrigin::ReplacedHere => 2.0,
            OccurrenceOrigin::Replaced => 1.5,
            OccurrenceOrigin::File | OccurrenceOrigin::Open => 1.5,
            OccurrenceOrigin::Project => 1.0,
        }
    }

    /// Returns the number of tokens between the occurrence and the caret if it is in the text around
    /// the caret.
    pub(super) fn distance(&self) -> Option<usize> {
        match self.at {
            OccurrencePosition::Near(at) => Some(self.near.distance(at)),
            OccurrencePosition::Corpus(..) => None,
        }
    }

    /// Returns the token at an offset from the occurrence; negative offsets precede it.
    pub(super) fn item(&self, offset: isize) -> Option<PackedToken> {
        match &self.at {
            OccurrencePosition::Near(at) => {
                let ix = at.checked_add_signed(offset)?;
                // The text being typed must not predict itself.
                (self.near.side(*at) == self.near.side(ix))
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
