//! What two like edits have in common.
//!
//! Invariant: a pattern has an anchor, a name that says what is meant; a number, a sign or a word of the language by
//! itself never is one. Invariant: at most one hole, which stands on both sides.

use std::sync::Arc;

use syntax::TokenRole;

use crate::local::log::{Frame, LoggedToken, Piece};
use crate::local::token::TokenKind;

/// An edit with what may differ from place to place left open.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) old: Vec<Slot>,
    pub(crate) new: Vec<Slot>,
    /// The kind of the node that a place must be all of.
    pub(crate) kind: Option<u16>,
    /// What must stand before the dot in front of a place.
    pub(crate) receiver: Option<Arc<str>>,
    /// Whether it changes a name wherever code has it, whatever part it plays there.
    pub(crate) is_wide: bool,
}

/// One token of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// This very token.
    Fixed {
        text: Arc<str>,
        kind: TokenKind,
        gap: Arc<str>,
        /// The parts it may play.
        roles: Roles,
    },
    /// What may differ.
    Hole { gap: Arc<str> },
}

/// A set of roles. Of no roles: nothing is known of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roles(u16);

/// Where a variable is used rather than defined.
const USED: u16 = 1 << 15;

impl Roles {
    pub(crate) fn of(roles: impl IntoIterator<Item = Option<TokenRole>>) -> Self {
        let bits = roles.into_iter().flatten().map(bit);
        Self(bits.fold(0, |all, bit| all | bit))
    }

    pub(crate) fn is_known(self) -> bool {
        self.0 != 0
    }

    fn count(self) -> u32 {
        (self.0 & !USED).count_ones()
    }

    /// Whether it is only where variables are defined.
    fn is_definition(self) -> bool {
        self.has(TokenRole::Binding) && self.0 & USED == 0
    }

    pub(crate) fn has(self, role: TokenRole) -> bool {
        self.0 & bit(role) & !USED != 0
    }
}

fn bit(role: TokenRole) -> u16 {
    // Where a variable is defined and where it is used is as a rule one and the same to a change of it.
    match role {
        TokenRole::Binding => 1 << TokenRole::Variable as u16,
        TokenRole::Variable => 1 << TokenRole::Variable as u16 | USED,
        role => 1 << role as u16,
    }
}

impl Slot {
    fn of(token: &LoggedToken, other: &LoggedToken) -> Self {
        Self::Fixed {
            text: token.text.clone(),
            kind: token.kind,
            gap: token.gap.clone(),
            roles: Roles::of([token.role, other.role]),
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Fixed { text, .. } => Some(text),
            Self::Hole { .. } => None,
        }
    }

    fn is_word(&self) -> bool {
        matches!(
            self,
            Self::Fixed {
                kind: TokenKind::Word,
                ..
            }
        )
    }

    fn is_anchor(&self) -> bool {
        let Self::Fixed {
            text,
            kind: TokenKind::Word,
            roles,
            ..
        } = self
        else {
            return false;
        };
        if COMMON.contains(&text.as_ref()) {
            return false;
        }
        let is_variable = roles.has(TokenRole::Variable);
        let is_name = [
            TokenRole::Function,
            TokenRole::Member,
            TokenRole::Type,
            TokenRole::Import,
        ]
        .iter()
        .any(|role| roles.has(*role));
        let is_prose = [TokenRole::String, TokenRole::Comment, TokenRole::Other]
            .iter()
            .any(|role| roles.has(*role));
        is_variable
            || is_name && text.len() > 1
            || (is_prose || !roles.is_known()) && is_distinct(text)
    }
}

/// Words too common to say what is meant.
const COMMON: [&str; 50] = [
    "true",
    "false",
    "True",
    "False",
    "null",
    "the",
    "self",
    "Self",
    "this",
    "super",
    "cls",
    "new",
    "Some",
    "None",
    "Ok",
    "Err",
    "Vec",
    "Option",
    "Result",
    "String",
    "Box",
    "Arc",
    "str",
    "bool",
    "int",
    "float",
    "char",
    "void",
    "string",
    "number",
    "boolean",
    "object",
    "any",
    "usize",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "error",
    "len",
    "nil",
    "undefined",
    "append",
];

/// How much a token says of what is meant: a name the more the longer it is, a common word half as much, signs little.
pub(super) fn says(token: &str) -> usize {
    let first = token.chars().next().unwrap_or('\n');
    match first {
        '\n' => 0,
        _ if first.is_ascii_digit() => 1,
        _ if COMMON.contains(&token) => token.len(),
        _ if first.is_alphabetic() || first == '_' => 2 * token.chars().count(),
        _ => 1,
    }
}

/// Whether a word in prose can only be a name.
fn is_distinct(word: &str) -> bool {
    let has_inner_capital = word.chars().skip(1).any(char::is_uppercase);
    let has_digit = word.chars().any(|ch| ch.is_ascii_digit());
    word.len() >= 4 && (word.contains('_') || has_inner_capital || has_digit)
}

