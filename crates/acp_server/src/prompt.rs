//! Converts an editor's prompt: text with mentions, attachments, pictures.

use agent::record::{SessionMode, StoredContent};
use agent::session::UserPrompt;
use agent::stored_parts;
use base::AbsPath;
use connect::acp::protocol::{MessageContent, SlashCommand};

use crate::options::{COMPACT, mode_named};

/// A prompt, parsed for a slash command at its start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PromptCommand {
    /// A turn with this prompt.
    Turn(UserPrompt),
    /// A compaction of the conversation.
    Compact,
    /// Another mode, and a turn in it where something is asked.
    Mode(SessionMode, Option<UserPrompt>),
}

/// Reads a prompt from the parts that the editor sent. Paths below `root` become mentions.
/// `commands` are the session's slash commands. Returns `None` if the prompt has neither text nor
/// an image.
pub(crate) fn read(
    pieces: Vec<MessageContent>,
    root: &AbsPath,
    commands: &[SlashCommand],
) -> Option<PromptCommand> {
    let prompt = assemble(pieces, root);
    if prompt.text.trim().is_empty() && prompt.images.is_empty() {
        return None;
    }
    Some(parse_prompt(prompt, commands))
}

fn parse_prompt(prompt: UserPrompt, commands: &[SlashCommand]) -> PromptCommand {
    let Some((name, rest)) = command(&prompt.text) else {
        return PromptCommand::Turn(prompt);
    };
    let with = |text: String| UserPrompt {
        text,
        images: prompt.images.clone(),
    };
    if name == COMPACT {
        return PromptCommand::Compact;
    }
    if let Some(mode) = mode_named(name) {
        let says_more = !rest.is_empty() || !prompt.images.is_empty();
        return PromptCommand::Mode(mode, says_more.then(|| with(rest.to_owned())));
    }
    if commands.iter().any(|command| command.name == name) {
        // A skill that is mentioned joins the prompt.
        PromptCommand::Turn(with(format!("@{name} {rest}").trim_end().to_owned()))
    } else {
        PromptCommand::Turn(prompt)
    }
}

/// Splits a text into its slash command and the rest.
fn command(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix('/')?;
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (!name.is_empty()).then(|| (name, rest.trim()))
}

fn assemble(pieces: Vec<MessageContent>, root: &AbsPath) -> UserPrompt {
    let mut prompt = UserPrompt::default();
    let mut attached = String::new();
    for piece in pieces {
        match piece {
            MessageContent::Image { media_type, data } => {
                let stored = StoredContent::Image { media_type, data };
                prompt.images.push(stored_parts::content(&stored));
            }
            MessageContent::Link { uri, name } => {
                let text = match MentionTarget::of(&uri, root) {
                    Some(place) => place.mention(),
                    None => format!("[{name}]({uri})"),
                };
                prompt.text.push_str(&text);
            }
            MessageContent::Resource {
                uri,
                text: Some(text),
            } => {
                let place = MentionTarget::of(&uri, root);
                let shown = place.map_or_else(|| uri.clone(), |place| place.display_path());
                prompt.text.push_str(&format!("`{shown}`"));
                attached.push_str(&format!("\n<file path=\"{shown}\">\n{text}"));
                if !text.ends_with('\n') {
                    attached.push('\n');
                }
                attached.push_str("</file>\n");
            }
            other => prompt.text.push_str(&other.text()),
        }
    }
    if !attached.is_empty() {
        prompt.text.push('\n');
        prompt.text.push_str(&attached);
    }
    prompt
}

/// A file or folder below the root that an address leads to.
struct MentionTarget {
    path: String,
    lines: Option<(u32, u32)>,
}

impl MentionTarget {
    /// Parses a `file://` URI. `None` for another scheme or host, a path that is not below `root`
    /// or not UTF-8, and the root itself.
    fn of(uri: &str, root: &AbsPath) -> Option<Self> {
        let rest = uri.strip_prefix("file://")?;
        // A file URL may name a host; only this machine's files count.
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        let (path, tail) = rest.split_once('#').unwrap_or((rest, ""));
        let path = AbsPath::new(percent_decode(path)?)?;
        let inner = path.relative_to(root)?.to_str()?.to_owned();
        (!inner.is_empty()).then(|| Self {
            path: inner,
            lines: parse_line_range(tail),
        })
    }

