//! The head of a definition: keys with values, at most one level deep.
//!
//! A small part of YAML: `key: value`, an indented block or `{ key: value }` below a key, quoted and
//! plain values, and comments.

use super::DefinitionProblem;

/// The line that begins and ends the head.
const FENCE: &str = "---";

/// The head and the text below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrontMatter<'a> {
    pub(super) fields: Vec<Field>,
    pub(super) body: &'a str,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Number of its line, from 1.
    pub(super) line: usize,
    /// The key, after the key above it and a dot: `budget.usd`.
    pub(super) key: String,
    pub(super) value: String,
}

/// Splits a text into its head and its body.
pub(super) fn read(text: &str) -> Result<FrontMatter<'_>, Vec<DefinitionProblem>> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut number = 0;
    let mut next_line = || {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let is_over = rest.is_empty();
        rest = after;
        number += 1;
        (!is_over).then_some((number, line.strip_suffix('\r').unwrap_or(line), after))
    };
    match next_line() {
        Some((_, line, _)) if line.trim_end() == FENCE => {}
        _ => {
            return Err(vec![DefinitionProblem::at(
                1,
                "the file must begin with ---",
            )]);
        }
    }
    let mut head = HeadReader::default();
    while let Some((number, line, after)) = next_line() {
        if line.trim_end() == FENCE {
            return head.finish(after);
        }
        head.add(number, line);
    }
    let problem = DefinitionProblem::at(number, "the head must end with ---");
    Err(head.problems.into_iter().chain([problem]).collect())
}

#[derive(Default)]
struct HeadReader {
    fields: Vec<Field>,
    problems: Vec<DefinitionProblem>,
    /// The key whose indented block may follow.
    parent: Option<String>,
    /// The keys without a value on their lines, with those.
    bare: Vec<(usize, String)>,
}

impl HeadReader {
    fn finish(mut self, body: &str) -> Result<FrontMatter<'_>, Vec<DefinitionProblem>> {
        for (line, key) in std::mem::take(&mut self.bare) {
            let block = format!("{key}.");
            if !self.fields.iter().any(|it| it.key.starts_with(&block)) {
                self.push(line, key, "");
            }
        }
        if self.problems.is_empty() {
            let fields = self.fields;
            Ok(FrontMatter { fields, body })
        } else {
            Err(self.problems)
        }
    }

    fn add(&mut self, line: usize, text: &str) {
        let content = without_comment(text).trim_end();
        if content.trim().is_empty() {
            return;
        }
        let is_indented = content.starts_with([' ', '\t']);
        let Some((key, value)) = content.trim_start().split_once(':') else {
            return self.refuse(line, "a line of the head is `key: value`");
        };
        let (key, value) = (key.trim(), value.trim());
        match (is_indented, self.parent.clone()) {
            (true, None) => self.refuse(line, "this line is indented without a key above it"),
            (true, Some(parent)) => self.push(line, format!("{parent}.{key}"), value),
            (false, _) => {
                self.parent = value.is_empty().then(|| key.to_owned());
                self.add_top(line, key, value);
            }
        }
    }

    fn add_top(&mut self, line: usize, key: &str, value: &str) {
        let map = value.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        match map {
            Some(map) => {
                for entry in split_outside_quotes(map, ',') {
                    match entry.split_once(':') {
                        Some((inner, value)) => {
                            self.push(line, format!("{key}.{}", inner.trim()), value.trim());
                        }
                        None if entry.trim().is_empty() => {}
                        None => self.refuse(line, "an entry in braces is `key: value`"),
                    }
                }
            }
            None if value.is_empty() => self.bare.push((line, key.to_owned())),
            None => self.push(line, key.to_owned(), value),
        }
    }

    fn push(&mut self, line: usize, key: String, value: &str) {
        if self.fields.iter().any(|field| field.key == key) {
            return self.refuse(line, &format!("\"{key}\" is given twice"));
        }
        match unquoted(value) {
            Some(value) => self.fields.push(Field { line, key, value }),
            None => self.refuse(line, "the quotes of this value do not close"),
        }
    }

    fn refuse(&mut self, line: usize, message: &str) {
        self.problems.push(DefinitionProblem::at(line, message));
    }
}

/// Returns a value without its quotes; `None` if they do not close.
fn unquoted(value: &str) -> Option<String> {
    let Some(quote) = value.chars().next().filter(|it| matches!(it, '"' | '\'')) else {
        return Some(value.to_owned());
    };
    let inner = value[1..].strip_suffix(quote)?;
    if quote == '"' {
        return serde_json::from_str(value).ok();
    }
    Some(inner.replace("''", "'"))
}

fn without_comment(line: &str) -> &str {
    let starts = quote_free(line).filter(|(at, it)| {
        let before = line[..*at].chars().next_back();
        *it == '#' && before.is_none_or(char::is_whitespace)
    });
    let start = starts.map(|(at, _)| at).next();
    &line[..start.unwrap_or(line.len())]
}

fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let cuts = quote_free(text).filter(|(_, it)| *it == separator);
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in cuts {
        parts.push(&text[start..at]);
        start = at + separator.len_utf8();
    }
    parts.push(&text[start..]);
    parts
}

/// The characters outside quotes, with their offsets.
fn quote_free(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut quote = None;
    let mut before = ' ';
    text.char_indices().filter(move |(_, it)| {
        // An apostrophe within a word is no quote.
        let can_open = matches!(before, ' ' | '\t' | ':' | '{' | ',');
        before = *it;
        match quote {
            Some(open) => {
                if *it == open {
                    quote = None;
                }
                false
            }
            None if matches!(it, '"' | '\'') && can_open => {
                quote = Some(*it);
                false
            }
            None => true,
        }
    })
}
