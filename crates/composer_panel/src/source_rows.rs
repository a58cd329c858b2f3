//! The rows of the list under the prompt's caret for sources that only the running program has:
//! other sessions, resources and prompts of MCP servers.
//!
//! Must not know: how a list is shown. Start at `source_rows`.

use base::{LineFeeds, printable};

use crate::agents::{ServerContent, ServerContentKind, SessionEntry};
use crate::completion::{CompletionKind, CompletionRow};

/// Maximum number of sessions.
const MAX_SESSIONS: usize = 200;
/// Maximum length of a title in a mention, in bytes.
const MAX_TITLE: usize = 40;

/// Returns the rows of sessions, without the one that is `shown`, and of resources.
pub(crate) fn source_rows(
    sessions: &[SessionEntry],
    shown: Option<&str>,
    contents: &[ServerContent],
) -> impl Iterator<Item = CompletionRow> {
    let others = sessions
        .iter()
        .filter(move |it| Some(it.id.as_str()) != shown);
    let others = others.filter(|it| !it.is_archived).take(MAX_SESSIONS);
    let others = others.map(|session| {
        let written = format!("session:{} #{}", plain_title(&session.title), session.id);
        row(&session.title, "session", CompletionKind::Session, written)
    });
    let resources = contents.iter().filter_map(|content| {
        let (uri, kind) = match &content.kind {
            ServerContentKind::Resource(uri) => (uri, CompletionKind::Resource),
            ServerContentKind::Template(uri) => (uri, CompletionKind::ResourceTemplate),
            ServerContentKind::Prompt { .. } => return None,
        };
        let written = format!("mcp:{}:{uri}", content.server);
        let detail = detail(&content.server, uri, &content.about);
        Some(row(&content.title, &detail, kind, written))
    });
    others.chain(resources).collect::<Vec<_>>().into_iter()
}

/// Returns the rows of the prompts of servers. A name that cannot be written as one word has none.
pub(crate) fn server_prompt_rows(
    contents: &[ServerContent],
) -> impl Iterator<Item = CompletionRow> + '_ {
    contents.iter().filter_map(|content| {
        let ServerContentKind::Prompt { name, arguments } = &content.kind else {
            return None;
        };
        let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
        if !is_word(name) || !is_word(&content.server) || content.server.contains(':') {
            return None;
        }
        let required = arguments.iter().filter(|(_, is_required)| *is_required);
        let required: String = required.map(|(name, _)| format!(" {name}=")).collect();
        let optional = arguments.iter().filter(|(_, is_required)| !is_required);
        let optional: Vec<&str> = optional.map(|(name, _)| name.as_str()).collect();
        let optional = match optional.as_slice() {
            [] => String::new(),
            names => format!("also: {}", names.join(", ")),
        };
        let gap = if required.is_empty() { " " } else { "" };
        let written = format!("/mcp:{}:{name}{required}{gap}", content.server);
        let detail = detail(&content.server, &optional, &content.about);
        Some(row(
            &content.title,
            &detail,
            CompletionKind::ServerPrompt,
            written,
        ))
    })
}

/// Joins the parts that are not empty.
fn detail(server: &str, place: &str, about: &str) -> String {
    let parts = [server, place, about];
    let parts: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    parts.join(" \u{b7} ")
}

fn row(name: &str, detail: &str, kind: CompletionKind, written: String) -> CompletionRow {
    CompletionRow {
        name: printable(name, LineFeeds::Escape).into_owned(),
        detail: printable(detail, LineFeeds::Escape).into_owned(),
        matches: Vec::new(),
        kind,
        written,
    }
}

/// Returns a title as a mention can contain it: without quotes and signs, and short.
fn plain_title(title: &str) -> String {
    let plain = title.replace(['"', '#', '`'], " ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let plain = printable(&words.join(" "), LineFeeds::Escape).into_owned();
    plain[..plain.floor_char_boundary(MAX_TITLE)]
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_written_with_their_required_arguments() {
        let content = |server: &str, name: &str, arguments: &[(&str, bool)]| ServerContent {
            server: server.to_owned(),
            title: "Review".to_owned(),
            about: "Reviews a file".to_owned(),
            kind: ServerContentKind::Prompt {
                name: name.to_owned(),
                arguments: arguments
                    .iter()
                    .map(|(name, is_required)| ((*name).to_owned(), *is_required))
                    .collect(),
            },
        };
        let check = |content: ServerContent, expected: Option<(&str, &str)>| {
            let contents = [content];
            let row = server_prompt_rows(&contents).next();
            let row = row
                .as_ref()
                .map(|it| (it.written.as_str(), it.detail.as_str()));
            assert_eq!(row, expected);
        };
        check(
            content("notes", "review", &[("file", true), ("focus", false)]),
            Some((
                "/mcp:notes:review file=",
                "notes \u{b7} also: focus \u{b7} Reviews a file",
            )),
        );
        check(
            content("notes", "all", &[]),
            Some(("/mcp:notes:all ", "notes \u{b7} Reviews a file")),
        );
        check(content("my notes", "all", &[]), None);
    }

    #[test]
    fn titles_fit_into_mentions() {
        assert_eq!(plain_title("Fix\n\"the\" #3  `x`"), "Fix the 3 x");
        assert_eq!(plain_title(&"ä".repeat(40)).chars().count(), 20);
    }
}