impl Pattern {
    /// The pattern of two pieces, if they are alike.
    pub(crate) fn of(a: &Piece, b: &Piece) -> Option<Self> {
        let (first, second) = (a.frames.first()?, b.frames.first()?);
        if [first, second].iter().any(|frame| spans_rows(frame)) {
            return None;
        }
        // What both did has to agree before anything around it is looked at.
        let bare = same_tokens(&first.old, &second.old) && same_tokens(&first.new, &second.new);
        if bare
            && !first.old.is_empty()
            && !first.new.is_empty()
            && let Some(mut pattern) = unify(first, second)
        {
            pattern.receiver = receiver(a, b, &pattern);
            return Some(pattern);
        }
        let pairs = a.frames[1..]
            .iter()
            .flat_map(|x| b.frames[1..].iter().map(move |y| (x, y)));
        pairs
            .filter(|(x, y)| x.kind == y.kind)
            .find_map(|(x, y)| unify(x, y))
    }

    /// Takes in the parts that words played at a further place. Says whether any is new.
    ///
    /// A name that only one thing can have, changed in several parts, is then meant everywhere.
    pub(crate) fn widen(&mut self, other: &Self, places: usize) -> bool {
        let mut is_wider = false;
        for (own, theirs) in self.old.iter_mut().zip(&other.old) {
            if let (Slot::Fixed { roles, .. }, Slot::Fixed { roles: more, .. }) = (own, theirs) {
                let all = Roles(roles.0 | more.0);
                is_wider |= all != *roles;
                *roles = all;
            }
        }
        if let ([Slot::Fixed { text, roles, .. }], [_]) = (self.old.as_slice(), self.new.as_slice())
        {
            let is_wide = places >= 3 && roles.count() > 1 && is_distinct(text);
            is_wider |= is_wide && !self.is_wide;
            self.is_wide |= is_wide;
        }
        is_wider
    }

    /// Whether both are about the same text and turn it into different ones.
    pub(crate) fn is_rival(&self, other: &Self) -> bool {
        let texts = |slots: &[Slot]| -> Vec<Option<Arc<str>>> {
            slots
                .iter()
                .map(|slot| slot.text().map(Arc::from))
                .collect()
        };
        texts(&self.old) == texts(&other.old) && texts(&self.new) != texts(&other.new)
    }

    /// Whether both ask for the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let texts = |slots: &[Slot]| -> Vec<Option<Arc<str>>> {
            slots
                .iter()
                .map(|slot| slot.text().map(Arc::from))
                .collect()
        };
        self.kind == other.kind
            && texts(&self.old) == texts(&other.old)
            && texts(&self.new) == texts(&other.new)
    }

    /// Whether it turns just these tokens into those.
    pub(crate) fn turns(&self, old: &[Arc<str>], new: &[Arc<str>]) -> bool {
        let is_like = |slots: &[Slot], tokens: &[Arc<str>]| {
            let mut pairs = slots.iter().zip(tokens);
            slots.len() == tokens.len()
                && pairs.all(|(slot, token)| slot.text() == Some(token.as_ref()))
        };
        is_like(&self.old, old) && is_like(&self.new, new)
    }

    /// The text that takes the place of a site whose hole is filled so.
    pub(crate) fn fill(&self, hole: &str) -> String {
        let mut text = String::new();
        for (ix, slot) in self.new.iter().enumerate() {
            let (gap, part) = match slot {
                Slot::Fixed { text, gap, .. } => (gap, text.as_ref()),
                Slot::Hole { gap } => (gap, hole),
            };
            if ix > 0 {
                text.push_str(gap);
            }
            text.push_str(part);
        }
        text
    }

    /// The anchor that is looked for first.
    pub(crate) fn anchor(&self) -> Option<&str> {
        let is_literal = self.is_whole_string();
        let anchors = self
            .old
            .iter()
            .filter(|slot| is_literal && slot.is_word() || slot.is_anchor());
        anchors.filter_map(Slot::text).max_by_key(|text| text.len())
    }

    /// Whether it is about all of a string that says enough to be the same thing elsewhere: a path, a message.
    fn is_whole_string(&self) -> bool {
        let is_quote = |slot: Option<&Slot>| {
            matches!(
                slot.and_then(Slot::text),
                Some("\"" | "'" | "`" | "\"\"\"" | "'''")
            )
        };
        let words = self
            .old
            .iter()
            .filter(|slot| slot.is_word())
            .filter_map(Slot::text);
        let least = if self.has_hole() { 8 } else { 3 };
        self.kind.is_some()
            && self.old.len() > 2
            && is_quote(self.old.first())
            && is_quote(self.old.last())
            && words.map(str::len).sum::<usize>() >= least
    }

    /// Whether something is added to where variables of a name are defined: each of them is another one.
    pub(crate) fn is_about_definitions(&self) -> bool {
        let defined = self.old.iter().filter(|slot| match slot {
            Slot::Fixed { roles, .. } => roles.is_definition(),
            Slot::Hole { .. } => false,
        });
        let mut names = defined.filter_map(Slot::text).peekable();
        let stays = |name: &str| self.new.iter().any(|slot| slot.text() == Some(name));
        names.peek().is_some() && names.all(stays)
    }

    /// The variable that the pattern is about, with the name it gets where it is renamed.
    pub(crate) fn variable(&self) -> Option<(&str, Option<&str>)> {
        if self.is_about_definitions() {
            return None;
        }
        let name = self.old.iter().find_map(|slot| match slot {
            Slot::Fixed { text, roles, .. } if roles.has(TokenRole::Variable) => {
                Some(text.as_ref())
            }
            _ => None,
        })?;
        let renamed = match (self.old.as_slice(), self.new.as_slice()) {
            ([_], [new]) => new.text(),
            _ => None,
        };
        Some((name, renamed))
    }

    /// Whether it leaves something open.
    pub(crate) fn has_hole(&self) -> bool {
        self.old.iter().any(|slot| slot.text().is_none())
    }
}

