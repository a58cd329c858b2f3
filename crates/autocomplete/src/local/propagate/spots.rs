//! The places in a text where some tokens stand, with how much stands beside them as it did where they were changed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use base::{ByteOffset, Revision, Span};
use syntax::TokenRole;
use text::Change;

use super::pattern::{Roles, says};
use super::repeats::Group;
use crate::Scene;
use crate::local::log::{EDGE, MOST_BESIDE, Turn};
use crate::local::token::{Token, TokenKind, Tokens};

/// How many tokens on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(super) left: usize,
    pub(super) right: usize,
}

/// A place.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(super) span: Span,
    pub(super) old: Arc<str>,
    pub(super) new: Arc<str>,
    /// How many tokens beside it are as they were beside the newest change.
    pub(super) level: Level,
    /// How much it has in common with the change that it is most like, and with the like that were changed otherwise.
    pub(super) likeness: usize,
    pub(super) rivalry: usize,
    /// What stands beside it.
    beside: [Side; 2],
}

/// The tokens on one side, the nearest first, each by its hash and how much it says.
type Side = [(u32, u8); MOST_BESIDE];

/// The places of one text.
#[derive(Clone, Debug)]
pub(crate) struct Spots {
    pub(super) revision: Revision,
    /// In text order.
    pub(super) spots: Vec<Spot>,
    /// The parts that words were looked for in.
    pub(super) roles: Roles,
    /// How many edits they were compared with.
    pub(super) known: usize,
    /// Whether a change was missed.
    pub(super) is_lost: bool,
}

/// A search of one text for several groups.
pub(crate) struct SpotSearch {
    pub(super) scene: Scene,
    pub(super) groups: Vec<Group>,
}

/// Places that are kept of one text.
const MOST_SPOTS: usize = 400;

impl Level {
    /// What two turns have in common.
    pub(super) fn between(a: &Turn, b: &Turn) -> Self {
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

    /// Whether it has as much on either side.
    pub(super) fn covers(self, other: Self) -> bool {
        self.left >= other.left && self.right >= other.right
    }
}

impl Spot {
    /// How much it and another place of the same group have in common.
    pub(super) fn likeness_to(&self, other: &Self, own: usize) -> usize {
        let side = |ix: usize| -> usize {
            let pairs = self.beside[ix].iter().zip(&other.beside[ix]);
            let alike = pairs.take_while(|(a, b)| a == b);
            alike.map(|((_, says), _)| usize::from(*says)).sum()
        };
        own + side(0) + side(1)
    }
}

impl Spots {
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

impl SpotSearch {
    /// Looks for all groups. Takes time in proportion to the text.
    pub(super) fn run(self) -> Vec<(u64, Option<base::AbsPath>, Spots)> {
        let text = self.scene.snapshot.to_string();
        let tokens: Vec<Token> = Tokens::new(&text).collect();
        let ground = Ground {
            scene: &self.scene,
            text: &text,
            tokens: &tokens,
        };
        let spots = |group: &Group| Spots {
            revision: self.scene.snapshot.revision(),
            spots: ground.spots(group),
            roles: group.roles,
            known: group.count(),
            is_lost: false,
        };
        let found = self
            .groups
            .iter()
            .map(|it| (it.key, self.scene.path.clone(), spots(it)));
        found.collect()
    }
}

/// A text that is searched.
struct Ground<'a> {
    scene: &'a Scene,
    text: &'a str,
    tokens: &'a [Token],
}

impl Ground<'_> {
    fn spots(&self, group: &Group) -> Vec<Spot> {
        let turn = &group.turn;
        let is_there = |token: &Arc<str>| self.text.contains(token.as_ref());
        if !turn.old.iter().all(is_there) {
            return Vec::new();
        }
        let places = (0..=self.tokens.len()).filter(|at| self.is_run(*at, &turn.old));
        let fits = |at: &usize| self.plays_its_part(group, *at);
        let spots = places.filter(fits).filter_map(|at| self.spot_at(group, at));
        spots.take(MOST_SPOTS).collect()
    }

    /// The token that counts as a row's edge where it is none.
    fn word(&self, at: Option<usize>) -> &str {
        match at.and_then(|at| self.tokens.get(at)) {
            Some(token) if token.kind != TokenKind::Newline => token.text(self.text),
            _ => EDGE,
        }
    }

