//! How models that predict the next edit are asked, and how their answers are read: pure functions.
//!
//! Each model was trained on one way of writing down the text around the caret, the edits before, and other files; a
//! letter more or less and it answers worse. The ways are told in its module.
//! Invariant: no control token of the model comes from anybody's text: in what is only shown it is broken by a space,
//! and where it stands in what would be rewritten, nothing is asked.
//! Invariant: reading never fails: an answer is edits, nothing, or unreadable.
//! Start at `prompt` and `read`.

mod guard;
mod instinct;
mod markers;
mod mercury;
mod sweep;
mod zeta1;
mod zeta2;

use std::ops::Range;

use model::{NextEditFormat, TokenCount};
use text::Snapshot;

use crate::Replacement;
use crate::context::{Context, Frame, Window};

pub use guard::harmless;

/// What is sent to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// How it is sent.
    pub form: Form,
    /// The prompt, or the message of the person.
    pub text: String,
    /// What ends the answer, the most important first.
    pub stop: Vec<String>,
    /// The most that the answer may have.
    pub max_output: TokenCount,
}

/// How a prompt is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is, to be gone on with.
    Raw,
    /// As a message for an endpoint of edits.
    Edit,
    /// As a conversation's first message, behind these instructions.
    Chat {
        /// The instructions.
        system: String,
    },
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// What is to be replaced, in bytes of the text that the window was taken from; sorted, never touching.
    Edits(Vec<Replacement>),
    /// Nothing is to be changed.
    Nothing,
    /// It is not what the model's format says.
    Unreadable,
}

/// How much of the text a model wants to see, and may rewrite.
pub fn frame(format: NextEditFormat) -> Frame {
    match format {
        NextEditFormat::Zeta1 => Frame::Tokens {
            editable: 150,
            around: 350,
        },
        NextEditFormat::Zeta2 => Frame::Tokens {
            editable: 180,
            around: 350,
        },
        NextEditFormat::Zeta21 => Frame::Tokens {
            editable: 350,
            around: 350,
        },
        NextEditFormat::Sweep => Frame::Rows {
            above: 10,
            below: 10,
            around: 0,
        },
        NextEditFormat::Mercury => Frame::Rows {
            above: 5,
            below: 10,
            around: 10,
        },
        NextEditFormat::Instinct => Frame::Rows {
            above: 1,
            below: 5,
            around: 20,
        },
    }
}

/// What is sent to a model of a format; `None` where the text holds what the model would take for a command, or its
/// rows are too long.
pub fn prompt(format: NextEditFormat, context: &Context) -> Option<Prompt> {
    let tokens = control_tokens(format);
    let window = &context.window;
    if window.is_too_long() || guard::holds(window.region(), tokens) {
        return None;
    }
    let safe = guard::guarded(context, tokens);
    let (form, text) = match format {
        NextEditFormat::Zeta1 => (Form::Raw, zeta1::prompt(&safe)),
        NextEditFormat::Zeta2 => (Form::Raw, zeta2::prompt(&safe)),
        NextEditFormat::Zeta21 => (Form::Raw, markers::prompt(&safe)),
        NextEditFormat::Sweep => (Form::Raw, sweep::prompt(&safe)),
        NextEditFormat::Mercury => (Form::Edit, mercury::prompt(&safe)),
        NextEditFormat::Instinct => {
            let system = instinct::SYSTEM.to_owned();
            (Form::Chat { system }, instinct::prompt(&safe))
        }
    };
    Some(Prompt {
        form,
        text,
        stop: stops(format).iter().map(|it| (*it).to_owned()).collect(),
        max_output: room(&context.window),
    })
}

/// Reads what a model answered about a window.
pub fn read(format: NextEditFormat, window: &Window, answer: &str) -> Reading {
    let answer = stops(format)
        .iter()
        .filter_map(|stop| answer.find(stop))
        .min()
        .map_or(answer, |end| &answer[..end]);
    let region = match format {
        NextEditFormat::Zeta1 | NextEditFormat::Instinct => zeta1::read(answer),
        NextEditFormat::Zeta2 => zeta2::read(answer),
        NextEditFormat::Zeta21 => return from(window, markers::read(window.region(), answer)),
        NextEditFormat::Sweep => Answer::Region(answer.to_owned()),
        NextEditFormat::Mercury => mercury::read(answer),
    };
    from(window, region)
}

/// What a format makes of an answer.
enum Answer {
    /// The part that may be rewritten, anew.
    Region(String),
    Nothing,
    Unreadable,
}

fn from(window: &Window, answer: Answer) -> Reading {
    match answer {
        Answer::Region(region) => {
            let edits = edits(window, &region);
            match edits.is_empty() {
                true => Reading::Nothing,
                false => Reading::Edits(edits),
            }
        }
        Answer::Nothing => Reading::Nothing,
        Answer::Unreadable => Reading::Unreadable,
    }
}

/// The rows by which a region became another, each hunk a replacement of its own.
fn edits(window: &Window, region: &str) -> Vec<Replacement> {
    let old = window.region();
    // Models are careless about the last line feed, and about carriage returns.
    let mut new = match old.contains("\r\n") && !region.contains("\r\n") {
        true => region.replace('\n', "\r\n"),
        false => region.to_owned(),
    };
    let ending = ["\r\n", "\n"].into_iter().find(|it| old.ends_with(it));
    match ending {
        Some(ending) if !new.ends_with('\n') => new.push_str(ending),
        None if new.ends_with('\n') => {
            new.truncate(new.trim_end_matches(['\r', '\n']).len());
        }
        _ => {}
    }
    let (before, after) = (Snapshot::new(old), Snapshot::new(&new));
    let hunks = before.diff_rows(&after).into_iter().map(|hunk| {
        let span = before.span_of(hunk.before);
        let new = after.text(after.span_of(hunk.after)).into_owned();
        (span.range(), new)
    });
    let start = window.region_start();
    let placed = hunks.map(|(range, new): (Range<usize>, String)| {
        Replacement {
            span: base::Span::new(start + range.start, start + range.end),
            old: old[range].into(),
            new: new.into(),
        }
        .trimmed()
    });
    placed.filter(|edit| !edit.is_empty()).collect()
}

/// What a model takes for more than text.
pub fn control_tokens(format: NextEditFormat) -> &'static [&'static str] {
    match format {
        NextEditFormat::Zeta1 => zeta1::TOKENS,
        NextEditFormat::Zeta2 => zeta2::TOKENS,
        NextEditFormat::Zeta21 => markers::TOKENS,
        NextEditFormat::Sweep => sweep::TOKENS,
        NextEditFormat::Mercury => mercury::TOKENS,
        NextEditFormat::Instinct => instinct::TOKENS,
    }
}

fn stops(format: NextEditFormat) -> &'static [&'static str] {
    match format {
        NextEditFormat::Zeta1 => &["<|im_end|>", "<|endoftext|>"],
        NextEditFormat::Zeta2 => &[zeta2::END, markers::SENTENCE_END, "<[fim-suffix]>"],
        NextEditFormat::Zeta21 => &[markers::SENTENCE_END, "<[fim-suffix]>", "<filename>"],
        NextEditFormat::Sweep => &["<|file_sep|>", "<|endoftext|>"],
        NextEditFormat::Mercury => &[],
        NextEditFormat::Instinct => &["<|im_end|>", "<|endoftext|>"],
    }
}

/// The region once more, and some new lines in it.
fn room(window: &Window) -> TokenCount {
    TokenCount((window.region().len() / 3 + 256) as u64)
}

#[cfg(test)]
mod tests;
