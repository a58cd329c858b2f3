//! Places whose context is like the caret's, near it and in the corpus.
//!
//! Beyond the words that agree, a place may agree but for names: then its names stand for ours, and what follows it is
//! read with ours in their places.

use std::collections::{HashMap, HashSet};

use base::AbsPath;

use super::near::Near;
use crate::local::corpus::stream::{Item, NEWLINE};
use crate::local::corpus::{CorpusView, Place};

/// A place that something follows.
pub(super) struct Trail<'a> {
    near: &'a Near,
    at: At<'a>,
    /// How many words before it are the caret's.
    pub(super) length: usize,
    /// How many of those are no signs.
    pub(super) words: usize,
    /// How many more are, but for names.
    pub(super) farther: usize,
    pub(super) weight: f32,
    /// Whether it lies in the same file.
    pub(super) is_here: bool,
    /// Its names that stand for ours.
    names: HashMap<String, String>,
}

enum At<'a> {
    Near(usize),
    Corpus(&'a CorpusView, Place),
}

/// Places that take part, and that are looked at in each segment.
const MOST_NEAR: usize = 40;
const MOST_FAR: usize = 40;
const MOST_SEEN: usize = 400;

/// Words that are listed for how they begin alone, here and in other open files.
const MOST_SPELLED: usize = 40;

/// A context is followed so far where only names differ.
const MOST_FARTHER: usize = 24;

/// As many tokens that follow the caret already make a place one to be passed over.
const SAME_AS_BEHIND: usize = 3;

/// The places with the longest contexts in common with the caret.
pub(super) fn trails<'a>(
    near: &'a Near,
    view: &'a CorpusView,
    path: Option<&AbsPath>,
    open: &HashSet<AbsPath>,
) -> Vec<Trail<'a>> {
    let mut trails = near_trails(near);
    let context = near.context_in(view, MOST_FARTHER);
    let fits = |item: Item| fits(near, item, |word| view.text(word));
    let mut places = view.places(&context, (MOST_FAR, MOST_SEEN), fits);
    places.sort_by_key(|place| std::cmp::Reverse(place.length));
    places.truncate(MOST_FAR);
    trails.extend(places.into_iter().map(|place| {
        let file = view.path(&place);
        let is_here = file.is_some() && file == path;
        let is_open = file.is_some_and(|file| open.contains(file));
        let factor = if is_here || is_open { 1.5 } else { 1.0 };
        Trail::new(near, At::Corpus(view, place), place.length, is_here, factor)
    }));
    trails.retain(|trail| !trail.is_what_follows());
    trails
}

fn near_trails(near: &Near) -> Vec<Trail<'_>> {
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
                    .is_some_and(|item| item.word() == **word)
            })
            .count();
        // Without any context only the beginning of a word can tell.
        if alike > 0
            || !near.partial.is_empty() && near.text(item.word()).len() > near.partial.len()
        {
            found.push((alike, at));
        }
    }
    let distance = |at: usize| at.abs_diff(near.before.len());
    found.sort_by_key(|(alike, at)| (std::cmp::Reverse(*alike), distance(*at)));
    found.truncate(MOST_NEAR);
    found
        .into_iter()
        .map(|(alike, at)| {
            let nearness = 2.0 - (distance(at) as f32 / 1500.0).min(1.0);
            Trail::new(near, At::Near(at), alike, true, nearness)
        })
        .collect()
}

/// The nearest place of each word that begins as what is typed does, those near the caret first.
pub(super) fn spelled<'a>(
    near: &'a Near,
    view: &'a CorpusView,
    path: Option<&AbsPath>,
    open: &HashSet<AbsPath>,
) -> Vec<Trail<'a>> {
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
                .is_some_and(|it| begins(near.text(it.word())))
        })
        .collect();
    places.sort_by_key(|at| at.abs_diff(middle));
    places.retain(|at| {
        near.item(*at)
            .is_some_and(|it| known.insert(near.text(it.word())))
    });
    places.truncate(MOST_SPELLED);
    let is_other = |file: &AbsPath| Some(file) != path && open.contains(file);
    let mut elsewhere = view.spelled(is_other, begins);
    elsewhere.retain(|(_, word)| known.insert(word));
    elsewhere.truncate(MOST_SPELLED);
    let here = places
        .into_iter()
        .map(|at| Trail::new(near, At::Near(at), 0, true, 1.0));
    let elsewhere = elsewhere
        .into_iter()
        .map(|(place, _)| Trail::new(near, At::Corpus(view, place), 0, false, 0.5));
    here.chain(elsewhere).collect()
}