    fn is_run(&self, at: usize, tokens: &[Arc<str>]) -> bool {
        let mut tokens = tokens.iter().enumerate();
        tokens.all(|(ix, token)| self.word(Some(at + ix)) == token.as_ref())
    }

    fn spot_at(&self, group: &Group, at: usize) -> Option<Spot> {
        let turn = &group.turn;
        let end = at + turn.old.len();
        let level = self.level(turn, at, end);
        let likeness = self.likeness(&group.turns, at, end);
        if !group.is_enough(likeness) || self.is_new_already(turn, at) {
            return None;
        }
        let span = self.span(at, end);
        let scope = self.scene.syntax.as_ref().map(|syntax| {
            let place = self.tokens.get(at).map_or(span.start, |it| it.start);
            syntax.scope_at(&self.scene.snapshot, ByteOffset(place))
        });
        if scope.is_some_and(|scope| scope != turn.scope) {
            return None;
        }
        let (span, new) = self.change(turn, span, at, end)?;
        Some(Spot {
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

    /// Whether the first of the words is what it was where it was changed.
    fn plays_its_part(&self, group: &Group, at: usize) -> bool {
        let roles = group.roles;
        let Some(syntax) = self.scene.syntax.as_ref().filter(|_| roles.is_known()) else {
            return true;
        };
        let tokens = self.tokens.iter().skip(at).take(group.turn.old.len());
        let word = tokens.clone().find(|it| it.kind == TokenKind::Word);
        word.is_none_or(|word| {
            let leaf = syntax.token_at(&self.scene.snapshot, ByteOffset(word.start));
            // Within macros nothing is known of words.
            leaf.is_some_and(|leaf| roles.has(leaf.role) || leaf.role == TokenRole::Other)
        })
    }

    fn level(&self, turn: &Turn, at: usize, end: usize) -> Level {
        let left = (0..turn.left.len().min(MOST_BESIDE))
            .take_while(|back| self.word(at.checked_sub(back + 1)) == turn.left[*back].as_ref());
        let right = (0..turn.right.len().min(MOST_BESIDE))
            .take_while(|ix| self.word(Some(end + ix)) == turn.right[*ix].as_ref());
        Level {
            left: left.count(),
            right: right.count(),
        }
    }

    fn side(&self, at: impl Fn(usize) -> Option<usize>) -> Side {
        std::array::from_fn(|ix| {
            let word = self.word(at(ix));
            let mut hasher = DefaultHasher::new();
            // Numbers are all alike.
            if !word.starts_with(|ch: char| ch.is_ascii_digit()) {
                word.hash(&mut hasher);
            }
            (hasher.finish() as u32, says(word).min(255) as u8)
        })
    }

    /// How much a place says that some turn says, too: with what stands beside it, but for numbers.
    fn likeness(&self, turns: &[Arc<Turn>], at: usize, end: usize) -> usize {
        let side = |theirs: &[Arc<str>], ours: &dyn Fn(usize) -> Option<usize>| {
            let mut sum = 0;
            for (ix, their) in theirs.iter().enumerate() {
                let our = self.word(ours(ix));
                let is_number = |word: &str| word.starts_with(|ch: char| ch.is_ascii_digit());
                if our == their.as_ref() {
                    sum += says(our);
                } else if !(is_number(our) && is_number(their)) {
                    break;
                }
            }
            sum
        };
        let likeness = |turn: &Arc<Turn>| {
            let own: usize = turn.old.iter().map(|token| says(token)).sum();
            let left = side(&turn.left, &|back| at.checked_sub(back + 1));
            let right = side(&turn.right, &|ix| Some(end + ix));
            own + left + right
        };
        turns.iter().map(likeness).max().unwrap_or(0)
    }

    /// Whether what came is what stands there already.
    fn is_new_already(&self, turn: &Turn, at: usize) -> bool {
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

    /// The bytes from the end of the token before to the start of the token behind.
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

    /// What is replaced and by what: with the blanks around it where they are the same, else the tokens alone.
    fn change(
        &self,
        turn: &Turn,
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
