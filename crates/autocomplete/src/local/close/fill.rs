//! Completes the next element of a known list: a match arm, a field, a keyword argument.
//!
//! Invariant: applies only if at least one element is present, which identifies the list.

use base::{ByteOffset, Span};
use syntax::FieldPayload;

use super::SyntaxCompletion;
use super::facts::FileDefinitions;
use crate::EditorState;
use crate::local::token::{CodeToken, TokenKind, is_word_char, solid_tokens};

/// Longest list that is inspected, in bytes.
const MAX_LIST_BYTES: usize = 16 * 1024;

/// The bracketed list around the caret.
struct ListContext<'a> {
    text: &'a str,
    /// Tokens directly inside the brackets, up to the word being typed; nested ones are left out.
    before: Vec<CodeToken>,
    /// Tokens directly inside the brackets after the caret.
    behind: Vec<CodeToken>,
    /// Tokens of the row before the opening bracket.
    head: Vec<&'a str>,
    open: char,
    partial: &'a str,
    is_row_start: bool,
}

/// Returns the next element of the list around the caret.
pub(super) fn next_part<'f>(
    state: &EditorState,
    facts: impl Iterator<Item = &'f FileDefinitions> + Clone,
) -> Option<SyntaxCompletion> {
    let syntax = state.syntax.as_ref()?;
    let text = &state.snapshot;
    let pair = syntax.enclosing_brackets(text, Span::at(state.caret))?;
    let inner = Span::new(pair.open.end, pair.close.start);
    if inner.len() > MAX_LIST_BYTES || !(inner.start <= state.caret && state.caret <= inner.end) {
        return None;
    }
    let row = text.point_at(pair.open.start).row;
    let head = text.text(Span::new(text.row_start(row), pair.open.start));
    let before = text.text(Span::new(inner.start, state.caret));
    let behind = text.text(Span::new(state.caret, inner.end));
    let whole = format!("{before}{behind}");
    let start = before.trim_end_matches(is_word_char).len();
    let list = ListContext {
        before: shallow(&whole, 0, start),
        behind: shallow(&whole, before.len(), whole.len()),
        head: solid_tokens(&head)
            .iter()
            .map(|token| token.text(&head))
            .collect(),
        open: text.text(pair.open).chars().next()?,
        partial: before.get(start..)?,
        is_row_start: before
            .get(..start)?
            .rsplit_once('\n')
            .is_some_and(|(_, line)| line.trim().is_empty()),
        text: &whole,
    };
    let language = state.language.map_or("", |language| language.name());
    let (new, likelihood) = match (language, list.open) {
        ("Rust", '{') => list
            .arm(facts.clone())
            .or_else(|| list.field(facts, state))?,
        ("Python", '(') => list.keyword(facts)?,
        _ => return None,
    };
    let typed = list.partial;
    let rest = new
        .strip_prefix(typed)
        .filter(|rest| !rest.is_empty())?
        .to_owned();
    Some(SyntaxCompletion {
        span: Span::at(state.caret),
        new: rest,
        likelihood,
    })
}

/// Returns the tokens of a range that lie in no nested brackets.
fn shallow(text: &str, from: usize, to: usize) -> Vec<CodeToken> {
    let mut depth = 0_usize;
    let stretch = text.get(from..to).unwrap_or_default();
    solid_tokens(stretch)
        .into_iter()
        .filter(|token| {
            let sign = token.text(stretch);
            let is_open = matches!(sign, "(" | "[" | "{");
            let is_close = matches!(sign, ")" | "]" | "}");
            depth = if is_close {
                depth.saturating_sub(1)
            } else {
                depth
            };
            let is_shallow = depth == 0;
            depth += usize::from(is_open);
            is_shallow
        })
        .map(|token| CodeToken {
            start: token.start + from,
            end: token.end + from,
            ..token
        })
        .collect()
}

