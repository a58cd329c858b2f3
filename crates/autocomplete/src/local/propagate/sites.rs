//! The places in a text that a pattern is about.
//!
//! Found by tokens, then looked at in the tree: each word must play a part that it played in the edits, a node must be
//! of the same kind, and a variable must be bound to what it was bound to there. A place in doubt is none.

use std::sync::Arc;

use base::{ByteOffset, Span};
use syntax::{NameBinding, SyntaxSnapshot, TokenRole};
use text::Snapshot;

use super::pattern::{Pattern, Slot, fills_hole};
use crate::local::token::{Token, TokenKind, Tokens, is_word_char, solid_tokens};

/// A place where a pattern asks for a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) span: Span,
    pub(crate) old: Arc<str>,
    pub(crate) new: Arc<str>,
}

/// A text that is searched.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) text: &'a Snapshot,
    pub(crate) syntax: Option<&'a SyntaxSnapshot>,
    /// Where the edits that made the pattern stand in this text.
    pub(crate) examples: &'a [Span],
    /// Whether the pattern is about a variable of one function elsewhere.
    pub(crate) is_elsewhere: bool,
}

/// A hole is filled by at most so many tokens.
const MOST_HOLE: usize = 16;

/// The sites within a span of the text, in text order, at most so many.
pub(crate) fn sites(pattern: &Pattern, ground: Ground<'_>, within: Span, most: usize) -> Vec<Site> {
    let window = ground.text.text(within);
    let Some(anchor) = pattern.anchor() else {
        return Vec::new();
    };
    if !window.contains(anchor) {
        return Vec::new();
    }
    let search = Search {
        pattern,
        ground,
        window: &window,
        start: within.start,
        tokens: Tokens::new(&window).collect(),
        bindings: bindings(pattern, ground),
    };
    let mut found: Vec<Site> = Vec::new();
    let mut at = 0;
    while at < search.tokens.len() && found.len() < most {
        match search.site_at(at) {
            Some((site, length)) => {
                found.push(site);
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// What the variable of a pattern is bound to at the examples; none where the pattern is about no variable.
fn bindings(pattern: &Pattern, ground: Ground<'_>) -> Option<Vec<Option<NameBinding>>> {
    let names = names(pattern)?;
    let syntax = ground.syntax?;
    let of = |span: &Span| syntax.binding(ground.text, span.start, &names);
    Some(ground.examples.iter().map(of).collect())
}

/// Whether the edits in a text were made of several variables of one name.
pub(crate) fn is_of_many(pattern: &Pattern, ground: Ground<'_>) -> bool {
    let bindings = bindings(pattern, ground).unwrap_or_default();
    let mut bound = bindings.iter().flatten();
    let first = bound.next();
    bound.any(|binding| Some(binding) != first)
}

fn names(pattern: &Pattern) -> Option<Vec<&str>> {
    let (old, new) = pattern.variable()?;
    Some([Some(old), new].into_iter().flatten().collect())
}

/// Whether the variable of a pattern belongs to one function at the place of an edit.
pub(crate) fn is_local(
    pattern: &Pattern,
    text: &Snapshot,
    syntax: Option<&SyntaxSnapshot>,
    at: ByteOffset,
) -> bool {
    let found = names(pattern).zip(syntax);
    found.is_some_and(|(names, syntax)| syntax.binding(text, at, &names).is_some())
}

/// Whether a word of this role is a name that the code gives to something.
fn is_name(role: TokenRole) -> bool {
    use TokenRole::{Binding, Function, Member, Type, Variable};
    matches!(role, Binding | Function | Member | Type | Variable)
}

struct Search<'a> {
    pattern: &'a Pattern,
    ground: Ground<'a>,
    window: &'a str,
    start: ByteOffset,
    tokens: Vec<Token>,
    bindings: Option<Vec<Option<NameBinding>>>,
}

impl Search<'_> {
    /// The site that begins at a token, and how many tokens it has.
    fn site_at(&self, at: usize) -> Option<(Site, usize)> {
        let matched = self.matched(&self.pattern.old, at)?;
        let tokens = self.tokens.get(at..at + matched.length)?;
        let range = tokens.first()?.start..tokens.last()?.end;
        let span = Span::new(self.start + range.start, self.start + range.end);
        let fits = !self.is_new_already(at, matched.length)
            && self.has_receiver(at)
            && self.plays_its_parts(at, &matched)
            && self.is_node(span)
            && self.is_bound_alike(at, &matched);
        if !fits {
            return None;
        }
        let hole = matched.hole(&self.tokens, at);
        let hole = hole.map_or("", |range| self.window.get(range).unwrap_or_default());
        let site = Site {
            span,
            old: Arc::from(self.window.get(range)?),
            new: Arc::from(self.pattern.fill(hole)),
        };
        let is_change = site.old != site.new && !self.says_twice(at, matched.length, &site);
        is_change.then_some((site, matched.length))
    }

    /// The tokens from `at` on that some slots of the pattern match.
    fn matched(&self, old: &[Slot], at: usize) -> Option<Matched> {
        let hole = old.iter().position(|slot| slot.text().is_none());
        let Some(hole) = hole else {
            return self.is_run(at, old).then_some(Matched {
                length: old.len(),
                hole: None,
            });
        };
        let (head, tail) = (&old[..hole], &old[hole + 1..]);
        if !self.is_run(at, head) {
            return None;
        }
        let from = at + head.len();
        (1..=MOST_HOLE).find_map(|length| {
            let filling = self.tokens.get(from..from + length)?;
            let texts: Vec<&str> = filling
                .iter()
                .map(|token| token.text(self.window))
                .collect();
            let fits = filling.iter().all(|token| token.kind != TokenKind::Newline)
                && fills_hole(&texts)
                && self.is_run(from + length, tail);
            fits.then_some(Matched {
                length: head.len() + length + tail.len(),
                hole: Some((head.len(), length)),
            })
        })
    }

    fn is_run(&self, at: usize, slots: &[Slot]) -> bool {
        slots
            .iter()
            .enumerate()
            .all(|(ix, slot)| self.is_slot(at + ix, slot))
    }

    fn is_slot(&self, at: usize, slot: &Slot) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| Some(token.text(self.window)) == slot.text())
    }

    /// Whether what the pattern brings in stands around the place already.
    fn is_new_already(&self, at: usize, length: usize) -> bool {
        let (old, new) = (&self.pattern.old, &self.pattern.new);
        // What was changed once may look like what is to be changed: a hole takes in what came.
        let as_new = self.matched(new, at).map(|matched| matched.length);
        if self.pattern.has_hole() && as_new == Some(length) {
            return true;
        }
        let text =
            |slots: &[Slot], ix: usize| slots.get(ix).and_then(Slot::text).map(str::to_owned);
        let shifts = 0..=new.len().saturating_sub(old.len());
        let holds = |shift: usize| (0..old.len()).all(|ix| text(old, ix) == text(new, ix + shift));
        shifts
            .filter(|shift| new.len() > old.len() && holds(*shift))
            .any(|shift| {
                let (head, tail) = (&new[..shift], &new[shift + old.len()..]);
                let starts = at
                    .checked_sub(head.len())
                    .is_some_and(|from| self.is_run(from, head));
                starts && self.is_run(at + length, tail)
            })
    }

    /// Whether what a site adds would stand beside the same words.
    fn says_twice(&self, at: usize, length: usize, site: &Site) -> bool {
        let (old, new) = (solid_texts(&site.old), solid_texts(&site.new));
        let Some(more) = new.len().checked_sub(old.len()).filter(|more| *more > 0) else {
            return false;
        };
        let alike = |(a, b): &(&&str, &&str)| a == b;
        let start = old.iter().zip(&new).take_while(alike).count();
        if old[start..] != new[start + more..] {
            return false;
        }
        let added = &new[start..start + more];
        let text = |ix: usize| self.tokens.get(ix).map(|it| it.text(self.window));
        let before = (0..more).map(|back| match start.checked_sub(back + 1) {
            Some(ix) => Some(new[ix]),
            None => at.checked_sub(back + 1 - start).and_then(text),
        });
        let rest = &new[start + more..];
        let behind = (0..more).map(|ix| match rest.get(ix) {
            Some(token) => Some(*token),
            None => text(at + length + ix - rest.len()),
        });
        let is_word = |token: &&str| token.starts_with(is_word_char);
        let is_before = before.eq(added.iter().rev().map(|it| Some(*it)));
        let is_behind = behind.eq(added.iter().map(|it| Some(*it)));
        added.iter().any(is_word) && (is_before || is_behind)
    }

    fn has_receiver(&self, at: usize) -> bool {
        let Some(receiver) = &self.pattern.receiver else {
            return true;
        };
        let before = at.checked_sub(2).and_then(|ix| self.tokens.get(ix));
        before.is_some_and(|token| token.text(self.window) == receiver.as_ref())
    }

    fn plays_its_parts(&self, at: usize, matched: &Matched) -> bool {
        let wants_definition = self.pattern.is_about_definitions();
        self.pattern.old.iter().enumerate().all(|(ix, slot)| {
            let Slot::Fixed {
                kind: TokenKind::Word | TokenKind::Number,
                roles,
                ..
            } = slot
            else {
                return true;
            };
            let token = self.tokens.get(at + matched.index(ix));
            let role = token.zip(self.ground.syntax).and_then(|(token, syntax)| {
                syntax.token_at(self.ground.text, self.start + token.start)
            });
            match role {
                Some(leaf) if wants_definition && leaf.role == TokenRole::Variable => false,
                Some(leaf) if self.pattern.is_wide => is_name(leaf.role) || roles.has(leaf.role),
                Some(leaf) => roles.has(leaf.role),
                None => !roles.is_known() && self.ground.syntax.is_none(),
            }
        })
    }

    fn is_node(&self, span: Span) -> bool {
        let (Some(kind), Some(syntax)) = (self.pattern.kind, self.ground.syntax) else {
            return self.pattern.kind.is_none();
        };
        let nodes = syntax.nodes_around(self.ground.text, span, 4);
        nodes
            .iter()
            .any(|node| node.span == span && node.kind == kind)
    }

    /// Whether the variable of the pattern is, at the place, the one that was changed.
    fn is_bound_alike(&self, at: usize, matched: &Matched) -> bool {
        if self.pattern.is_wide {
            return true;
        }
        let (Some(names), Some(syntax)) = (names(self.pattern), self.ground.syntax) else {
            return true;
        };
        let slot = self
            .pattern
            .old
            .iter()
            .position(|slot| slot.text() == names.first().copied());
        let token = slot.and_then(|ix| self.tokens.get(at + matched.index(ix)));
        let Some(token) = token else {
            return false;
        };
        let at = self.start + token.start;
        let leaf = syntax.token_at(self.ground.text, at);
        // Only variables are bound by what is around them.
        if leaf.is_some_and(|it| !matches!(it.role, TokenRole::Variable | TokenRole::Binding)) {
            return true;
        }
        let binding = syntax.binding(self.ground.text, at, &names);
        match (&self.bindings, binding) {
            (Some(known), binding) if !known.is_empty() => known.contains(&binding),
            // A name of one letter that nothing defines here may be anything.
            (_, None) => !self.ground.is_elsewhere && names[0].len() > 1,
            (_, Some(_)) => false,
        }
    }
}

/// The tokens of a text that are no line ends, as text.
fn solid_texts(text: &str) -> Vec<&str> {
    let tokens = solid_tokens(text).into_iter();
    tokens.map(|token| token.text(text)).collect()
}

/// Where a pattern matched.
struct Matched {
    length: usize,
    /// The first token of the hole and how many it has, counted from the start of the match.
    hole: Option<(usize, usize)>,
}

impl Matched {
    /// The token that a slot of the pattern stands for, counted from the start of the match.
    fn index(&self, slot: usize) -> usize {
        match self.hole {
            Some((at, length)) if slot > at => slot + length - 1,
            _ => slot,
        }
    }

    /// The bytes of the hole.
    fn hole(&self, tokens: &[Token], at: usize) -> Option<std::ops::Range<usize>> {
        let (start, length) = self.hole?;
        let first = tokens.get(at + start)?;
        let last = tokens.get(at + start + length - 1)?;
        Some(first.start..last.end)
    }
}
