//! Finds occurrences of replaced tokens and compares their neighbours with those of the changed
//! sites.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use base::{ByteOffset, Revision, Span};
use syntax::TokenRole;
use text::Change;

use super::pattern::{TokenRoles, specificity};
use super::repeats::EditGroup;
use crate::EditorState;
use crate::local::log::{EDGE, MAX_CONTEXT_TOKENS, TokenRewrite};
use crate::local::token::{CodeToken, CodeTokens, TokenKind};

/// Number of tokens that are compared to the left and to the right of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContextWidth {
    pub(super) left: usize,
    pub(super) right: usize,
}

/// An occurrence of tokens that a group of edits has replaced elsewhere, with the replacement for
/// this occurrence.
#[derive(Clone, Debug)]
pub(crate) struct RepeatSite {
    pub(super) span: Span,
    pub(super) old: Arc<str>,
    pub(super) new: Arc<str>,
    /// Number of neighbouring tokens that match the newest replacement.
    pub(super) level: ContextWidth,
    /// Similarity to the most similar replacement of the group, and to replacements of the same
    /// tokens with something else.
    pub(super) likeness: usize,
    pub(super) rivalry: usize,
    /// Neighbouring tokens on both sides.
    beside: [SideTokens; 2],
}

/// Tokens on one side, the nearest first, each as its hash and specificity.
type SideTokens = [(u32, u8); MAX_CONTEXT_TOKENS];

/// The sites of one group of edits in one text, and the state of the text and the group for which
/// they were found.
#[derive(Clone, Debug)]
pub(crate) struct RepeatSites {
    pub(super) revision: Revision,
    /// Sites, sorted by position.
    pub(super) spots: Vec<RepeatSite>,
    /// Roles that words were searched in.
    pub(super) roles: TokenRoles,
    /// Number of edits in the group when it was searched.
    pub(super) known: usize,
    /// Whether a change of the text was missed.
    pub(super) is_lost: bool,
}

/// A search of one text for several groups.
pub(crate) struct RepeatSearch {
    pub(super) state: EditorState,
    pub(super) groups: Vec<EditGroup>,
}

/// Maximum number of sites kept per text.
const MAX_SITES: usize = 400;

impl ContextWidth {
    /// Returns the number of neighbouring tokens that two replacements share.
    pub(super) fn between(a: &TokenRewrite, b: &TokenRewrite) -> Self {
        let alike =
            |x: &[Arc<str>], y: &[Arc<str>]| x.iter().zip(y).take_while(|(x, y)| x == y).count();
        Self {
            left: alike(&a.left, &b.left),
            right: alike(&a.right, &b.right),
        }
    }

    pub(super) fn least(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            right: self.right.min(other.right),
        }
    }

    /// Whether it is at least as wide on both sides.
    pub(super) fn covers(self, other: Self) -> bool {
        self.left >= other.left && self.right >= other.right
    }
}

impl RepeatSite {
    /// Returns the similarity to another site of the same group.
    pub(super) fn likeness_to(&self, other: &Self, own: usize) -> usize {
        let side = |ix: usize| -> usize {
            let pairs = self.beside[ix].iter().zip(&other.beside[ix]);
            let alike = pairs.take_while(|(a, b)| a == b);
            alike.map(|((_, says), _)| usize::from(*says)).sum()
        };
        own + side(0) + side(1)
    }
}

impl RepeatSites {
    pub(super) fn follow(&mut self, change: &Change) {
        if self.revision != change.before {
            self.is_lost = true;
            return;
        }
        self.revision = change.after;
        self.spots.retain_mut(|spot| {
            let is_touched = change.splices.iter().any(|splice| {
                splice.old.start <= spot.span.end && spot.span.start <= splice.old.end
            });
            spot.span = change.map_span(spot.span);
            !is_touched
        });
    }
}

