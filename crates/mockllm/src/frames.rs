//! A reply as stream events, with the effect of a fault and the time each event is due.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::{
    rng::Rng,
    script::{FaultMoment, ReplyPace, ScriptedFault, Seeded},
    tokens::{self, TokenFragment},
};

/// Collects the events of a reply.
#[derive(Debug)]
pub(crate) struct Frames {
    frames: Vec<ReplyFrame>,
    rng: Rng,
    tokens_per_event: u32,
}

/// One event of a stream, sent at once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReplyFrame {
    pub(crate) bytes: Vec<u8>,
    /// The tokens it brings.
    pub(crate) tokens: u64,
}

/// A stream ready to be sent.
#[derive(Debug, PartialEq)]
pub(crate) struct StreamPlan {
    /// In order of `due`.
    pub(crate) pieces: Vec<TimedBytes>,
    pub(crate) ending: StreamEnding,
    /// Whether pieces due together go out one by one.
    pub(crate) is_shredded: bool,
}

/// Bytes, and when they are sent, after the headers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimedBytes {
    pub(crate) bytes: Bytes,
    pub(crate) due: Duration,
}

/// The end of the stream after its last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnding {
    /// The body ends normally.
    Clean,
    /// The connection closes with the body unfinished.
    Cut,
    /// The connection is reset.
    Reset,
    /// Nothing, until the client gives up.
    Hang,
}

impl Frames {
    pub(crate) fn new(rng: Rng, pace: ReplyPace) -> Self {
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
        self.frames.push(ReplyFrame { bytes, tokens });
    }

    /// Splits a text into the fragments of a stream.
    pub(crate) fn fragments<'a>(&mut self, text: &'a str) -> Vec<TokenFragment<'a>> {
        tokens::fragments(text, self.tokens_per_event, &mut self.rng)
    }

    /// Letters and digits for the id of a part.
    pub(crate) fn random_id(&mut self, length: usize) -> String {
        self.rng.random_id(length)
    }

    pub(crate) fn finish(self) -> Vec<ReplyFrame> {
        self.frames
    }
}

impl StreamPlan {
    /// Schedules the frames and applies the fault. `error` is the wire format's event for an error
    /// within a stream.
    pub(crate) fn new(
        frames: Vec<ReplyFrame>,
        pace: ReplyPace,
        first_byte: Duration,
        fault: Option<&Seeded>,
        error: Vec<u8>,
    ) -> Self {
        let mut faulty = FaultInjector {
            frames,
            ending: StreamEnding::Clean,
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
            pieces.push(TimedBytes {
                bytes: Bytes::copy_from_slice(&frame.bytes),
                due: first_byte + pace.due(told) + pause,
            });
        }
        if faulty.is_shredded
            && let Some(seeded) = fault
        {
            pieces = shred_chunks(&pieces, Rng::of(&[seeded.draw]));
        }
        Self {
            pieces,
            ending: faulty.ending,
            is_shredded: faulty.is_shredded,
        }
    }
}

struct FaultInjector {
    frames: Vec<ReplyFrame>,
    ending: StreamEnding,
    /// Before which event, and for how long.
    pause: Option<(usize, Duration)>,
    is_shredded: bool,
}

impl FaultInjector {
    fn apply(&mut self, seeded: &Seeded, error: Vec<u8>) {
        let count = self.frames.len();
        match &seeded.fault {
            ScriptedFault::Cut(moment) => {
                self.truncate_at(seeded.event_index(*moment, count), StreamEnding::Cut)
            }
            ScriptedFault::EndEarly(moment) => {
                self.truncate_at(seeded.event_index(*moment, count), StreamEnding::Clean)
            }
            ScriptedFault::Reset(moment) => {
                self.truncate_at(seeded.event_index(*moment, count), StreamEnding::Reset)
            }
            ScriptedFault::Stall(moment) => {
                let at = seeded.event_index(*moment, count);
                match moment.ms {
                    Some(ms) => self.pause = Some((at, Duration::from_millis(ms))),
                    None => self.truncate_at(at, StreamEnding::Hang),
                }
            }
            ScriptedFault::ErrorEvent(moment) => {
                self.truncate_at(seeded.event_index(*moment, count), StreamEnding::Clean);
                self.frames.push(ReplyFrame {
                    bytes: error,
                    tokens: 0,
                });
            }
            ScriptedFault::BadJson(moment) => {
                if let Some(frame) = self.spoilable(seeded, *moment, |bytes| bytes.contains(&b'}'))
                {
                    break_json(&mut frame.bytes);
                }
            }
            ScriptedFault::TornUtf8(moment) => {
                if let Some(frame) = self.spoilable(seeded, *moment, |bytes| !bytes.is_ascii()) {
                    tear_character(&mut frame.bytes);
                } else if let Some(frame) =
                    self.spoilable(seeded, *moment, |bytes| bytes.contains(&b'"'))
                {
                    // The text is ASCII only: inserts the first byte of a character without the
                    // rest.
                    let quote = frame.bytes.iter().rposition(|byte| *byte == b'"');
                    frame.bytes.insert(quote.unwrap_or(0), 0xe2);
                }
            }
            ScriptedFault::Shredded {} => self.is_shredded = true,
            _ => {}
        }
    }

    fn truncate_at(&mut self, at: usize, ending: StreamEnding) {
        self.frames.truncate(at);
        self.ending = ending;
    }

    /// The first event from the moment on that fits, or else the last before it.
    fn spoilable(
        &mut self,
        seeded: &Seeded,
        moment: FaultMoment,
        fits: impl Fn(&[u8]) -> bool,
    ) -> Option<&mut ReplyFrame> {
        let at = seeded.event_index(moment, self.frames.len());
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
fn tear_character(bytes: &mut Vec<u8>) {
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
fn shred_chunks(pieces: &[TimedBytes], mut rng: Rng) -> Vec<TimedBytes> {
    let mut shreds = Vec::new();
    for piece in pieces {
        let mut rest = piece.bytes.clone();
        while !rest.is_empty() {
            let length = (1 + rng.next_below(7) as usize).min(rest.len());
            shreds.push(TimedBytes {
                bytes: rest.split_to(length),
                due: piece.due,
            });
        }
    }
    shreds
}
