//! Mentions in the prompt box as chips: their labels, and the chips of a stored text.
//!
//! Invariant: a chip changes no byte of the text.
//! Start at `prompt_content`.

use agent::context::{MentionKind, mentions};
use gpui_kit::component::input::{InlineToken, InputContent};

/// Returns the chip of a mention, written as in the prompt.
pub(crate) fn chip(written: &str) -> InlineToken {
    InlineToken::new(written.to_owned(), written.to_owned()).with_label(label(written))
}

/// Returns a stored text with chips for the sources that it mentions. Other names are typed by the
/// user as well, so that they stay text.
pub(crate) fn prompt_content(text: &str) -> InputContent {
    let mut content = InputContent::new(text.to_owned());
    for mention in mentions(text) {
        if !matches!(mention.kind, MentionKind::Source(_)) {
            continue;
        }
        let token = chip(&text[mention.at.clone()]);
        match content.clone().with_token(mention.at, token) {
            Ok(with_chip) => content = with_chip,
            Err(error) => log::warn!("a mention is not shown as a chip: {error}"),
        }
    }
    content
}

/// Returns a mention in readable form: without quotes, a session by its title alone, and a terminal without its id.
fn label(written: &str) -> String {
    let name = written.trim_start_matches('@').trim_matches('"');
    let session = name.strip_prefix("session:");
    let title = session.and_then(|it| it.rsplit_once(" #")).map(|it| it.0);
    let title = title.filter(|title| !title.trim().is_empty());
    if let Some(command) = name.strip_prefix("terminal:") {
        let command = command.rsplit_once(" #").map_or(command, |it| it.0);
        return format!("@terminal: {command}");
    }
    match (title, name.strip_prefix("mcp:")) {
        (Some(title), _) => format!("@{title}"),
        (None, Some(resource)) => format!("@{resource}"),
        (None, None) => format!("@{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_readable() {
        let check = |written: &str, expected: &str| assert_eq!(label(written), expected);
        check("@src/main.rs", "@src/main.rs");
        check("@\"my file.txt\"", "@my file.txt");
        check("@\"session:Fix it #18-1\"", "@Fix it");
        check("@session:18-1", "@session:18-1");
        check("@\"terminal:cargo test #7-3\"", "@terminal: cargo test");
        check("@mcp:notes:note:///a", "@notes:note:///a");
    }

    #[test]
    fn a_stored_text_gets_its_chips_back() {
        let text = "see @problems, @Override and @\"session:Fix it #18-1\"";
        let content = prompt_content(text);
        assert_eq!(content.text().as_ref(), text);
        let labels = content.tokens().iter().map(|it| it.token().label().clone());
        assert_eq!(labels.collect::<Vec<_>>(), ["@problems", "@Fix it"]);
    }
}