fn spans_rows(frame: &Frame) -> bool {
    let tokens = frame.old.iter().chain(&frame.new);
    tokens
        .into_iter()
        .any(|token| token.kind == TokenKind::Newline)
}

fn same_tokens(a: &[LoggedToken], b: &[LoggedToken]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.text == y.text)
}

/// What stands before the dot at both places, unless it is the object itself: then any receiver will do only if
/// the places had different ones.
fn receiver(a: &Piece, b: &Piece, pattern: &Pattern) -> Option<Arc<str>> {
    let is_member = matches!(pattern.old.first(),
        Some(Slot::Fixed { roles, .. }) if roles.has(TokenRole::Member));
    let is_dot = |sign: &str| matches!(sign, "." | "->" | "?." | "::");
    let is_alike = is_member && a.lead == b.lead && is_dot(&a.lead[1]);
    is_alike.then(|| a.lead[0].clone())
}

/// One pattern out of two frames, with at most one hole.
fn unify(a: &Frame, b: &Frame) -> Option<Pattern> {
    let alike = |(x, y): &(&LoggedToken, &LoggedToken)| x.text == y.text;
    let start = a.old.iter().zip(&b.old).take_while(alike).count();
    let most = a.old.len().min(b.old.len()) - start;
    let back = a.old.iter().rev().zip(b.old.iter().rev());
    let end = back.take_while(alike).take(most).count();
    let first = &a.old[start..a.old.len() - end];
    let second = &b.old[start..b.old.len() - end];
    let mut old: Vec<Slot> = fixed(&a.old[..start], &b.old[..start]);
    let is_same = first.is_empty() && second.is_empty();
    if !is_same {
        old.push(Slot::Hole {
            gap: first.first()?.gap.clone(),
        });
    }
    old.extend(fixed(
        &a.old[a.old.len() - end..],
        &b.old[b.old.len() - end..],
    ));
    let new = match is_same {
        true => same_tokens(&a.new, &b.new).then(|| slots(&a.new, &[]))?,
        false => open_new(a, b, first, second)?,
    };
    let pattern = Pattern {
        old,
        new,
        kind: a.kind,
        receiver: None,
        is_wide: false,
    };
    pattern.anchor()?;
    Some(pattern)
}

/// Tokens that both have.
fn fixed(a: &[LoggedToken], b: &[LoggedToken]) -> Vec<Slot> {
    a.iter().zip(b).map(|(x, y)| Slot::of(x, y)).collect()
}

/// What both turned into, with what differs left open. It must be the same but for that, and hold that.
fn open_new(
    a: &Frame,
    b: &Frame,
    first: &[LoggedToken],
    second: &[LoggedToken],
) -> Option<Vec<Slot>> {
    if !is_hole(first) || !is_hole(second) {
        return None;
    }
    let (new, other) = (slots(&a.new, first), slots(&b.new, second));
    let has_hole = new.iter().any(|slot| slot.text().is_none());
    let is_same =
        new.len() == other.len() && new.iter().zip(&other).all(|(x, y)| x.text() == y.text());
    (has_hole && is_same).then_some(new)
}

/// Tokens as slots, with every run that equals `hole` left open.
fn slots(tokens: &[LoggedToken], hole: &[LoggedToken]) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let run = tokens.get(at..at + hole.len());
        if !hole.is_empty() && run.is_some_and(|run| same_tokens(run, hole)) {
            slots.push(Slot::Hole {
                gap: token.gap.clone(),
            });
            at += hole.len();
        } else {
            slots.push(Slot::of(token, token));
            at += 1;
        }
    }
    slots
}

/// Whether tokens may fill a hole: something, in balance, and one thing rather than several.
fn is_hole(tokens: &[LoggedToken]) -> bool {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_ref()).collect();
    fills_hole(&texts)
}

/// As `is_hole`, of bare texts.
pub(crate) fn fills_hole(tokens: &[&str]) -> bool {
    let mut depth = 0_i32;
    for token in tokens {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," | ";" if depth == 0 => return false,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && !tokens.is_empty()
}
