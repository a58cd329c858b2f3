//! Snippet files in the format of VS Code: `{ "Name": { "prefix", "body", "description", "scope" } }`.
//!
//! Knows neither the languages nor the grammar of a body: the window checks the languages when it
//! lists the snippets.
//! Start at `parse_snippets`.

use crate::document::{self, Member, NodeValue, SpannedValue};
use crate::problem::{ConfigProblem, SourceText};
use crate::suggest;

/// A snippet as a file defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetDefinition {
    /// Name of the snippet, for lists.
    pub name: String,
    /// Abbreviations for it; may be empty.
    pub prefixes: Vec<String>,
    /// Its text in the grammar of snippets; rows end with a line feed.
    pub body: String,
    /// A description for the user; may be empty.
    pub description: String,
    /// Languages in which it is offered, as written; empty for all.
    pub languages: Vec<String>,
}

const KEYS: [&str; 5] = ["prefix", "body", "description", "scope", "isFileTemplate"];

/// Parses a file of snippets. Never fails: invalid snippets are dropped and reported.
///
/// `source` is the file's name in problems. `language` is the language of the file's snippets, from
/// the name of the file; `None` for a file whose snippets name theirs (`scope`).
pub fn parse_snippets(
    source: &str,
    text: &str,
    language: Option<&str>,
) -> (Vec<SnippetDefinition>, Vec<ConfigProblem>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let origin = SourceText::new(source, text);
    let mut reader = SnippetReader {
        origin: &origin,
        language,
        problems: Vec::new(),
    };
    let snippets = match document::parse(&origin) {
        Ok(Some(root)) => reader.snippets(&root),
        Ok(None) => Vec::new(),
        Err(problem) => {
            reader.problems.push(problem);
            Vec::new()
        }
    };
    (snippets, reader.problems)
}

struct SnippetReader<'a> {
    origin: &'a SourceText<'a>,
    language: Option<&'a str>,
    problems: Vec<ConfigProblem>,
}

impl SnippetReader<'_> {
    fn snippets(&mut self, root: &SpannedValue) -> Vec<SnippetDefinition> {
        let Some(members) = root.as_object() else {
            let found = root.kind();
            self.problem(
                root,
                format!("snippets are an object {{ name: snippet }}, found {found}"),
            );
            return Vec::new();
        };
        let snippets = members.iter().filter_map(|member| self.snippet(member));
        snippets.collect()
    }

    /// Parses one snippet. Adds the problems found; returns `None` without a body.
    fn snippet(&mut self, member: &Member) -> Option<SnippetDefinition> {
        let Some(members) = member.value.as_object() else {
            let found = member.value.kind();
            let message = format!("expected {{ \"prefix\", \"body\" }}, found {found}");
            self.problem(&member.value, message);
            return None;
        };
        let mut snippet = SnippetDefinition {
            name: member.key.clone(),
            prefixes: Vec::new(),
            body: String::new(),
            description: String::new(),
            languages: self.language.map(str::to_owned).into_iter().collect(),
        };
        let mut body = None;
        for Member {
            key,
            key_span,
            value,
        } in members
        {
            match key.as_str() {
                "prefix" => snippet.prefixes = self.strings(value),
                "body" => body = Some(self.strings(value).join("\n")),
                "description" => snippet.description = self.strings(value).join("\n"),
                "scope" => {
                    let scope = self.strings(value).join(",");
                    let names = scope.split(',').map(str::trim);
                    snippet.languages = names
                        .filter(|it| !it.is_empty())
                        .map(str::to_owned)
                        .collect();
                }
                // Templates of whole files are snippets here.
                "isFileTemplate" => {}
                key => {
                    let hint = suggest::hint(key, KEYS);
                    let message = format!("unknown key \"{key}\" in a snippet{hint}");
                    self.problems.push(self.origin.problem(key_span, message));
                }
            }
        }
        let Some(body) = body else {
            let message = format!("the snippet \"{}\" has no body", member.key);
            self.problems
                .push(self.origin.problem(&member.key_span, message));
            return None;
        };
        snippet.body = body.replace("\r\n", "\n");
        Some(snippet)
    }

    /// Returns a string, or the strings of a list. Adds a problem for anything else.
    fn strings(&mut self, node: &SpannedValue) -> Vec<String> {
        let nodes = match &node.value {
            NodeValue::Array(nodes) => nodes.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut strings = Vec::new();
        for node in nodes {
            match node.as_str() {
                Some(text) => strings.push(text.to_owned()),
                None => {
                    let found = node.kind();
                    self.problem(
                        node,
                        format!("expected a string or a list of strings, found {found}"),
                    );
                }
            }
        }
        strings
    }

    fn problem(&mut self, node: &SpannedValue, message: String) {
        self.problems.push(self.origin.problem(&node.span, message));
    }
}

#[cfg(test)]
mod tests;
