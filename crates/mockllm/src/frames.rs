//! Encodes a reply as stream events, injects the fault, and schedules the events.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::{
    rng::Rng,
    script::{FaultMoment, ReplyPace, ScriptedFault, SeededFault},
    tokens::{self, TokenFragment},
};

/// Collects the events of a streamed reply, as a wire format encodes it.
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
    /// The number of tokens it contains.
    pub(crate) tokens: u64,
}

/// A stream of timed chunks, ready to be sent, and its end.
#[derive(Debug, PartialEq)]
pub(crate) struct StreamPlan {
    /// In order of `due`.
    pub(crate) chunks: Vec<TimedBytes>,
    pub(crate) ending: StreamEnding,
    /// Whether chunks due together go out one by one.
    pub(crate) is_split: bool,
}

/// Bytes with the time at which they are sent, measured from the headers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimedBytes {
    pub(crate) bytes: Bytes,
    pub(crate) due: Duration,
}

/// The end of the stream after its last chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnding {
    /// The body ends normally.
    Clean,
    /// The connection closes with the body unfinished.
    Cut,
    /// The connection is reset.
    Reset,
    /// The stream stalls until the client gives up.
    Hang,
}

impl Frames {
    /// Creates an empty collection. `pace` determines the size of fragments.
    pub(crate) fn new(rng: Rng, pace: ReplyPace) -> Self {
        Self {
            frames: Vec::new(),
            rng,
            tokens_per_event: pace.tokens_per_event,
        }
    }

    /// Adds a server-sent event with a name.
    pub(crate) fn event(&mut self, name: &str, data: &Value, tokens: u64) {
        let bytes = format!("event: {name}\ndata: {data}\n\n").into_bytes();
        self.raw(bytes, tokens);
    }

    /// Adds a server-sent event without a name.
    pub(crate) fn data(&mut self, data: &Value, tokens: u64) {
        self.raw(format!("data: {data}\n\n").into_bytes(), tokens);
    }

    /// Adds bytes as one event that contains `tokens` tokens of the reply.
    pub(crate) fn raw(&mut self, bytes: Vec<u8>, tokens: u64) {
        self.frames.push(ReplyFrame { bytes, tokens });
    }

    /// Splits a text into the fragments that a stream sends one by one, of random sizes around the
    /// configured one.
    pub(crate) fn fragments<'a>(&mut self, text: &'a str) -> Vec<TokenFragment<'a>> {
        tokens::fragments(text, self.tokens_per_event, &mut self.rng)
    }

    /// Returns a random id of letters and digits.
    pub(crate) fn random_id(&mut self, length: usize) -> String {
        self.rng.random_id(length)
    }

    /// Returns the events in order.
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
        fault: Option<&SeededFault>,
        error: Vec<u8>,
    ) -> Self {
        let mut injector = FaultInjector {
            frames,
            ending: StreamEnding::Clean,
            pause: None,
            is_split: false,
        };
        if let Some(seeded) = fault {
            injector.apply(seeded, error);
        }
        let mut sent = 0;
        let mut chunks = Vec::with_capacity(injector.frames.len());
        for (ix, frame) in injector.frames.iter().enumerate() {
            sent += frame.tokens;
            let pause = injector
                .pause
                .filter(|(at, _)| ix >= *at)
                .map_or(Duration::ZERO, |(_, pause)| pause);
            chunks.push(TimedBytes {
                bytes: Bytes::copy_from_slice(&frame.bytes),
                due: first_byte + pace.due(sent) + pause,
            });
        }
        if injector.is_split
            && let Some(seeded) = fault
        {
            chunks = split_chunks(&chunks, Rng::of(&[seeded.draw]));
        }
        Self {
            chunks,
            ending: injector.ending,
            is_split: injector.is_split,
        }
    }
}

struct FaultInjector {
    frames: Vec<ReplyFrame>,
    ending: StreamEnding,
    /// The index of the event before which the stream pauses, and the duration.
    pause: Option<(usize, Duration)>,
    is_split: bool,
}

impl FaultInjector {
    fn apply(&mut self, seeded: &SeededFault, error: Vec<u8>) {
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
                if let Some(frame) = self.find_frame(seeded, *moment, |bytes| bytes.contains(&b'}'))
                {
                    break_json(&mut frame.bytes);
                }
            }
            ScriptedFault::TornUtf8(moment) => {
                if let Some(frame) = self.find_frame(seeded, *moment, |bytes| !bytes.is_ascii()) {
                    tear_character(&mut frame.bytes);
                } else if let Some(frame) =
                    self.find_frame(seeded, *moment, |bytes| bytes.contains(&b'"'))
                {
                    // The text is ASCII only: inserts the first byte of a character without the
                    // rest.
                    let quote = frame.bytes.iter().rposition(|byte| *byte == b'"');
                    frame.bytes.insert(quote.unwrap_or(0), 0xe2);
                }
            }
            ScriptedFault::Shredded {} => self.is_split = true,
            _ => {}
        }
    }

    fn truncate_at(&mut self, at: usize, ending: StreamEnding) {
        self.frames.truncate(at);
        self.ending = ending;
    }

    /// Returns the first event at or after the moment that `fits` accepts, or else the last before it.
    fn find_frame(
        &mut self,
        seeded: &SeededFault,
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

/// Removes the last closing brace.
fn break_json(bytes: &mut Vec<u8>) {
    if let Some(at) = bytes.iter().rposition(|byte| *byte == b'}') {
        bytes.remove(at);
    }
}

/// Removes the last byte of the first multi-byte character.
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

/// Splits the same bytes into chunks of one to seven.
fn split_chunks(chunks: &[TimedBytes], mut rng: Rng) -> Vec<TimedBytes> {
    let mut parts = Vec::new();
    for chunk in chunks {
        let mut rest = chunk.bytes.clone();
        while !rest.is_empty() {
            let length = (1 + rng.next_below(7) as usize).min(rest.len());
            parts.push(TimedBytes {
                bytes: rest.split_to(length),
                due: chunk.due,
            });
        }
    }
    parts
}
