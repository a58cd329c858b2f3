//! Finds the control sequences that the emulator's core does not handle, in front of it.
//!
//! Reports of folders, marks of the shell, notifications and progress (OSC 7, 9, 133, 633, 777, 1337) are cut out of the
//! stream. All other bytes pass unchanged, except that strings without an end are cut off: an OSC string after 64 KB (1 MB
//! for OSC 52), the others after 16 MB. Output that follows is shown.
//!
//! Invariant: any split of the bytes gives the same output.
//! Invariant: the states agree with those of the core's parser, so that both see an OSC string start at the same byte.

mod sequence;

use memchr::{memchr2, memchr3};

pub(crate) use sequence::{OscSequence, ReportedFolder, clean};
use sequence::{ParsedOsc, parse};

/// Bytes of an OSC string; a longer one is dropped.
const MAX_OSC: usize = 64 << 10;
/// Bytes of an OSC 52 string, which holds text of the clipboard.
const MAX_CLIPBOARD: usize = 1 << 20;
/// Bytes of another string, such as an image.
const MAX_STRING: usize = 16 << 20;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
const C1_ST: u8 = 0x9c;
const C1_OSC: u8 = 0x9d;

/// Brings the core's parser from the byte after ESC back to text.
const EMPTY_OSC: &[u8] = b"]\x07";

/// A part of the scanner's output.
pub(crate) enum ScannerOutput<'a> {
    /// Bytes for the core.
    Core(&'a [u8]),
    /// A sequence that the core does not know. The core may have seen an ESC before it.
    Sequence(OscSequence),
}

/// The scanner.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    state: ScannerState,
    /// The OSC string so far.
    payload: Vec<u8>,
    /// The bytes so far of another string.
    string_length: usize,
    /// The start of a character that a read split.
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ScannerState {
    #[default]
    Text,
    Escape,
    EscapeIntermediate,
    Csi,
    Osc(OscStart),
    /// DCS, SOS, PM or APC: passes to the core, which ignores it.
    String,
    /// A file of OSC 1337: dropped.
    DroppedFile(OscStart),
}

/// The introducer of an OSC string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OscStart {
    /// `ESC ]`: the core has seen the ESC.
    Escape,
    /// The C1 control 0x9d: the core has seen nothing.
    C1,
}

type Sink<'a> = dyn FnMut(ScannerOutput) + 'a;

