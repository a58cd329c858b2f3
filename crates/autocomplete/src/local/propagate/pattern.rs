//! The common pattern of two similar edits.
//!
//! Invariant: a pattern has an anchor, a name that identifies what is meant; a number, a
//! punctuation character or a keyword alone never is one.
//! Invariant: a pattern has at most one hole, which occurs on both sides.

use std::sync::Arc;

use syntax::TokenRole;

use crate::local::log::{ChangeFrame, LoggedChange, LoggedToken};
use crate::local::token::TokenKind;

/// An edit generalised from several similar ones: old and new tokens, with the varying part left
/// open as a hole.
#[derive(Clone, Debug)]
pub(crate) struct EditPattern {
    pub(crate) old: Vec<PatternSlot>,
    pub(crate) new: Vec<PatternSlot>,
    /// Kind of the node that a site must cover exactly.
    pub(crate) kind: Option<u16>,
    /// Token required before the dot in front of a site.
    pub(crate) receiver: Option<Arc<str>>,
    /// Whether it renames every occurrence of a name in code, regardless of its role.
    pub(crate) is_wide: bool,
}

/// One token of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum PatternSlot {
    /// Matches exactly this token.
    Fixed {
        text: Arc<str>,
        kind: TokenKind,
        gap: Arc<str>,
        /// Roles that the token may have.
        roles: TokenRoles,
    },
    /// Placeholder for the varying part.
    Hole { gap: Arc<str> },
}

/// A set of syntactic roles that a token may have. The set is empty if no role is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenRoles(u16);

/// Flags a use of a variable, as opposed to its definition.
const USED: u16 = 1 << 15;

impl TokenRoles {
    /// Collects the known roles and skips every `None`.
    pub(crate) fn of(roles: impl IntoIterator<Item = Option<TokenRole>>) -> Self {
        let bits = roles.into_iter().flatten().map(bit);
        Self(bits.fold(0, |all, bit| all | bit))
    }

    /// Whether the set contains any role.
    pub(crate) fn is_known(self) -> bool {
        self.0 != 0
    }

    /// Returns the number of roles in the set. Definition and use of a variable count as one.
    fn count(self) -> u32 {
        (self.0 & !USED).count_ones()
    }

    /// Whether it contains only definitions of variables.
    fn is_definition(self) -> bool {
        self.has(TokenRole::Binding) && self.0 & USED == 0
    }

    /// Whether the set contains this role.
    pub(crate) fn has(self, role: TokenRole) -> bool {
        self.0 & bit(role) & !USED != 0
    }
}

fn bit(role: TokenRole) -> u16 {
    // A change of a variable usually applies to its definition and to its uses alike.
    match role {
        TokenRole::Binding => 1 << TokenRole::Variable as u16,
        TokenRole::Variable => 1 << TokenRole::Variable as u16 | USED,
        role => 1 << role as u16,
    }
}

impl PatternSlot {
    fn of(token: &LoggedToken, other: &LoggedToken) -> Self {
        Self::Fixed {
            text: token.text.clone(),
            kind: token.kind,
            gap: token.gap.clone(),
            roles: TokenRoles::of([token.role, other.role]),
        }
    }

    /// Returns the text of a fixed token. Returns `None` for a hole.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Fixed { text, .. } => Some(text),
            Self::Hole { .. } => None,
        }
    }

    /// Whether it is a fixed word. A hole is none.
    fn is_word(&self) -> bool {
        matches!(
            self,
            Self::Fixed {
                kind: TokenKind::Word,
                ..
            }
        )
    }

    /// Whether it is a word that identifies what the pattern is about: a variable, another name of
    /// at least two bytes, or a distinctive word in prose or of unknown role. Never one of the
    /// `COMMON` words.
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

/// Words too common to identify anything.
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