    /// Returns the mention of the file, with a space on each side.
    fn mention(&self) -> String {
        let plain = |letter: char| letter.is_alphanumeric() || "_./-".contains(letter);
        let name = if self.path.chars().all(plain) {
            self.path.clone()
        } else {
            format!("\"{}\"", self.path)
        };
        match self.lines {
            Some((first, last)) => format!("@{name}:{first}-{last} "),
            None => format!("@{name} "),
        }
    }

    fn display_path(&self) -> String {
        match self.lines {
            Some((first, last)) => format!("{}:{first}-{last}", self.path),
            None => self.path.clone(),
        }
    }
}

/// `L10`, `L10:20` or `L10-L20`.
fn parse_line_range(tail: &str) -> Option<(u32, u32)> {
    let number = |text: &str| text.trim_start_matches('L').parse::<u32>().ok();
    let (first, last) = tail.split_once([':', '-']).unwrap_or((tail, tail));
    let (first, last) = (number(first)?, number(last)?);
    (first > 0 && last > 0).then(|| (first.min(last), first.max(last)))
}

/// A path without its `%20`.
fn percent_decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> AbsPath {
        AbsPath::new("/project").expect("absolute")
    }

    fn text(text: &str) -> MessageContent {
        MessageContent::Text(text.to_owned())
    }

    fn link(uri: &str) -> MessageContent {
        MessageContent::Link {
            uri: uri.to_owned(),
            name: "it".to_owned(),
        }
    }

    #[test]
    fn pieces_become_a_text_with_mentions() {
        let check = |pieces: Vec<MessageContent>, expected: &str| {
            assert_eq!(assemble(pieces, &root()).text, expected);
        };
        check(
            vec![text("see "), link("file:///project/src/a.rs")],
            "see @src/a.rs ",
        );
        check(
            vec![link("file:///project/a%20b.rs#L3:7"), text("!")],
            "@\"a b.rs\":3-7 !",
        );
        check(vec![link("file:///project/a.rs#L9-L4")], "@a.rs:4-9 ");
        check(vec![link("file:///other/a.rs")], "[it](file:///other/a.rs)");
        check(
            vec![link("file:///project/../etc/x")],
            "[it](file:///project/../etc/x)",
        );
        check(vec![link("https://a.org")], "[it](https://a.org)");
        let resource = MessageContent::Resource {
            uri: "file:///project/a.rs#L2".to_owned(),
            text: Some("let a;".to_owned()),
        };
        let expected = "why `a.rs:2-2`?\n\n<file path=\"a.rs:2-2\">\nlet a;\n</file>\n";
        check(vec![text("why "), resource, text("?")], expected);
    }

    #[test]
    fn a_picture_is_a_picture() {
        let picture = MessageContent::Image {
            media_type: "image/png".to_owned(),
            data: "aGk=".to_owned(),
        };
        let prompt = assemble(vec![picture], &root());
        let is_picture = |it: &model::PartContent| matches!(it, model::PartContent::Image { media_type, bytes } if media_type == "image/png" && bytes.as_ref() == b"hi");
        assert!(prompt.images.iter().all(is_picture) && prompt.images.len() == 1);
    }

    #[test]
    fn commands_are_understood_and_nothing_else() {
        let skill = SlashCommand {
            name: "release".to_owned(),
            description: String::new(),
            hint: None,
        };
        let said = |text: &str| UserPrompt {
            text: text.to_owned(),
            images: Vec::new(),
        };
        let check = |before: &str, expected: Option<PromptCommand>| {
            let found = read(vec![text(before)], &root(), std::slice::from_ref(&skill));
            assert_eq!(found, expected, "{before}");
        };
        check("/compact", Some(PromptCommand::Compact));
        check("/plan", Some(PromptCommand::Mode(SessionMode::Plan, None)));
        check(
            "/ask  why? ",
            Some(PromptCommand::Mode(SessionMode::Ask, Some(said("why?")))),
        );
        check(
            "/release now",
            Some(PromptCommand::Turn(said("@release now"))),
        );
        check("/release", Some(PromptCommand::Turn(said("@release"))));
        check(
            "/usr/bin is full",
            Some(PromptCommand::Turn(said("/usr/bin is full"))),
        );
        check("a /plan", Some(PromptCommand::Turn(said("a /plan"))));
        check(" ", None);
    }
}
