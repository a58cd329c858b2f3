//! The meaning of OSC strings that the core does not handle.

use crate::event::{TerminalNotification, TerminalProgress};

/// Characters of a notification.
const MAX_NOTIFICATION: usize = 1_000;

/// Characters of a command line.
const MAX_COMMAND_LINE: usize = 16 << 10;

/// A report of a program or shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OscSequence {
    /// The prompt starts (133;A, 633;A).
    PromptStart,
    /// The command line starts (133;B, 633;B).
    InputStart,
    /// The output starts (133;C, 633;C).
    OutputStart,
    /// The command ended (133;D, 633;D).
    CommandEnd(Option<i32>),
    /// The command line (633;E).
    CommandLine {
        /// The text.
        text: String,
        /// The nonce that proves its origin.
        nonce: Option<String>,
    },
    /// The folder of the shell.
    Folder(ReportedFolder),
    /// A notification.
    Notification(TerminalNotification),
    /// The progress of the program.
    Progress(TerminalProgress),
}

/// A folder as a shell reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReportedFolder {
    /// An address `file://host/path`, percent-encoded.
    Address(String),
    /// A path.
    Path(String),
}

/// The result of parsing an OSC string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParsedOsc {
    /// The core handles or ignores it.
    Foreign,
    /// A sequence of this module; `None` if it has no effect.
    Known(Option<OscSequence>),
}

/// Parses an OSC string without its introducer and terminator.
pub(super) fn parse(payload: &[u8]) -> ParsedOsc {
    let end = payload.iter().position(|byte| *byte == b';');
    let (number, rest) = match end {
        Some(end) => (&payload[..end], &payload[end + 1..]),
        None => (payload, &[][..]),
    };
    let rest = || String::from_utf8_lossy(rest);
    ParsedOsc::Known(match number {
        b"7" => Some(OscSequence::Folder(ReportedFolder::Address(
            rest().into_owned(),
        ))),
        b"9" => parse_9(&rest()),
        b"133" => parse_mark(&rest()),
        b"633" => parse_633(&rest()),
        b"777" => parse_777(&rest()),
        b"1337" => rest().strip_prefix("CurrentDir=").map(path),
        // The emulator itself uses this letter of no clipboard.
        b"52" if payload.starts_with(b"52;\xff") => None,
        _ => return ParsedOsc::Foreign,
    })
}

fn path(path: &str) -> OscSequence {
    OscSequence::Folder(ReportedFolder::Path(path.to_owned()))
}

/// OSC 9: a notification of iTerm, or one of ConEmu's numbered commands.
fn parse_9(rest: &str) -> Option<OscSequence> {
    let (command, arguments) = rest.split_once(';').unwrap_or((rest, ""));
    match command {
        "4" => Some(OscSequence::Progress(progress(arguments))),
        "9" => Some(path(arguments.trim_matches('"'))),
        _ if command.len() <= 2 && command.parse::<u8>().is_ok() => None,
        _ => notification(None, rest),
    }
}

fn progress(arguments: &str) -> TerminalProgress {
    let (state, percent) = arguments.split_once(';').unwrap_or((arguments, "0"));
    let percent = percent.parse::<u8>().unwrap_or(0).min(100);
    match state {
        "1" => TerminalProgress::Percent(percent),
        "2" => TerminalProgress::Failed(percent),
        "3" => TerminalProgress::Indeterminate,
        "4" => TerminalProgress::Paused(percent),
        _ => TerminalProgress::None,
    }
}

fn notification(title: Option<&str>, body: &str) -> Option<OscSequence> {
    let body = clean(body, MAX_NOTIFICATION);
    let title = title.map(|title| clean(title, MAX_NOTIFICATION));
    let is_empty = body.is_empty() && title.as_ref().is_none_or(String::is_empty);
    (!is_empty).then_some(OscSequence::Notification(TerminalNotification {
        title,
        body,
    }))
}

/// OSC 133, and the letters of OSC 633 that are the same.
fn parse_mark(rest: &str) -> Option<OscSequence> {
    let mut fields = rest.split(';');
    match fields.next()? {
        "A" | "N" => {
            // The prompt of a further line of the same command, or one on the right.
            let is_first = !fields.any(|field| matches!(field, "k=s" | "k=c" | "k=r"));
            is_first.then_some(OscSequence::PromptStart)
        }
        "B" => Some(OscSequence::InputStart),
        "C" => Some(OscSequence::OutputStart),
        "D" => {
            let code = fields.next().and_then(|code| code.parse().ok());
            Some(OscSequence::CommandEnd(code))
        }
        _ => None,
    }
}

/// OSC 633: VS Code's marks.
fn parse_633(rest: &str) -> Option<OscSequence> {
    if let Some(arguments) = rest.strip_prefix("E;") {
        let (text, nonce) = match arguments.split_once(';') {
            Some((text, nonce)) => (text, Some(nonce.to_owned())),
            None => (arguments, None),
        };
        return Some(OscSequence::CommandLine {
            text: unescape(text).chars().take(MAX_COMMAND_LINE).collect(),
            nonce,
        });
    }
    match rest.strip_prefix("P;Cwd=") {
        Some(folder) => Some(path(&unescape(folder))),
        None => parse_mark(rest),
    }
}

/// OSC 777: `notify;TITLE;BODY`.
fn parse_777(rest: &str) -> Option<OscSequence> {
    let (title, body) = rest.strip_prefix("notify;")?.split_once(';')?;
    notification(Some(title), body)
}

/// Resolves `\\` and `\xHH`, by which shells escape semicolons and control characters. Control characters other than
/// newlines and tabs are dropped.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let escaped = &rest[at + 1..];
        let code = escaped
            .strip_prefix('x')
            .and_then(|digits| u8::from_str_radix(digits.get(..2)?, 16).ok());
        let (byte, length) = match code {
            Some(code) => (code, 3),
            None => (b'\\', usize::from(escaped.starts_with('\\'))),
        };
        bytes.push(byte);
        rest = &escaped[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    let text = String::from_utf8_lossy(&bytes);
    let is_kept = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    text.chars().filter(is_kept).collect()
}

/// Returns at most `cap` characters of a text, without control characters and those that change the direction of text.
pub(crate) fn clean(text: &str, cap: usize) -> String {
    let is_kept = |letter: &char| {
        !letter.is_control()
            && !matches!(*letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(is_kept).take(cap).collect()
}