impl Scanner {
    /// Processes bytes.
    pub(crate) fn scan(&mut self, bytes: &[u8], sink: &mut Sink) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let used = match self.state {
                ScannerState::Text => self.text(rest, sink),
                ScannerState::Escape | ScannerState::EscapeIntermediate | ScannerState::Csi => {
                    self.escape(rest, sink)
                }
                ScannerState::Osc(start) => self.osc(start, rest, sink),
                ScannerState::String => self.string(rest, sink),
                ScannerState::DroppedFile(start) => self.dropped_file(start, rest),
            };
            rest = &rest[used..];
        }
    }

    /// Passes text up to and including an ESC, or up to a C1 introducer.
    fn text(&mut self, bytes: &[u8], sink: &mut Sink) -> usize {
        if !self.held.is_empty() {
            return self.complete_character(bytes, sink);
        }
        let mut from = 0;
        while let Some(found) = memchr2(ESC, C1_OSC, &bytes[from..]) {
            let at = from + found;
            if bytes[at] == ESC {
                self.enter(ScannerState::Escape);
                sink(ScannerOutput::Core(&bytes[..=at]));
                return at + 1;
            }
            if missing_bytes(&[], &bytes[..at]) == 0 {
                if at > 0 {
                    sink(ScannerOutput::Core(&bytes[..at]));
                }
                self.enter(ScannerState::Osc(OscStart::C1));
                return at + 1;
            }
            from = at + 1;
        }
        let held = match missing_bytes(&[], bytes) {
            0 => bytes.len(),
            _ => bytes
                .iter()
                .rposition(|byte| *byte >= 0xc0)
                .unwrap_or(bytes.len()),
        };
        self.held.extend_from_slice(&bytes[held..]);
        if held > 0 {
            sink(ScannerOutput::Core(&bytes[..held]));
        }
        bytes.len()
    }

    /// Adds bytes to a character that a read split, and passes it once it is complete or broken. The core loses text
    /// behind some split characters.
    fn complete_character(&mut self, bytes: &[u8], sink: &mut Sink) -> usize {
        let missing = missing_bytes(&[], &self.held);
        let is_continuation = |byte: &&u8| matches!(**byte, 0x80..=0xbf);
        let found = bytes
            .iter()
            .take(missing)
            .take_while(is_continuation)
            .count();
        self.held.extend_from_slice(&bytes[..found]);
        if found == missing || found < bytes.len() {
            sink(ScannerOutput::Core(&self.held));
            self.held.clear();
        }
        found
    }

    /// Passes the bytes of an escape or control sequence, one state at a time.
    fn escape(&mut self, bytes: &[u8], sink: &mut Sink) -> usize {
        for (ix, byte) in bytes.iter().enumerate() {
            let next = next_state(self.state, *byte);
            if next == ScannerState::Osc(OscStart::Escape) {
                if ix > 0 {
                    sink(ScannerOutput::Core(&bytes[..ix]));
                }
                self.enter(next);
                return ix + 1;
            }
            let is_left = matches!(next, ScannerState::Text | ScannerState::String);
            self.state = next;
            if is_left {
                self.enter(next);
                sink(ScannerOutput::Core(&bytes[..=ix]));
                return ix + 1;
            }
        }
        sink(ScannerOutput::Core(bytes));
        bytes.len()
    }

    /// Collects an OSC string up to its end or its limit.
    fn osc(&mut self, start: OscStart, bytes: &[u8], sink: &mut Sink) -> usize {
        let end = bytes.iter().enumerate().position(|(ix, byte)| match *byte {
            BEL | CAN | SUB | ESC => true,
            C1_ST if start == OscStart::C1 => missing_bytes(&self.payload, &bytes[..ix]) == 0,
            _ => false,
        });
        let room = limit(&self.payload) - self.payload.len();
        let taken = end.unwrap_or(bytes.len()).min(room);
        self.payload.extend_from_slice(&bytes[..taken]);
        if let Some(end) = end.filter(|end| *end == taken) {
            return end + self.end_osc(start, bytes[end], sink);
        }
        // The limit is exceeded by a further byte only: the terminator may follow in the next read.
        if taken == 0 {
            self.cut_osc(start, sink);
        }
        taken
    }

    /// Ends an OSC string. Returns whether the terminator is used up, as a number of bytes.
    fn end_osc(&mut self, start: OscStart, terminator: u8, sink: &mut Sink) -> usize {
        let is_aborted = matches!(terminator, CAN | SUB);
        let mut payload = std::mem::take(&mut self.payload);
        // The core's parser ignores control characters within the string.
        payload.retain(|byte| *byte >= 0x20);
        match parse(&payload) {
            ParsedOsc::Foreign => {
                if start == OscStart::C1 {
                    sink(ScannerOutput::Core(&[ESC]));
                }
                sink(ScannerOutput::Core(b"]"));
                sink(ScannerOutput::Core(&payload));
                if terminator == BEL || terminator == C1_ST {
                    sink(ScannerOutput::Core(&[BEL]));
                }
            }
            ParsedOsc::Known(Some(sequence)) if !is_aborted => {
                sink(ScannerOutput::Sequence(sequence));
            }
            ParsedOsc::Known(_) => return_to_text(start, sink),
        }
        self.payload = payload;
        self.payload.clear();
        self.payload.shrink_to(MAX_OSC);
        // ESC starts the two bytes of ST, or another sequence; the core gets it, and CAN and SUB, as usual.
        match terminator {
            ESC => {
                self.enter(ScannerState::Escape);
                sink(ScannerOutput::Core(&[ESC]));
            }
            CAN | SUB => {
                self.enter(ScannerState::Text);
                sink(ScannerOutput::Core(&[terminator]));
            }
            _ => self.enter(ScannerState::Text),
        }
        1
    }

    /// Gives up an OSC string without an end.
    fn cut_osc(&mut self, start: OscStart, sink: &mut Sink) {
        return_to_text(start, sink);
        let is_file = is_file(&self.payload);
        self.payload = Vec::new();
        self.enter(if is_file {
            ScannerState::DroppedFile(start)
        } else {
            ScannerState::Text
        });
    }

    /// Passes a string that the core ignores, up to an ESC, CAN or SUB, or to the limit.
    fn string(&mut self, bytes: &[u8], sink: &mut Sink) -> usize {
        let room = (MAX_STRING - self.string_length).min(bytes.len());
        if let Some(end) = memchr3(ESC, CAN, SUB, &bytes[..room]) {
            self.enter(match bytes[end] {
                ESC => ScannerState::Escape,
                _ => ScannerState::Text,
            });
            sink(ScannerOutput::Core(&bytes[..=end]));
            return end + 1;
        }
        sink(ScannerOutput::Core(&bytes[..room]));
        self.string_length += room;
        if self.string_length == MAX_STRING {
            sink(ScannerOutput::Core(&[CAN]));
            self.enter(ScannerState::Text);
        }
        room
    }

    /// Drops a file up to its end, exclusive, or to the limit.
    fn dropped_file(&mut self, start: OscStart, bytes: &[u8]) -> usize {
        let room = (MAX_STRING - self.string_length).min(bytes.len());
        let is_end = |byte: &u8| {
            matches!(*byte, BEL | CAN | SUB | ESC) || (start == OscStart::C1 && *byte == C1_ST)
        };
        let end = bytes[..room].iter().position(is_end);
        self.string_length += end.unwrap_or(room);
        if let Some(end) = end {
            self.enter(ScannerState::Text);
            let is_escape = bytes[end] == ESC;
            return end + usize::from(!is_escape);
        }
        if self.string_length == MAX_STRING {
            self.enter(ScannerState::Text);
        }
        room
    }

    /// Returns the number of bytes that the scanner holds back.
    #[cfg(test)]
    pub(crate) fn unfinished_bytes(&self) -> usize {
        self.payload.len() + self.held.len()
    }

    fn enter(&mut self, state: ScannerState) {
        self.state = state;
        self.string_length = 0;
    }
}

