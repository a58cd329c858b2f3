//! A prompt of an editor as a session takes it: its text with mentions, what comes attached, pictures.

use agent::parts;
use agent::record::{Mode, StoredContent};
use agent::session::Prompt;
use base::AbsPath;
use connect::acp::words::{Piece, SlashCommand};

use super::options::{COMPACT, mode_named};

/// What a prompt wants.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wish {
    /// A turn.
    Turn(Prompt),
    /// A shorter conversation.
    Compact,
    /// Another mode, and a turn in it where something is asked.
    Mode(Mode, Option<Prompt>),
}

/// Reads a prompt. `None` where it says nothing.
pub(super) fn read(pieces: Vec<Piece>, root: &AbsPath, commands: &[SlashCommand]) -> Option<Wish> {
    let prompt = assemble(pieces, root);
    if prompt.text.trim().is_empty() && prompt.images.is_empty() {
        return None;
    }
    Some(wish(prompt, commands))
}

fn wish(prompt: Prompt, commands: &[SlashCommand]) -> Wish {
    let Some((name, rest)) = command(&prompt.text) else {
        return Wish::Turn(prompt);
    };
    let with = |text: String| Prompt {
        text,
        images: prompt.images.clone(),
    };
    if name == COMPACT {
        return Wish::Compact;
    }
    if let Some(mode) = mode_named(name) {
        let says_more = !rest.is_empty() || !prompt.images.is_empty();
        return Wish::Mode(mode, says_more.then(|| with(rest.to_owned())));
    }
    match commands.iter().any(|command| command.name == name) {
        // A skill that is mentioned joins the prompt.
        true => Wish::Turn(with(format!("@{name} {rest}").trim_end().to_owned())),
        false => Wish::Turn(prompt),
    }
}

/// The command that a text begins with, and what follows it.
fn command(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix('/')?;
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (!name.is_empty()).then(|| (name, rest.trim()))
}

fn assemble(pieces: Vec<Piece>, root: &AbsPath) -> Prompt {
    let mut prompt = Prompt::default();
    let mut attached = String::new();
    for piece in pieces {
        match piece {
            Piece::Image { media_type, data } => {
                let stored = StoredContent::Image { media_type, data };
                prompt.images.push(parts::content(&stored));
            }
            Piece::Link { uri, name } => {
                let text = match Place::of(&uri, root) {
                    Some(place) => place.mention(),
                    None => format!("[{name}]({uri})"),
                };
                prompt.text.push_str(&text);
            }
            Piece::Resource {
                uri,
                text: Some(text),
            } => {
                let place = Place::of(&uri, root);
                let shown = place.map_or_else(|| uri.clone(), |place| place.shown());
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
struct Place {
    path: String,
    lines: Option<(u32, u32)>,
}

impl Place {
    fn of(uri: &str, root: &AbsPath) -> Option<Self> {
        let rest = uri.strip_prefix("file://")?;
        // Behind the slashes a host may stand; only this machine's files are meant.
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        let (path, tail) = rest.split_once('#').unwrap_or((rest, ""));
        let path = AbsPath::new(decoded(path)?)?;
        let inner = path.relative_to(root)?.to_str()?.to_owned();
        (!inner.is_empty()).then(|| Self {
            path: inner,
            lines: lines(tail),
        })
    }

    /// As it is mentioned, with room on both sides.
    fn mention(&self) -> String {
        let plain = |letter: char| letter.is_alphanumeric() || "_./-".contains(letter);
        let name = match self.path.chars().all(plain) {
            true => self.path.clone(),
            false => format!("\"{}\"", self.path),
        };
        match self.lines {
            Some((first, last)) => format!("@{name}:{first}-{last} "),
            None => format!("@{name} "),
        }
    }

    fn shown(&self) -> String {
        match self.lines {
            Some((first, last)) => format!("{}:{first}-{last}", self.path),
            None => self.path.clone(),
        }
    }
}

/// `L10`, `L10:20` or `L10-L20`.
fn lines(tail: &str) -> Option<(u32, u32)> {
    let number = |text: &str| text.trim_start_matches('L').parse::<u32>().ok();
    let (first, last) = tail.split_once([':', '-']).unwrap_or((tail, tail));
    let (first, last) = (number(first)?, number(last)?);
    (first > 0 && last > 0).then(|| (first.min(last), first.max(last)))
}

/// A path without its `%20`.
fn decoded(path: &str) -> Option<String> {
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

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn link(uri: &str) -> Piece {
        Piece::Link {
            uri: uri.to_owned(),
            name: "it".to_owned(),
        }
    }

    #[test]
    fn pieces_become_a_text_with_mentions() {
        let check = |pieces: Vec<Piece>, expected: &str| {
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
        let resource = Piece::Resource {
            uri: "file:///project/a.rs#L2".to_owned(),
            text: Some("let a;".to_owned()),
        };
        let expected = "why `a.rs:2-2`?\n\n<file path=\"a.rs:2-2\">\nlet a;\n</file>\n";
        check(vec![text("why "), resource, text("?")], expected);
    }

    #[test]
    fn a_picture_is_a_picture() {
        let picture = Piece::Image {
            media_type: "image/png".to_owned(),
            data: "aGk=".to_owned(),
        };
        let prompt = assemble(vec![picture], &root());
        let is_picture = |it: &model::Content| matches!(it, model::Content::Image { media_type, bytes } if media_type == "image/png" && bytes.as_ref() == b"hi");
        assert!(prompt.images.iter().all(is_picture) && prompt.images.len() == 1);
    }

    #[test]
    fn commands_are_understood_and_nothing_else() {
        let skill = SlashCommand {
            name: "release".to_owned(),
            description: String::new(),
            hint: None,
        };
        let said = |text: &str| Prompt {
            text: text.to_owned(),
            images: Vec::new(),
        };
        let check = |before: &str, expected: Option<Wish>| {
            let found = read(vec![text(before)], &root(), std::slice::from_ref(&skill));
            assert_eq!(found, expected, "{before}");
        };
        check("/compact", Some(Wish::Compact));
        check("/plan", Some(Wish::Mode(Mode::Plan, None)));
        check(
            "/ask  why? ",
            Some(Wish::Mode(Mode::Ask, Some(said("why?")))),
        );
        check("/release now", Some(Wish::Turn(said("@release now"))));
        check("/release", Some(Wish::Turn(said("@release"))));
        check(
            "/usr/bin is full",
            Some(Wish::Turn(said("/usr/bin is full"))),
        );
        check("a /plan", Some(Wish::Turn(said("a /plan"))));
        check(" ", None);
    }
}
