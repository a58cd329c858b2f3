//! Finds the sites of a pattern in a text.
//!
//! Candidates are found by tokens and then checked against the syntax tree: each word must have a
//! role that it had in the edits, a node must be of the same kind, and a variable must have the
//! same binding. Doubtful candidates are rejected.

use std::sync::Arc;

use base::{ByteOffset, Span};
use syntax::{NameBinding, SyntaxSnapshot, TokenRole};
use text::Snapshot;

use super::pattern::{EditPattern, PatternSlot, fills_hole};
use crate::local::token::{CodeToken, CodeTokens, TokenKind, is_word_char, solid_tokens};

/// A site where a pattern applies: its span, the old text and the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternSite {
    pub(crate) span: Span,
    pub(crate) old: Arc<str>,
    pub(crate) new: Arc<str>,
}

/// A text to be searched for the sites of a pattern, with the places where the pattern was already
/// applied.
#[derive(Clone, Copy)]
pub(crate) struct SearchText<'a> {
    pub(crate) text: &'a Snapshot,
    pub(crate) syntax: Option<&'a SyntaxSnapshot>,
    /// Positions of the pattern's edits in this text.
    pub(crate) examples: &'a [Span],
    /// Whether the pattern's edits are all in other texts.
    pub(crate) is_elsewhere: bool,
}

/// Maximum number of tokens that fill a hole.
const MAX_HOLE_TOKENS: usize = 16;

/// Returns at most `most` sites of a pattern within a span, sorted by position. Returns an empty
/// list if the pattern has no anchor to search for.
pub(crate) fn sites(
    pattern: &EditPattern,
    ground: SearchText<'_>,
    within: Span,
    most: usize,
) -> Vec<PatternSite> {
    let window = ground.text.text(within);
    let Some(anchor) = pattern.anchor() else {
        return Vec::new();
    };
    if !window.contains(anchor) {
        return Vec::new();
    }
    let search = SiteMatcher {
        pattern,
        ground,
        window: &window,
        start: within.start,
        tokens: CodeTokens::new(&window).collect(),
        bindings: bindings(pattern, ground),
    };
    let mut found: Vec<PatternSite> = Vec::new();
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

/// Returns the bindings of the pattern's variable at the examples; `None` if it concerns no
/// variable.
fn bindings(pattern: &EditPattern, ground: SearchText<'_>) -> Option<Vec<Option<NameBinding>>> {
    let names = names(pattern)?;
    let syntax = ground.syntax?;
    let of = |span: &Span| syntax.binding(ground.text, span.start, &names);
    Some(ground.examples.iter().map(of).collect())
}

/// Whether the edits of the pattern in this text concern several different variables that have the
/// same name.
pub(crate) fn is_of_many(pattern: &EditPattern, ground: SearchText<'_>) -> bool {
    let bindings = bindings(pattern, ground).unwrap_or_default();
    let mut bound = bindings.iter().flatten();
    let first = bound.next();
    bound.any(|binding| Some(binding) != first)
}

/// Returns the name of the pattern's variable and, if the pattern renames it, its new name. Returns
/// `None` if the pattern concerns no variable.
fn names(pattern: &EditPattern) -> Option<Vec<&str>> {
    let (old, new) = pattern.variable()?;
    Some([Some(old), new].into_iter().flatten().collect())
}

/// Whether the variable of a pattern is local to a function at the offset `at`. Returns `false`
/// without a syntax tree.
pub(crate) fn is_local(
    pattern: &EditPattern,
    text: &Snapshot,
    syntax: Option<&SyntaxSnapshot>,
    at: ByteOffset,
) -> bool {
    let found = names(pattern).zip(syntax);
    found.is_some_and(|(names, syntax)| syntax.binding(text, at, &names).is_some())
}

/// Whether a word of this role is a name defined in code.
fn is_name(role: TokenRole) -> bool {
    use TokenRole::{Binding, Function, Member, Type, Variable};
    matches!(role, Binding | Function | Member | Type | Variable)
}

struct SiteMatcher<'a> {
    pattern: &'a EditPattern,
    ground: SearchText<'a>,
    window: &'a str,
    start: ByteOffset,
    tokens: Vec<CodeToken>,
    bindings: Option<Vec<Option<NameBinding>>>,
}

