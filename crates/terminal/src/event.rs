//! Events of a terminal: requests and news of the program that runs in it.
//!
//! Invariant: titles and notifications contain no control characters and have a bounded length.
//! Invariant: no event carries an answer to a title query (`CSI 21 t`).

use base::AbsPath;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::commands::CommandId;
use crate::snapshot::ColorSlot;

/// A request or news of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalEvent {
    /// Bytes that must be written to the program: answers to its queries. A session writes them itself and does not pass
    /// them on.
    Reply(Vec<u8>),
    /// A new title; `None` is the default title.
    Title(Option<String>),
    /// The bell.
    Bell,
    /// The program wants to put text on a clipboard (OSC 52).
    ClipboardWrite {
        /// The clipboard.
        clipboard: ClipboardKind,
        /// The text.
        text: String,
    },
    /// The program wants to read a clipboard (OSC 52). Nothing is sent unless the caller writes `answer`.
    ClipboardRead(ClipboardQuery),
    /// The program asks for a colour of the theme.
    ColorQuery(ColorQuery),
    /// A notification (OSC 9, OSC 777).
    Notification(TerminalNotification),
    /// The progress of the program (OSC 9;4).
    Progress(TerminalProgress),
    /// The folder of the shell (OSC 7, OSC 633;P;Cwd, OSC 1337;CurrentDir). It is on this machine; it may not exist.
    Folder(AbsPath),
    /// The shell shows a prompt for this command. Of several prompts, starts or ends since the last read, each kind is
    /// reported once, with the last command: the others are in `CommandLog`.
    PromptShown(CommandId),
    /// The shell runs this command.
    CommandStarted(CommandId),
    /// The command ended; its exit code is in `CommandLog`.
    CommandEnded(CommandId),
}

/// A clipboard of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipboardKind {
    /// The clipboard of copy and paste.
    Clipboard,
    /// The primary selection.
    Primary,
}

/// A request to read a clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipboardQuery {
    /// The clipboard.
    pub clipboard: ClipboardKind,
    /// The letter of the clipboard in the request.
    pub(crate) letter: char,
    /// The end of the request's sequence, which the answer repeats.
    pub(crate) terminator: &'static str,
}

/// A request for a colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColorQuery {
    /// The colour.
    pub slot: ColorSlot,
    /// The start of the answer.
    pub(crate) prefix: String,
    /// The end of the request's sequence, which the answer repeats.
    pub(crate) terminator: &'static str,
}

/// A notification of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalNotification {
    /// The title; `None` for OSC 9, which has none.
    pub title: Option<String>,
    /// The text.
    pub body: String,
}

/// The progress of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalProgress {
    /// No progress is shown.
    #[default]
    None,
    /// Percent done, 0 to 100.
    Percent(u8),
    /// The program failed; percent done.
    Failed(u8),
    /// Progress without a known end.
    Indeterminate,
    /// The program waits; percent done.
    Paused(u8),
}

impl ClipboardQuery {
    /// Returns the bytes that answer the request with `text`.
    pub fn answer(&self, text: &str) -> Vec<u8> {
        let text = STANDARD.encode(text);
        format!("\x1b]52;{};{text}{}", self.letter, self.terminator).into_bytes()
    }
}

impl ColorQuery {
    /// Returns the bytes that answer the request with a colour.
    pub fn answer(&self, red: u8, green: u8, blue: u8) -> Vec<u8> {
        let [red, green, blue] = [red, green, blue].map(|value| format!("{value:02x}{value:02x}"));
        let Self {
            prefix, terminator, ..
        } = self;
        format!("\x1b]{prefix};rgb:{red}/{green}/{blue}{terminator}").into_bytes()
    }
}