/// Returns the limit of an OSC string that starts with `payload`.
fn limit(payload: &[u8]) -> usize {
    if payload.len() >= MAX_OSC && payload.starts_with(b"52;") {
        MAX_CLIPBOARD
    } else {
        MAX_OSC
    }
}

/// Returns whether an OSC string transfers a file.
fn is_file(payload: &[u8]) -> bool {
    let kinds: [&[u8]; 3] = [b"1337;File=", b"1337;MultipartFile=", b"1337;FilePart="];
    kinds.iter().any(|kind| payload.starts_with(kind))
}

/// Ends the escape sequence that the core has begun.
fn return_to_text(start: OscStart, sink: &mut Sink) {
    if start == OscStart::Escape {
        sink(ScannerOutput::Core(EMPTY_OSC));
    }
}

/// Returns the state after a byte of an escape or control sequence, as in the core's parser.
fn next_state(state: ScannerState, byte: u8) -> ScannerState {
    match (state, byte) {
        (_, CAN | SUB) => ScannerState::Text,
        (_, ESC) => ScannerState::Escape,
        (_, 0x00..=0x1f | 0x7f..=0xff) => state,
        (ScannerState::Escape, b'[') => ScannerState::Csi,
        (ScannerState::Escape, b']') => ScannerState::Osc(OscStart::Escape),
        (ScannerState::Escape, b'P' | b'X' | b'^' | b'_') => ScannerState::String,
        (ScannerState::Escape | ScannerState::EscapeIntermediate, 0x20..=0x2f) => {
            ScannerState::EscapeIntermediate
        }
        (ScannerState::Csi, 0x20..=0x3f) => ScannerState::Csi,
        _ => ScannerState::Text,
    }
}

/// Returns the number of bytes that the last character of `first` and `second` lacks in UTF-8: 0 if it is complete, or no
/// start of a character.
fn missing_bytes(first: &[u8], second: &[u8]) -> usize {
    let backwards = second.iter().rev().chain(first.iter().rev()).take(3);
    for (ix, byte) in backwards.enumerate() {
        let length = match *byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 0_usize,
        };
        return length.saturating_sub(ix + 1);
    }
    0
}

#[cfg(test)]
mod tests;
