//! An answer as the events of a stream, what a fault does to them, and when each is due.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::{
    rng::Rng,
    script::{Fault, Moment, Pace, Seeded},
    tokens::{self, Fragment},
};

/// The events of an answer, as they are made.
#[derive(Debug)]
pub(crate) struct Frames {
    frames: Vec<Frame>,
    rng: Rng,
    tokens_per_event: u32,
}

/// One event: what is sent at once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    /// The tokens it brings.
    pub(crate) tokens: u64,
}

/// A stream ready to be sent.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    /// In order of `due`.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) ending: Ending,
    /// Whether pieces due together go out one by one.
    pub(crate) is_shredded: bool,
}

/// Bytes, and when they are sent, after the headers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) bytes: Bytes,
    pub(crate) due: Duration,
}

/// What comes after the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The body ends.
    Clean,
    /// The connection closes with the body unfinished.
    Cut,
    /// The connection is reset.
    Reset,
    /// Nothing, until the client gives up.
    Hang,
}

impl Frames {
    pub(crate) fn new(rng: Rng, pace: Pace) -> Self {
        Self {
            frames: Vec::new(),
            rng,
            tokens_per_event: pace.tokens_per_event,
        }
    }

    /// A server-sent event with a name.
    pub(crate) fn event(&mut self, name: &str, data: &Value, tokens: u64) {
        let bytes = format!("event: {name}\ndata: {data}\n\n").into_bytes();
        self.raw(bytes, tokens);
    }

    /// A server-sent event of data alone.
    pub(crate) fn data(&mut self, data: &Value, tokens: u64) {
        self.raw(format!("data: {data}\n\n").into_bytes(), tokens);
    }

    pub(crate) fn raw(&mut self, bytes: Vec<u8>, tokens: u64) {
        self.frames.push(Frame { bytes, tokens });
    }

    /// The pieces in which a text comes.
    pub(crate) fn fragments<'a>(&mut self, text: &'a str) -> Vec<Fragment<'a>> {
        tokens::fragments(text, self.tokens_per_event, &mut self.rng)
    }

    /// Letters and digits for the id of a part.
    pub(crate) fn word(&mut self, length: usize) -> String {
        self.rng.word(length)
    }

    pub(crate) fn finish(self) -> Vec<Frame> {
        self.frames
    }
}

impl Plan {
    /// What is sent when, the fault included. `error` is the wire's event for an error within a stream.
    pub(crate) fn new(
        frames: Vec<Frame>,
        pace: Pace,
        first_byte: Duration,
        fault: Option<&Seeded>,
        error: Vec<u8>,
    ) -> Self {
        let mut faulty = Faulty {
            frames,
            ending: Ending::Clean,
            pause: None,
            is_shredded: false,
        };
        if let Some(seeded) = fault {
            faulty.apply(seeded, error);
        }
        let mut told = 0;
        let mut pieces = Vec::with_capacity(faulty.frames.len());
        for (ix, frame) in faulty.frames.iter().enumerate() {
            told += frame.tokens;
            let pause = faulty
                .pause
                .filter(|(at, _)| ix >= *at)
                .map_or(Duration::ZERO, |(_, pause)| pause);
            pieces.push(Piece {
                bytes: Bytes::copy_from_slice(&frame.bytes),
                due: first_byte + pace.due(told) + pause,
            });
        }
        if faulty.is_shredded
            && let Some(seeded) = fault
        {
            pieces = shred(&pieces, Rng::of(&[seeded.draw]));
        }
        Self {
            pieces,
            ending: faulty.ending,
            is_shredded: faulty.is_shredded,
        }
    }
}

struct Faulty {
    frames: Vec<Frame>,
    ending: Ending,
    /// Before which event, and for how long.
    pause: Option<(usize, Duration)>,
    is_shredded: bool,
}

impl Faulty {
    fn apply(&mut self, seeded: &Seeded, error: Vec<u8>) {
        let count = self.frames.len();
        match &seeded.fault {
            Fault::Cut(moment) => self.end(seeded.place(*moment, count), Ending::Cut),
            Fault::EndEarly(moment) => self.end(seeded.place(*moment, count), Ending::Clean),
            Fault::Reset(moment) => self.end(seeded.place(*moment, count), Ending::Reset),
            Fault::Stall(moment) => {
                let at = seeded.place(*moment, count);
                match moment.ms {
                    Some(ms) => self.pause = Some((at, Duration::from_millis(ms))),
                    None => self.end(at, Ending::Hang),
                }
            }
            Fault::ErrorEvent(moment) => {
                self.end(seeded.place(*moment, count), Ending::Clean);
                self.frames.push(Frame {
                    bytes: error,
                    tokens: 0,
                });
            }
            Fault::BadJson(moment) => {
                if let Some(frame) = self.spoilable(seeded, *moment, |bytes| bytes.contains(&b'}'))
                {
                    break_json(&mut frame.bytes);
                }
            }
            Fault::TornUtf8(moment) => {
                if let Some(frame) = self.spoilable(seeded, *moment, |bytes| !bytes.is_ascii()) {
                    tear(&mut frame.bytes);
                } else if let Some(frame) =
                    self.spoilable(seeded, *moment, |bytes| bytes.contains(&b'"'))
                {
                    // Nothing but ASCII: the first byte of a character whose rest never comes.
                    let quote = frame.bytes.iter().rposition(|byte| *byte == b'"');
                    frame.bytes.insert(quote.unwrap_or(0), 0xe2);
                }
            }
            Fault::Shredded {} => self.is_shredded = true,
            _ => {}
        }
    }

    fn end(&mut self, at: usize, ending: Ending) {
        self.frames.truncate(at);
        self.ending = ending;
    }

    /// The first event from the moment on that fits, or else the last before it.
    fn spoilable(
        &mut self,
        seeded: &Seeded,
        moment: Moment,
        fits: impl Fn(&[u8]) -> bool,
    ) -> Option<&mut Frame> {
        let at = seeded.place(moment, self.frames.len());
        let count = self.frames.len();
        let ix = (at..count)
            .chain((0..at.min(count)).rev())
            .find(|ix| fits(&self.frames[*ix].bytes))?;
        self.frames.get_mut(ix)
    }
}

/// Takes the last closing brace away.
fn break_json(bytes: &mut Vec<u8>) {
    if let Some(at) = bytes.iter().rposition(|byte| *byte == b'}') {
        bytes.remove(at);
    }
}

/// Takes the last byte of the first long character away.
fn tear(bytes: &mut Vec<u8>) {
    let Some(start) = bytes.iter().position(|byte| !byte.is_ascii()) else {
        return;
    };
    let length = 1 + bytes[start + 1..]
        .iter()
        .take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000)
        .count();
    bytes.remove(start + length - 1);
}

/// The same bytes in pieces of one to seven.
fn shred(pieces: &[Piece], mut rng: Rng) -> Vec<Piece> {
    let mut shreds = Vec::new();
    for piece in pieces {
        let mut rest = piece.bytes.clone();
        while !rest.is_empty() {
            let length = (1 + rng.below(7) as usize).min(rest.len());
            shreds.push(Piece {
                bytes: rest.split_to(length),
                due: piece.due,
            });
        }
    }
    shreds
}
