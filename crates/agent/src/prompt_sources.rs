//! Texts that a prompt names and that only the running program has: problems, other sessions, the guide, MCP
//! servers.
//!
//! Must not know: windows, the protocol of servers, where sessions are stored, how a model reads such
//! a text.
//! Start at `PromptSources`.

use base::AbsPath;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The sign before the prompt of a server at the start of a message.
const SERVER_PROMPT: &str = "/mcp:";

/// A text that a prompt names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptSource {
    /// Problems that language servers report: `@problems`, `@problems:src/a.rs`.
    Problems {
        /// The file, relative to the root; `None` is the whole folder.
        file: Option<String>,
    },
    /// The last command of a terminal of the window, as it was when the user chose it:
    /// `@"terminal:command #ID"`.
    Terminal {
        /// Identifies the terminal and the command.
        id: String,
    },
    /// Another session of the folder: `@session:ID`, `@"session:title #ID"`.
    Session {
        /// Id of the session.
        id: String,
    },
    /// Burin's guide: `@docs`, `@docs:page`, `@docs:page#section`, `@"docs:some words"`.
    Guide {
        /// The page, the section or the words; `None` is the list of contents.
        name: Option<String>,
    },
    /// A resource of an MCP server: `@mcp:server:uri`.
    Resource {
        /// Name of the server.
        server: String,
        /// URI of the resource.
        uri: String,
    },
    /// A prompt of an MCP server, at the start of a message: `/mcp:server:prompt name=value`.
    ServerPrompt {
        /// Name of the server.
        server: String,
        /// Name of the prompt.
        name: String,
        /// Its arguments, by name.
        arguments: Vec<(String, String)>,
    },
}

/// Reads the texts that prompts of one session name.
pub trait PromptSources: Send + Sync {
    /// Returns the text of a source as it is now, for a prompt in the folder `root`. Fails, with a
    /// reason for the user, if there is none.
    fn read(
        &self,
        root: &AbsPath,
        source: PromptSource,
    ) -> BoxFuture<'static, Result<String, Error>>;
}

/// A source with its text, or with the reason why it cannot be read.
#[derive(Debug)]
pub struct SourceText {
    /// The source.
    pub source: PromptSource,
    /// Its text.
    pub text: Result<String, Error>,
}

/// A content that an MCP server of a folder offers to prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerContent {
    /// Name of the server.
    pub server: String,
    /// Name for display: untrusted text.
    pub title: String,
    /// Its purpose: untrusted text, may be empty.
    pub about: String,
    /// The kind of content.
    pub kind: ServerContentKind,
}

/// The kind of a content that a server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerContentKind {
    /// A resource with this URI.
    Resource(String),
    /// Resources whose URIs follow this template, with variables in braces.
    Template(String),
    /// A prompt.
    Prompt {
        /// Name of the prompt.
        name: String,
        /// Names of its arguments, and whether each must be given.
        arguments: Vec<(String, bool)>,
    },
}

impl PromptSource {
    /// Parses the word of a mention, without the sign and quotes. `None` if it names something else.
    pub fn named(word: &str) -> Option<Self> {
        let (kind, rest) = word.split_once(':')?;
        let rest = Some(rest).filter(|rest| !rest.is_empty())?;
        match kind {
            "problems" => Some(Self::Problems {
                file: Some(rest.to_owned()),
            }),
            "terminal" => {
                let id = rest.rsplit_once('#').map_or(rest, |(_, id)| id);
                (!id.is_empty()).then(|| Self::Terminal { id: id.to_owned() })
            }
            "session" => {
                let id = rest.rsplit_once('#').map_or(rest, |(_, id)| id);
                (!id.is_empty()).then(|| Self::Session { id: id.to_owned() })
            }
            "docs" => Some(Self::Guide {
                name: Some(rest.to_owned()),
            }),
            "mcp" => {
                let (server, uri) = rest.split_once(':')?;
                (!server.is_empty() && !uri.is_empty()).then(|| Self::Resource {
                    server: server.to_owned(),
                    uri: uri.to_owned(),
                })
            }
            _ => None,
        }
    }

    /// Parses the prompt of a server at the start of a message. `None` if the message does not begin
    /// with one.
    pub fn server_prompt(text: &str) -> Option<Self> {
        let text = text.trim_start().strip_prefix(SERVER_PROMPT)?;
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (server, name) = text[..end].split_once(':')?;
        if server.is_empty() || name.is_empty() {
            return None;
        }
        Some(Self::ServerPrompt {
            server: server.to_owned(),
            name: name.to_owned(),
            arguments: arguments(&text[end..]),
        })
    }

    /// Returns the source in a few words, for the user.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Problems { file: None } => "problems".to_owned(),
            Self::Problems { file: Some(file) } => format!("problems in {file}"),
            Self::Terminal { .. } => "terminal".to_owned(),
            Self::Session { id } => format!("session {id}"),
            Self::Guide { name: None } => "the guide".to_owned(),
            Self::Guide { name: Some(name) } => format!("the guide about {name}"),
            Self::Resource { server, uri } => format!("{uri} of {server}"),
            Self::ServerPrompt { server, name, .. } => format!("prompt {name} of {server}"),
        }
    }
}

/// Parses `name=value name="a value"`. A word without `=` belongs to the value before it; words
/// before the first name are left out.
fn arguments(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let named = rest[..word].split_once('=');
        let Some((name, _)) = named.filter(|(name, _)| is_argument_name(name)) else {
            if let Some((_, value)) = found.last_mut() {
                let gap = if value.is_empty() { "" } else { " " };
                value.push_str(gap);
                value.push_str(&rest[..word]);
            }
            rest = rest[word..].trim_start();
            continue;
        };
        let after = &rest[name.len() + 1..];
        let quoted = after.strip_prefix('"').and_then(|it| it.split_once('"'));
        let (value, more) = match quoted {
            Some(split) => split,
            None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        found.push((name.to_owned(), value.to_owned()));
        rest = more.trim_start();
    }
    found
}

fn is_argument_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    !name.is_empty() && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_names_and_values() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = PromptSource::server_prompt(text);
            let Some(PromptSource::ServerPrompt { arguments, .. }) = found else {
                panic!("{text} names no prompt");
            };
            let found: Vec<(&str, &str)> = arguments
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check("/mcp:notes:review", &[]);
        check("/mcp:notes:review file=a.rs", &[("file", "a.rs")]);
        check(
            "/mcp:notes:review file=\"my a.rs\" focus=tests and docs",
            &[("file", "my a.rs"), ("focus", "tests and docs")],
        );
        check("/mcp:notes:review please x=1 y=", &[("x", "1"), ("y", "")]);
        check("/mcp:n:r x=\"open", &[("x", "\"open")]);
    }

    #[test]
    fn only_the_start_of_a_message_names_a_prompt() {
        for text in [
            "see /mcp:a:b",
            "/mcp:a",
            "/mcp:a:",
            "/mcp::b",
            "/compact",
            "",
        ] {
            assert_eq!(PromptSource::server_prompt(text), None, "{text}");
        }
    }
}
