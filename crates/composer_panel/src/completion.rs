//! The rows of the list under the prompt's caret: names after `@`, and commands after `/`.
//!
//! Knows: the words of a prompt. Must not know: where names come from.
//! Start at `CompletionWord::at`; the window finds the names (`FindMentions`).

use std::ops::Range;
use std::rc::Rc;

use agent::context::{MentionKind, mentions};
use gpui_kit::{App, Task};

/// Finds the names for a query, best first. Dropping the task cancels the search.
pub type FindMentions = Rc<dyn Fn(&str, &mut App) -> Task<Vec<CompletionRow>>>;

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionRow {
    /// The name as shown.
    pub name: String,
    /// Further text: the folder of a file, the place of a symbol, the purpose of a command.
    pub detail: String,
    /// Byte offsets of the letters of the name that match the query.
    pub matches: Vec<usize>,
    /// The kind of thing that it names.
    pub kind: CompletionKind,
    /// The name as written after the sign.
    pub written: String,
}

/// The kind of thing that a row names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A file of the folder.
    File,
    /// A folder.
    Folder,
    /// A symbol of the program.
    Symbol,
    /// Uncommitted changes.
    Changes,
    /// A search of the code for the prompt.
    Codebase,
    /// A rule of the project or the user.
    Rule,
    /// A skill.
    Skill,
    /// The problems of the folder or of a file.
    Problems,
    /// The last command of a terminal.
    Terminal,
    /// Another session.
    Session,
    /// Burin's guide, or one of its pages.
    Guide,
    /// A resource of an MCP server.
    Resource,
    /// Resources of an MCP server whose address has variables, which the user fills in.
    ResourceTemplate,
    /// A prompt of an MCP server; the written form is the whole text.
    ServerPrompt,
    /// A command of the panel.
    Command(PromptCommand),
    /// A command of the external agent that runs the session.
    AgentCommand,
}

/// A command after `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptCommand {
    /// Starts a new session.
    New,
    /// Compacts the conversation of the session.
    Compact,
    /// Shows what fills the context.
    Context,
    /// Lets the user choose a model.
    Model,
    /// Lets the user choose the reasoning effort.
    Effort,
    /// Switches to the next mode.
    Mode,
    /// Shows the sessions of the folder.
    Sessions,
    /// Shows the board.
    Board,
    /// Shows the cost of models.
    Spending,
    /// Stops the running turn.
    Stop,
}

impl PromptCommand {
    /// All commands, with their names and help texts.
    pub(crate) const ALL: [(Self, &str, &str); 10] = [
        (Self::New, "new", "Start a new session"),
        (
            Self::Compact,
            "compact",
            "Summarise the conversation to free context",
        ),
        (Self::Context, "context", "Show what fills the context"),
        (Self::Model, "model", "Choose the model"),
        (Self::Effort, "effort", "Choose the reasoning effort"),
        (
            Self::Mode,
            "mode",
            "Switch to the next mode: build, plan, ask",
        ),
        (
            Self::Sessions,
            "sessions",
            "Show the sessions of this folder",
        ),
        (
            Self::Board,
            "board",
            "Show the board of agents in worktrees",
        ),
        (Self::Spending, "spending", "Show the cost of models"),
        (Self::Stop, "stop", "Stop the running turn"),
    ];
}

/// The sign that opens a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionSign {
    /// `@`
    Mention,
    /// `/`, only as the first letter of the prompt.
    Command,
}

/// The word before the caret that a list completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompletionWord {
    pub(crate) sign: CompletionSign,
    /// From the sign to the caret.
    pub(crate) at: Range<usize>,
    /// The text after the sign.
    pub(crate) query: String,
}

impl CompletionWord {
    /// Returns the word that ends at the byte `caret` of `text`, if it begins with a sign.
    pub(crate) fn at(text: &str, caret: usize) -> Option<Self> {
        let before = text.get(..caret)?;
        if let Some(query) = before.strip_prefix('/')
            && !query.contains(|letter: char| letter.is_whitespace() || letter == '/')
        {
            return Some(Self {
                sign: CompletionSign::Command,
                at: 0..caret,
                query: query.to_owned(),
            });
        }
        let sign = before.rfind('@')?;
        let query = &before[sign + 1..];
        let is_word = |letter: char| letter.is_alphanumeric() || "_.+-/\\@`".contains(letter);
        if query.contains(char::is_whitespace) || before[..sign].ends_with(is_word) {
            return None;
        }
        Some(Self {
            sign: CompletionSign::Mention,
            at: sign..caret,
            query: query.trim_start_matches('"').to_owned(),
        })
    }
}

/// Returns the mention of a name: in quotes if it is not read as one word otherwise.
pub(crate) fn written_mention(name: &str) -> String {
    let plain = format!("@{name}");
    let is_read = match mentions(&plain).as_slice() {
        [mention] => {
            let is_name = !matches!(&mention.kind, MentionKind::Name { name: read, lines: None } if read != name);
            mention.at == (0..plain.len()) && is_name
        }
        _ => false,
    };
    if is_read || name.contains('"') {
        return plain;
    }
    // The lines stay outside of the quotes.
    match name.rsplit_once(':') {
        Some((path, lines)) if is_lines(lines) => {
            format!("@\"{path}\":{lines}")
        }
        _ => format!("@\"{name}\""),
    }
}

/// Returns whether a text after a colon counts lines, as in `10-20`.
fn is_lines(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '-';
    text.starts_with(|letter: char| letter.is_ascii_digit()) && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_with_a_sign() {
        let check = |text: &str, expected: Option<(CompletionSign, &str)>| {
            let caret = text.find('|').expect("a caret");
            let word = CompletionWord::at(&text.replace('|', ""), caret);
            let word = word.as_ref().map(|word| (word.sign, word.query.as_str()));
            assert_eq!(word, expected, "{text}");
        };
        use CompletionSign::{Command, Mention};
        check("@|", Some((Mention, "")));
        check("see @src/ma| now", Some((Mention, "src/ma")));
        check("(@a|)", Some((Mention, "a")));
        check("@\"my|", Some((Mention, "my")));
        check("me@ex|", None);
        check("@a b|", None);
        check("`@a|", None);
        check("/co|", Some((Command, "co")));
        check("/|", Some((Command, "")));
        check("/compact |", None);
        check("/usr/bin|", None);
        check("a /co|", None);
        check("|@a", None);
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        let check = |name: &str, expected: &str| assert_eq!(written_mention(name), expected);
        check("src/main.rs", "@src/main.rs");
        check("src/main.rs:10-20", "@src/main.rs:10-20");
        check("my file.txt", "@\"my file.txt\"");
        check("my file.txt:3", "@\"my file.txt\":3");
        check("a;b", "@\"a;b\"");
        check("diff", "@diff");
        check("src/", "@src/");
        check("größe.md", "@größe.md");
        check("-dash.", "@\"-dash.\"");
        check("problems", "@problems");
        check("problems:my file.rs", "@\"problems:my file.rs\"");
        check("session:Fix it #1a-2", "@\"session:Fix it #1a-2\"");
        check("mcp:notes:note:///a", "@mcp:notes:note:///a");
        check(
            "mcp:notes:http://x:80/a b",
            "@\"mcp:notes:http://x:80/a b\"",
        );
    }
}
