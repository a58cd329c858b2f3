//! Prompt formats of next-edit models, and the parsing of their responses, as pure functions.
//!
//! Each model was trained on one exact format for the text around the caret, the recent edits and
//! other files; a deviation of one character degrades its output. Each format is described in its
//! own module.
//!
//! Invariant: no control token of the model comes from user text. In read-only text it is broken by
//! a space; if the editable text contains one, no request is made.
//! Invariant: parsing never fails: a response is edits, nothing, or unreadable.
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

use crate::SuggestedEdit;
use crate::context::{EditContext, PromptWindow, WindowLimits};

pub use guard::harmless;

/// A finished prompt for a next-edit model, with stop sequences and the bound on the response.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPrompt {
    /// Kind of request that carries the prompt.
    pub form: PromptKind,
    /// Prompt text, or the user message of a chat.
    pub text: String,
    /// Stop sequences, the most important first.
    pub stop: Vec<String>,
    /// Maximum length of the response.
    pub max_output: TokenCount,
}

/// Kind of request that carries a prompt: raw text, a dedicated edit endpoint, or a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// Raw text for the model to continue.
    Raw,
    /// Message to a dedicated edit endpoint.
    Edit,
    /// First user message of a chat, after a system prompt.
    Chat {
        /// Text of the system prompt.
        system: String,
        /// The response if nothing is to be changed, as a prediction.
        prediction: String,
    },
}

/// Parsed response of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedResponse {
    /// Edits in byte offsets of the text that the window was taken from; sorted, never touching.
    Edits(Vec<SuggestedEdit>),
    /// The model proposes no change.
    Nothing,
    /// The response does not follow the model's format.
    Unreadable,
}

/// Returns the window size and editable part that a model of this format expects.
pub fn frame(format: NextEditFormat) -> WindowLimits {
    match format {
        NextEditFormat::Zeta1 => WindowLimits::Tokens {
            editable: 150,
            around: 350,
        },
        NextEditFormat::Zeta2 => WindowLimits::Tokens {
            editable: 180,
            around: 350,
        },
        NextEditFormat::Zeta21 => WindowLimits::Tokens {
            editable: 350,
            around: 350,
        },
        NextEditFormat::Sweep => WindowLimits::Rows {
            above: 10,
            below: 10,
            around: 0,
        },
        NextEditFormat::Mercury => WindowLimits::Rows {
            above: 5,
            below: 10,
            around: 10,
        },
        NextEditFormat::Instinct => WindowLimits::Rows {
            above: 1,
            below: 5,
            around: 20,
        },
    }
}

/// Builds the prompt for a model; `None` if the editable text contains one of its control tokens or
/// is too long.
pub fn prompt(format: NextEditFormat, context: &EditContext) -> Option<ModelPrompt> {
    let tokens = control_tokens(format);
    let window = &context.window;
    if window.is_too_long() || guard::holds(window.region(), tokens) {
        return None;
    }
    let safe = guard::guarded(context, tokens);
    let (form, text) = match format {
        NextEditFormat::Zeta1 => (PromptKind::Raw, zeta1::prompt(&safe)),
        NextEditFormat::Zeta2 => (PromptKind::Raw, zeta2::prompt(&safe)),
        NextEditFormat::Zeta21 => (PromptKind::Raw, markers::prompt(&safe)),
        NextEditFormat::Sweep => (PromptKind::Raw, sweep::prompt(&safe)),
        NextEditFormat::Mercury => (PromptKind::Edit, mercury::prompt(&safe)),
        NextEditFormat::Instinct => {
            let system = instinct::SYSTEM.to_owned();
            let prediction = window.region().to_owned();
            let chat = PromptKind::Chat { system, prediction };
            (chat, instinct::prompt(&safe))
        }
    };
    Some(ModelPrompt {
        form,
        text,
        stop: stops(format).iter().map(|it| (*it).to_owned()).collect(),
        max_output: output_limit(&context.window),
    })
}

/// Parses the response `answer` of a model for a window, up to the first stop sequence, into edits
/// of the window's text.
pub fn read(format: NextEditFormat, window: &PromptWindow, answer: &str) -> ParsedResponse {
    let answer = stops(format)
        .iter()
        .filter_map(|stop| answer.find(stop))
        .min()
        .map_or(answer, |end| &answer[..end]);
    let region = match format {
        NextEditFormat::Zeta1 | NextEditFormat::Instinct => zeta1::read(answer),
        NextEditFormat::Zeta2 => zeta2::read(answer),
        NextEditFormat::Zeta21 => return from(window, markers::read(window.region(), answer)),
        NextEditFormat::Sweep => RegionResponse::Region(answer.to_owned()),
        NextEditFormat::Mercury => mercury::read(answer),
    };
    from(window, region)
}

/// Response as parsed by one format.
enum RegionResponse {
    /// The rewritten editable part.
    Region(String),
    Nothing,
    Unreadable,
}

fn from(window: &PromptWindow, answer: RegionResponse) -> ParsedResponse {
    match answer {
        RegionResponse::Region(region) => {
            let edits = edits(window, &region);
            if edits.is_empty() {
                ParsedResponse::Nothing
            } else {
                ParsedResponse::Edits(edits)
            }
        }
        RegionResponse::Nothing => ParsedResponse::Nothing,
        RegionResponse::Unreadable => ParsedResponse::Unreadable,
    }
}

/// Diffs a region with its rewritten version and returns one edit per hunk of rows.
fn edits(window: &PromptWindow, region: &str) -> Vec<SuggestedEdit> {
    let old = window.region();
    // Models are careless about the final line feed and about carriage returns.
    let mut new = if old.contains("\r\n") && !region.contains("\r\n") {
        region.replace('\n', "\r\n")
    } else {
        region.to_owned()
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
        SuggestedEdit {
            span: base::Span::new(start + range.start, start + range.end),
            old: old[range].into(),
            new: new.into(),
        }
        .trimmed()
    });
    placed.filter(|edit| !edit.is_empty()).collect()
}

/// Returns the control tokens of a format, which must not occur in text shown to the model.
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

/// Limit of the response: the region once more, and some new lines.
fn output_limit(window: &PromptWindow) -> TokenCount {
    TokenCount((window.region().len() / 3 + 256) as u64)
}

#[cfg(test)]
mod tests;