impl SiteMatcher<'_> {
    /// Returns the site that begins at a token, and its number of tokens.
    fn site_at(&self, at: usize) -> Option<(PatternSite, usize)> {
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
        let site = PatternSite {
            span,
            old: Arc::from(self.window.get(range)?),
            new: Arc::from(self.pattern.fill(hole)),
        };
        let is_change = site.old != site.new && !self.says_twice(at, matched.length, &site);
        is_change.then_some((site, matched.length))
    }

    /// Matches slots of the pattern against the tokens from `at` on.
    fn matched(&self, old: &[PatternSlot], at: usize) -> Option<SiteMatch> {
        let hole = old.iter().position(|slot| slot.text().is_none());
        let Some(hole) = hole else {
            return self.is_run(at, old).then_some(SiteMatch {
                length: old.len(),
                hole: None,
            });
        };
        let (head, tail) = (&old[..hole], &old[hole + 1..]);
        if !self.is_run(at, head) {
            return None;
        }
        let from = at + head.len();
        (1..=MAX_HOLE_TOKENS).find_map(|length| {
            let filling = self.tokens.get(from..from + length)?;
            let texts: Vec<&str> = filling
                .iter()
                .map(|token| token.text(self.window))
                .collect();
            let fits = filling.iter().all(|token| token.kind != TokenKind::Newline)
                && fills_hole(&texts)
                && self.is_run(from + length, tail);
            fits.then_some(SiteMatch {
                length: head.len() + length + tail.len(),
                hole: Some((head.len(), length)),
            })
        })
    }

    /// Whether the tokens from `at` on match `slots`. A hole in `slots` never matches.
    fn is_run(&self, at: usize, slots: &[PatternSlot]) -> bool {
        slots
            .iter()
            .enumerate()
            .all(|(ix, slot)| self.is_slot(at + ix, slot))
    }

    /// Whether the token `at` exists and has the text of a fixed slot. `false` for a hole.
    fn is_slot(&self, at: usize, slot: &PatternSlot) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| Some(token.text(self.window)) == slot.text())
    }

    /// Whether the text that the pattern inserts is present already.
    fn is_new_already(&self, at: usize, length: usize) -> bool {
        let (old, new) = (&self.pattern.old, &self.pattern.new);
        // Changed text may match the pattern again, since the hole accepts the inserted text.
        let as_new = self.matched(new, at).map(|matched| matched.length);
        if self.pattern.has_hole() && as_new == Some(length) {
            return true;
        }
        let text = |slots: &[PatternSlot], ix: usize| {
            slots.get(ix).and_then(PatternSlot::text).map(str::to_owned)
        };
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

    /// Whether a site would add words next to the same words.
    fn says_twice(&self, at: usize, length: usize, site: &PatternSite) -> bool {
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

    /// Whether the second token before `at`, the one before the dot, is the required receiver.
    /// `true` if the pattern requires none.
    fn has_receiver(&self, at: usize) -> bool {
        let Some(receiver) = &self.pattern.receiver else {
            return true;
        };
        let before = at.checked_sub(2).and_then(|ix| self.tokens.get(ix));
        before.is_some_and(|token| token.text(self.window) == receiver.as_ref())
    }

    /// Whether each fixed word and number of the match has a role that its slot allows. A wide
    /// pattern allows every name, and one about definitions no use of a variable. Without a tree,
    /// only slots of unknown roles pass.
    fn plays_its_parts(&self, at: usize, matched: &SiteMatch) -> bool {
        let wants_definition = self.pattern.is_about_definitions();
        self.pattern.old.iter().enumerate().all(|(ix, slot)| {
            let PatternSlot::Fixed {
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

    /// Whether a syntax node of the pattern's kind covers exactly `span`. `true` if the pattern
    /// requires no kind, `false` if it does and the text has no tree.
    fn is_node(&self, span: Span) -> bool {
        let (Some(kind), Some(syntax)) = (self.pattern.kind, self.ground.syntax) else {
            return self.pattern.kind.is_none();
        };
        let nodes = syntax.nodes_around(self.ground.text, span, 4);
        nodes
            .iter()
            .any(|node| node.span == span && node.kind == kind)
    }

    /// Whether the variable at the site has the binding of the one that was changed.
    fn is_bound_alike(&self, at: usize, matched: &SiteMatch) -> bool {
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
        // Only variables have local bindings.
        if leaf.is_some_and(|it| !matches!(it.role, TokenRole::Variable | TokenRole::Binding)) {
            return true;
        }
        let binding = syntax.binding(self.ground.text, at, &names);
        match (&self.bindings, binding) {
            (Some(known), binding) if !known.is_empty() => known.contains(&binding),
            // An undefined one-letter name may refer to anything.
            (_, None) => !self.ground.is_elsewhere && names[0].len() > 1,
            (_, Some(_)) => false,
        }
    }
}

/// Returns the texts of the tokens, without line breaks.
fn solid_texts(text: &str) -> Vec<&str> {
    let tokens = solid_tokens(text).into_iter();
    tokens.map(|token| token.text(text)).collect()
}

/// A match of a pattern.
struct SiteMatch {
    length: usize,
    /// First token of the hole and number of tokens in it, relative to the start of the match.
    hole: Option<(usize, usize)>,
}

impl SiteMatch {
    /// Returns the token that a slot of the pattern matches, relative to the start of the match.
    fn index(&self, slot: usize) -> usize {
        match self.hole {
            Some((at, length)) if slot > at => slot + length - 1,
            _ => slot,
        }
    }

    /// Returns the bytes of the hole.
    fn hole(&self, tokens: &[CodeToken], at: usize) -> Option<std::ops::Range<usize>> {
        let (start, length) = self.hole?;
        let first = tokens.get(at + start)?;
        let last = tokens.get(at + start + length - 1)?;
        Some(first.start..last.end)
    }
}