impl ListContext<'_> {
    fn token_text(&self, tokens: &[CodeToken], ix: usize) -> &str {
        tokens.get(ix).map_or("", |token| token.text(self.text))
    }

    fn last(&self) -> &str {
        self.before.last().map_or("", |token| token.text(self.text))
    }

    /// Returns the tokens of the list before and after the caret.
    fn all(&self) -> Vec<CodeToken> {
        self.before.iter().chain(&self.behind).copied().collect()
    }

    /// Returns the next arm of a match whose arms name variants of one enumeration.
    fn arm<'f>(&self, facts: impl Iterator<Item = &'f FileDefinitions>) -> Option<(String, f32)> {
        let starts_arm = matches!(self.last(), "," | "}") && self.is_row_start;
        if !starts_arm || !self.head.contains(&"match") {
            return None;
        }
        let tokens = self.all();
        let words: Vec<&str> = tokens.iter().map(|token| token.text(self.text)).collect();
        if words.windows(2).any(|two| two == ["_", "=>"]) {
            return None;
        }
        let paths: Vec<(&str, &str)> = words
            .windows(3)
            .filter(|three| three[1] == "::")
            .map(|three| (three[0], three[2]))
            .collect();
        let (name, _) = *paths.first()?;
        if paths.iter().any(|(other, _)| *other != name) {
            return None;
        }
        let variants = only(facts, |facts| facts.variants(name))?;
        let is_there = |variant: &str| paths.iter().any(|(_, other)| *other == variant);
        if !paths
            .iter()
            .all(|(_, path)| variants.iter().any(|it| it.name == *path))
        {
            return None;
        }
        let mut missing = variants.iter().filter(|it| !is_there(&it.name));
        let next = missing.find_map(|it| {
            let arm = format!("{name}::{}{} => ", it.name, pattern(it.payload));
            arm.starts_with(self.partial).then_some(arm)
        })?;
        Some((next, 0.7))
    }

    /// Returns the next field of a structure literal.
    fn field<'f>(
        &self,
        facts: impl Iterator<Item = &'f FileDefinitions>,
        state: &EditorState,
    ) -> Option<(String, f32)> {
        let name = *self.head.last()?;
        const DEFINING: [&str; 8] = [
            "struct", "enum", "union", "impl", "trait", "for", "mod", "match",
        ];
        let before = self.head.len().checked_sub(2).map(|ix| self.head[ix]);
        let defines = before.is_some_and(|word| DEFINING.contains(&word) || word == "->");
        if defines || self.last() != "," {
            return None;
        }
        let fields = only(facts, |facts| facts.fields(name))?;
        let tokens = self.all();
        if (0..tokens.len()).any(|ix| self.token_text(&tokens, ix) == "..") {
            return None;
        }
        let is_start = |ix: usize| ix == 0 || self.token_text(&tokens, ix - 1) == ",";
        let given: Vec<&str> = (0..tokens.len())
            .filter(|ix| is_start(*ix) && tokens[*ix].kind == TokenKind::Word)
            .map(|ix| self.token_text(&tokens, ix))
            .collect();
        if given.is_empty()
            || !given
                .iter()
                .all(|word| fields.iter().any(|it| it.name == *word))
        {
            return None;
        }
        let mut missing = fields
            .iter()
            .filter(|it| !given.contains(&it.name.as_str()));
        let next = missing.find(|it| it.name.starts_with(self.partial))?;
        let next = next.name.as_str();
        let at = ByteOffset(state.caret.0.saturating_sub(self.partial.len()));
        let binding = state.syntax.as_ref()?.binding(&state.snapshot, at, &[next]);
        Some(match binding {
            Some(_) => (format!("{next},"), 0.7),
            None => (format!("{next}: "), 0.65),
        })
    }

    /// Returns the next keyword argument of a call that has one already.
    fn keyword<'f>(
        &self,
        facts: impl Iterator<Item = &'f FileDefinitions>,
    ) -> Option<(String, f32)> {
        let name = *self.head.last()?;
        let before = self.head.len().checked_sub(2).map(|ix| self.head[ix]);
        if before == Some("def") || self.last() != "," {
            return None;
        }
        let parameters = only(facts, |facts| facts.parameters(name))?;
        let tokens = self.all();
        let is_start = |ix: usize| ix == 0 || self.token_text(&tokens, ix - 1) == ",";
        let starts = (0..tokens.len()).filter(|ix| is_start(*ix));
        let (mut given, mut positional) = (Vec::new(), 0);
        for ix in starts {
            match self.token_text(&tokens, ix + 1) {
                "=" => given.push(self.token_text(&tokens, ix)),
                _ if self.token_text(&tokens, ix).starts_with('*') => return None,
                _ => positional += 1,
            }
        }
        if given.is_empty()
            || !given
                .iter()
                .all(|word| parameters.iter().any(|it| it == word))
        {
            return None;
        }
        let own = parameters
            .iter()
            .filter(|it| !matches!(it.as_str(), "self" | "cls"));
        let mut missing = own
            .skip(positional)
            .filter(|it| !given.contains(&it.as_str()));
        let next = missing.find(|it| it.starts_with(self.partial))?;
        Some((format!("{next}="), 0.55))
    }
}

/// Returns the pattern of a variant's payload.
fn pattern(payload: FieldPayload) -> &'static str {
    match payload {
        FieldPayload::None => "",
        FieldPayload::Tuple => "(..)",
        FieldPayload::Record => " { .. }",
    }
}

/// Returns the definition that the texts agree on; `None` if two differ.
fn only<'f, T: PartialEq + ?Sized>(
    facts: impl Iterator<Item = &'f FileDefinitions>,
    of: impl Fn(&'f FileDefinitions) -> Option<&'f T>,
) -> Option<&'f T> {
    let mut found = facts.filter_map(of);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}