impl RepeatSearch {
    /// Searches for all groups. Takes time proportional to the text.
    pub(super) fn run(self) -> Vec<(u64, Option<base::AbsPath>, RepeatSites)> {
        let text = self.state.snapshot.to_string();
        let tokens: Vec<CodeToken> = CodeTokens::new(&text).collect();
        let ground = RepeatSearchText {
            state: &self.state,
            text: &text,
            tokens: &tokens,
        };
        let spots = |group: &EditGroup| RepeatSites {
            revision: self.state.snapshot.revision(),
            spots: ground.matching_sites(group),
            roles: group.roles,
            known: group.count(),
            is_lost: false,
        };
        let found = self
            .groups
            .iter()
            .map(|it| (it.key, self.state.path.clone(), spots(it)));
        found.collect()
    }
}

/// A text being searched.
struct RepeatSearchText<'a> {
    state: &'a EditorState,
    text: &'a str,
    tokens: &'a [CodeToken],
}

impl RepeatSearchText<'_> {
    fn matching_sites(&self, group: &EditGroup) -> Vec<RepeatSite> {
        let turn = &group.turn;
        let is_there = |token: &Arc<str>| self.text.contains(token.as_ref());
        if !turn.old.iter().all(is_there) {
            return Vec::new();
        }
        let places = (0..=self.tokens.len()).filter(|at| self.is_run(*at, &turn.old));
        let fits = |at: &usize| self.plays_its_part(group, *at);
        let spots = places.filter(fits).filter_map(|at| self.spot_at(group, at));
        spots.take(MAX_SITES).collect()
    }

    /// Returns the text of a token, or `EDGE` at a line break.
    fn token_text(&self, at: Option<usize>) -> &str {
        match at.and_then(|at| self.tokens.get(at)) {
            Some(token) if token.kind != TokenKind::Newline => token.text(self.text),
            _ => EDGE,
        }
    }

    /// Whether the texts of `tokens` follow each other from the token `at` on. `EDGE` matches a
    /// line break and an end of the text.
    fn is_run(&self, at: usize, tokens: &[Arc<str>]) -> bool {
        let mut tokens = tokens.iter().enumerate();
        tokens.all(|(ix, token)| self.token_text(Some(at + ix)) == token.as_ref())
    }

    /// Returns the site of the group's replacement at the token `at`, where its old tokens must
    /// match. Returns `None` if the surroundings are not similar enough, the new text is already
    /// present, or the syntactic scope differs.
    fn spot_at(&self, group: &EditGroup, at: usize) -> Option<RepeatSite> {
        let turn = &group.turn;
        let end = at + turn.old.len();
        let level = self.level(turn, at, end);
        let likeness = self.likeness(&group.turns, at, end);
        if !group.is_enough(likeness) || self.is_new_already(turn, at) {
            return None;
        }
        let span = self.span(at, end);
        let scope = self.state.syntax.as_ref().map(|syntax| {
            let place = self.tokens.get(at).map_or(span.start, |it| it.start);
            syntax.scope_at(&self.state.snapshot, ByteOffset(place))
        });
        if scope.is_some_and(|scope| scope != turn.scope) {
            return None;
        }
        let (span, new) = self.change(turn, span, at, end)?;
        Some(RepeatSite {
            span: Span::from(span.clone()),
            old: Arc::from(self.text.get(span)?),
            new,
            level,
            likeness,
            rivalry: self.likeness(&group.rivals, at, end),
            beside: [
                self.side(|ix| at.checked_sub(ix + 1)),
                self.side(|ix| Some(end + ix)),
            ],
        })
    }

    /// Whether the first word has a role that it had in the edits.
    fn plays_its_part(&self, group: &EditGroup, at: usize) -> bool {
        let roles = group.roles;
        let Some(syntax) = self.state.syntax.as_ref().filter(|_| roles.is_known()) else {
            return true;
        };
        let tokens = self.tokens.iter().skip(at).take(group.turn.old.len());
        let word = tokens.clone().find(|it| it.kind == TokenKind::Word);
        word.is_none_or(|word| {
            let leaf = syntax.token_at(&self.state.snapshot, ByteOffset(word.start));
            // Roles are unknown inside macros.
            leaf.is_some_and(|leaf| roles.has(leaf.role) || leaf.role == TokenRole::Other)
        })
    }

    fn level(&self, turn: &TokenRewrite, at: usize, end: usize) -> ContextWidth {
        let left = (0..turn.left.len().min(MAX_CONTEXT_TOKENS)).take_while(|back| {
            self.token_text(at.checked_sub(back + 1)) == turn.left[*back].as_ref()
        });
        let right = (0..turn.right.len().min(MAX_CONTEXT_TOKENS))
            .take_while(|ix| self.token_text(Some(end + ix)) == turn.right[*ix].as_ref());
        ContextWidth {
            left: left.count(),
            right: right.count(),
        }
    }

    fn side(&self, at: impl Fn(usize) -> Option<usize>) -> SideTokens {
        std::array::from_fn(|ix| {
            let word = self.token_text(at(ix));
            let mut hasher = DefaultHasher::new();
            // All numbers are treated as equal.
            if !word.starts_with(|ch: char| ch.is_ascii_digit()) {
                word.hash(&mut hasher);
            }
            (hasher.finish() as u32, specificity(word).min(255) as u8)
        })
    }

    /// Returns the similarity of a site to the most similar replacement, including its neighbours
    /// and ignoring differences between numbers.
    fn likeness(&self, turns: &[Arc<TokenRewrite>], at: usize, end: usize) -> usize {
        let side = |theirs: &[Arc<str>], ours: &dyn Fn(usize) -> Option<usize>| {
            let mut sum = 0;
            for (ix, their) in theirs.iter().enumerate() {
                let our = self.token_text(ours(ix));
                let is_number = |word: &str| word.starts_with(|ch: char| ch.is_ascii_digit());
                if our == their.as_ref() {
                    sum += specificity(our);
                } else if !(is_number(our) && is_number(their)) {
                    break;
                }
            }
            sum
        };
        let likeness = |turn: &Arc<TokenRewrite>| {
            let own: usize = turn.old.iter().map(|token| specificity(token)).sum();
            let left = side(&turn.left, &|back| at.checked_sub(back + 1));
            let right = side(&turn.right, &|ix| Some(end + ix));
            own + left + right
        };
        turns.iter().map(likeness).max().unwrap_or(0)
    }

    /// Whether the new tokens are present already.
    fn is_new_already(&self, turn: &TokenRewrite, at: usize) -> bool {
        let (old, new) = (&turn.old, &turn.new);
        let mut shifts = 0..=new.len().saturating_sub(old.len());
        new.len() > old.len()
            && shifts.any(|shift| {
                new[shift..].starts_with(old)
                    && at
                        .checked_sub(shift)
                        .is_some_and(|from| self.is_run(from, new))
            })
    }

    /// Returns the bytes from the end of the preceding token to the start of the following one.
    fn span(&self, at: usize, end: usize) -> std::ops::Range<usize> {
        let before = at.checked_sub(1).and_then(|ix| self.tokens.get(ix));
        let first = self.tokens.first().map_or(0, |token| token.start);
        let start = before.map_or(first, |token| token.end);
        let last = end.checked_sub(1).filter(|_| end > at);
        let last = last
            .and_then(|ix| self.tokens.get(ix))
            .map_or(start, |it| it.end);
        let behind = self
            .tokens
            .get(end)
            .filter(|it| it.kind != TokenKind::Newline);
        start..behind.map_or(last, |token| token.start)
    }

    /// Returns the span to replace and its new text: with the surrounding blanks if they match,
    /// otherwise the tokens alone.
    fn change(
        &self,
        turn: &TokenRewrite,
        span: std::ops::Range<usize>,
        at: usize,
        end: usize,
    ) -> Option<(std::ops::Range<usize>, Arc<str>)> {
        let (old, new) = &turn.texts;
        if self.text.get(span.clone())? == old.as_ref() {
            return Some((span, new.clone()));
        }
        if turn.old.is_empty() || turn.new.is_empty() {
            return None;
        }
        let first = self.tokens.get(at)?.start;
        let last = self.tokens.get(end.checked_sub(1)?)?.end;
        Some((first..last, Arc::from(new.trim())))
    }
}