/// What stands before the caret is no context of what stands behind it.
fn is_same_side(near: &Near, at: usize, other: usize) -> bool {
    (at < near.before.len()) == (other < near.before.len())
}

/// Whether a token may come next: it goes on with what is typed, with the blanks that are typed.
fn fits<'t>(near: &Near, item: Item, text: impl Fn(u32) -> &'t str) -> bool {
    if !near.fits_gap(item.gap()) {
        return false;
    }
    if near.partial.is_empty() {
        return item.word() == NEWLINE || !text(item.word()).is_empty();
    }
    item.word() != NEWLINE && text(item.word()).starts_with(&near.partial)
}

impl<'a> Trail<'a> {
    fn new(near: &'a Near, at: At<'a>, length: usize, is_here: bool, factor: f32) -> Self {
        let mut trail = Self {
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
            trail.follow_names();
        }
        let (signs, words) = (trail.length - trail.words, trail.words);
        let alike = 0.6 * signs as f32 + 1.2 * words as f32 + 0.3 * trail.farther as f32;
        trail.weight = factor * (0.2 + alike.min(14.0)).powi(3);
        trail
    }

    pub(super) fn is_near(&self) -> bool {
        matches!(self.at, At::Near(_))
    }

    /// How many tokens lie between the place and the caret, where it is near.
    pub(super) fn distance(&self) -> Option<usize> {
        match self.at {
            At::Near(at) => Some(at.abs_diff(self.near.before.len())),
            At::Corpus(..) => None,
        }
    }

    /// The token so many behind the place, or before it where negative.
    pub(super) fn item(&self, offset: isize) -> Option<Item> {
        match &self.at {
            At::Near(at) => {
                let ix = at.checked_add_signed(offset)?;
                // What is being typed would otherwise foretell itself.
                is_same_side(self.near, *at, ix)
                    .then(|| self.near.item(ix))
                    .flatten()
            }
            At::Corpus(view, place) => view.item(place, offset),
        }
    }

    fn text(&self, item: Item) -> &str {
        match &self.at {
            At::Near(_) => self.near.text(item.word()),
            At::Corpus(view, _) => view.text(item.word()),
        }
    }

    /// The text of a token, with our name in the place of its own.
    pub(super) fn rebound(&self, item: Item) -> &str {
        let text = self.text(item);
        self.names.get(text).map_or(text, String::as_str)
    }

    /// Follows the context farther back, where only names differ, and notes which stands for which.
    fn follow_names(&mut self) {
        let ours = self
            .near
            .before
            .iter()
            .rev()
            .skip(self.length)
            .take(MOST_FARTHER);
        let mut names: HashMap<String, String> = HashMap::new();
        let mut farther = 0;
        for (back, our) in ours.enumerate() {
            let offset = -((self.length + back) as isize) - 1;
            let Some(their) = self.item(offset) else {
                break;
            };
            if our.word() == NEWLINE || their.word() == NEWLINE {
                if our.word() != their.word() {
                    break;
                }
                farther += 1;
                continue;
            }
            let (our, their) = (self.near.text(our.word()), self.text(their));
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
        // A word that stands for itself elsewhere in the context is no name of ours.
        names.retain(|their, _| !self.near.is_in_context(their));
        self.farther = farther;
        self.names = names;
    }

    /// Whether what follows the place follows the caret already: the place is then most likely the caret's own.
    fn is_what_follows(&self) -> bool {
        let mut behind = self.near.behind.iter().copied().peekable();
        behind.next_if(|item| item.word() == NEWLINE);
        let mut count = 0;
        for (offset, ours) in behind.take(SAME_AS_BEHIND).enumerate() {
            let Some(theirs) = self.item(offset as isize) else {
                return false;
            };
            let is_same = match (ours.word(), theirs.word()) {
                (NEWLINE, word) | (word, NEWLINE) => word == NEWLINE && ours.word() == NEWLINE,
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