/// Returns how specific a token is: names more the longer they are, common words half as much,
/// punctuation little.
pub(super) fn specificity(token: &str) -> usize {
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

impl EditPattern {
    /// Returns the pattern that generalises two changes. Returns `None` if the changes are not
    /// similar, or if either spans several rows.
    pub(crate) fn of(a: &LoggedChange, b: &LoggedChange) -> Option<Self> {
        let (first, second) = (a.frames.first()?, b.frames.first()?);
        if [first, second].iter().any(|frame| spans_rows(frame)) {
            return None;
        }
        // If the changed tokens agree, their surroundings do not matter.
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

    /// Adds the roles at a further site. Returns whether any is new.
    ///
    /// A distinctive name that was changed in several roles is then renamed everywhere.
    pub(crate) fn widen(&mut self, other: &Self, places: usize) -> bool {
        let mut is_wider = false;
        for (own, theirs) in self.old.iter_mut().zip(&other.old) {
            if let (PatternSlot::Fixed { roles, .. }, PatternSlot::Fixed { roles: more, .. }) =
                (own, theirs)
            {
                let all = TokenRoles(roles.0 | more.0);
                is_wider |= all != *roles;
                *roles = all;
            }
        }
        if let ([PatternSlot::Fixed { text, roles, .. }], [_]) =
            (self.old.as_slice(), self.new.as_slice())
        {
            let is_wide = places >= 3 && roles.count() > 1 && is_distinct(text);
            is_wider |= is_wide && !self.is_wide;
            self.is_wide |= is_wide;
        }
        is_wider
    }

    /// Whether both match the same text but replace it differently.
    pub(crate) fn is_rival(&self, other: &Self) -> bool {
        let texts = |slots: &[PatternSlot]| -> Vec<Option<Arc<str>>> {
            slots
                .iter()
                .map(|slot| slot.text().map(Arc::from))
                .collect()
        };
        texts(&self.old) == texts(&other.old) && texts(&self.new) != texts(&other.new)
    }

    /// Whether both describe the same edit.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let texts = |slots: &[PatternSlot]| -> Vec<Option<Arc<str>>> {
            slots
                .iter()
                .map(|slot| slot.text().map(Arc::from))
                .collect()
        };
        self.kind == other.kind
            && texts(&self.old) == texts(&other.old)
            && texts(&self.new) == texts(&other.new)
    }

    /// Whether it replaces exactly these tokens with those.
    pub(crate) fn rewrites(&self, old: &[Arc<str>], new: &[Arc<str>]) -> bool {
        let is_like = |slots: &[PatternSlot], tokens: &[Arc<str>]| {
            let mut pairs = slots.iter().zip(tokens);
            slots.len() == tokens.len()
                && pairs.all(|(slot, token)| slot.text() == Some(token.as_ref()))
        };
        is_like(&self.old, old) && is_like(&self.new, new)
    }

    /// Returns the new text of a site: the pattern's new tokens with `hole` in place of the hole.
    pub(crate) fn fill(&self, hole: &str) -> String {
        let mut text = String::new();
        for (ix, slot) in self.new.iter().enumerate() {
            let (gap, part) = match slot {
                PatternSlot::Fixed { text, gap, .. } => (gap, text.as_ref()),
                PatternSlot::Hole { gap } => (gap, hole),
            };
            if ix > 0 {
                text.push_str(gap);
            }
            text.push_str(part);
        }
        text
    }

    /// Returns the longest distinctive fixed token, for which a text is searched first. Returns
    /// `None` if the pattern has no distinctive token.
    pub(crate) fn anchor(&self) -> Option<&str> {
        let is_literal = self.is_whole_string();
        let anchors = self
            .old
            .iter()
            .filter(|slot| is_literal && slot.is_word() || slot.is_anchor());
        anchors
            .filter_map(PatternSlot::text)
            .max_by_key(|text| text.len())
    }

    /// Whether it covers a whole string literal that is distinctive enough, such as a path or a
    /// message.
    fn is_whole_string(&self) -> bool {
        let is_quote = |slot: Option<&PatternSlot>| {
            matches!(
                slot.and_then(PatternSlot::text),
                Some("\"" | "'" | "`" | "\"\"\"" | "'''")
            )
        };
        let words = self
            .old
            .iter()
            .filter(|slot| slot.is_word())
            .filter_map(PatternSlot::text);
        let least = if self.has_hole() { 8 } else { 3 };
        self.kind.is_some()
            && self.old.len() > 2
            && is_quote(self.old.first())
            && is_quote(self.old.last())
            && words.map(str::len).sum::<usize>() >= least
    }

    /// Whether it adds something at variable definitions, which concerns each variable separately.
    pub(crate) fn is_about_definitions(&self) -> bool {
        let defined = self.old.iter().filter(|slot| match slot {
            PatternSlot::Fixed { roles, .. } => roles.is_definition(),
            PatternSlot::Hole { .. } => false,
        });
        let mut names = defined.filter_map(PatternSlot::text).peekable();
        let stays = |name: &str| self.new.iter().any(|slot| slot.text() == Some(name));
        names.peek().is_some() && names.all(stays)
    }

    /// Returns the variable that the pattern concerns, and its new name if the pattern renames it.
    /// Returns `None` if the pattern concerns no variable.
    pub(crate) fn variable(&self) -> Option<(&str, Option<&str>)> {
        if self.is_about_definitions() {
            return None;
        }
        let name = self.old.iter().find_map(|slot| match slot {
            PatternSlot::Fixed { text, roles, .. } if roles.has(TokenRole::Variable) => {
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

    /// Whether it has a hole.
    pub(crate) fn has_hole(&self) -> bool {
        self.old.iter().any(|slot| slot.text().is_none())
    }
}

/// Whether the replaced or the inserted tokens contain a line break.
fn spans_rows(frame: &ChangeFrame) -> bool {
    let tokens = frame.old.iter().chain(&frame.new);
    tokens
        .into_iter()
        .any(|token| token.kind == TokenKind::Newline)
}

/// Whether both lists contain the same token texts in the same order; gaps and roles may differ.
fn same_tokens(a: &[LoggedToken], b: &[LoggedToken]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.text == y.text)
}

/// Returns the receiver of a member if it is the same in both edits; edits with different receivers
/// accept any.
fn receiver(a: &LoggedChange, b: &LoggedChange, pattern: &EditPattern) -> Option<Arc<str>> {
    let is_member = matches!(pattern.old.first(),
        Some(PatternSlot::Fixed { roles, .. }) if roles.has(TokenRole::Member));
    let is_dot = |sign: &str| matches!(sign, "." | "->" | "?." | "::");
    let is_alike = is_member && a.lead == b.lead && is_dot(&a.lead[1]);
    is_alike.then(|| a.lead[0].clone())
}

/// Unifies two frames into a pattern with at most one hole.
fn unify(a: &ChangeFrame, b: &ChangeFrame) -> Option<EditPattern> {
    let alike = |(x, y): &(&LoggedToken, &LoggedToken)| x.text == y.text;
    let start = a.old.iter().zip(&b.old).take_while(alike).count();
    let most = a.old.len().min(b.old.len()) - start;
    let back = a.old.iter().rev().zip(b.old.iter().rev());
    let end = back.take_while(alike).take(most).count();
    let first = &a.old[start..a.old.len() - end];
    let second = &b.old[start..b.old.len() - end];
    let mut old: Vec<PatternSlot> = fixed(&a.old[..start], &b.old[..start]);
    let is_same = first.is_empty() && second.is_empty();
    if !is_same {
        old.push(PatternSlot::Hole {
            gap: first.first()?.gap.clone(),
        });
    }
    old.extend(fixed(
        &a.old[a.old.len() - end..],
        &b.old[b.old.len() - end..],
    ));
    let new = if is_same {
        same_tokens(&a.new, &b.new).then(|| slots(&a.new, &[]))?
    } else {
        open_new(a, b, first, second)?
    };
    let pattern = EditPattern {
        old,
        new,
        kind: a.kind,
        receiver: None,
        is_wide: false,
    };
    pattern.anchor()?;
    Some(pattern)
}

/// Returns slots for tokens that both frames share.
fn fixed(a: &[LoggedToken], b: &[LoggedToken]) -> Vec<PatternSlot> {
    a.iter()
        .zip(b)
        .map(|(x, y)| PatternSlot::of(x, y))
        .collect()
}

/// Returns the new side with the varying part left open. Both sides must otherwise agree and
/// contain the varying part.
fn open_new(
    a: &ChangeFrame,
    b: &ChangeFrame,
    first: &[LoggedToken],
    second: &[LoggedToken],
) -> Option<Vec<PatternSlot>> {
    if !is_hole(first) || !is_hole(second) {
        return None;
    }
    let (new, other) = (slots(&a.new, first), slots(&b.new, second));
    let has_hole = new.iter().any(|slot| slot.text().is_none());
    let is_same =
        new.len() == other.len() && new.iter().zip(&other).all(|(x, y)| x.text() == y.text());
    (has_hole && is_same).then_some(new)
}

/// Converts tokens to slots, with every run equal to `hole` left open.
fn slots(tokens: &[LoggedToken], hole: &[LoggedToken]) -> Vec<PatternSlot> {
    let mut slots = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let run = tokens.get(at..at + hole.len());
        if !hole.is_empty() && run.is_some_and(|run| same_tokens(run, hole)) {
            slots.push(PatternSlot::Hole {
                gap: token.gap.clone(),
            });
            at += hole.len();
        } else {
            slots.push(PatternSlot::of(token, token));
            at += 1;
        }
    }
    slots
}

/// Whether tokens may fill a hole: not empty, balanced, and a single item.
fn is_hole(tokens: &[LoggedToken]) -> bool {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_ref()).collect();
    fills_hole(&texts)
}

/// Whether these tokens may fill a hole: at least one token, with balanced brackets, and without a
/// comma or semicolon outside of brackets.
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
