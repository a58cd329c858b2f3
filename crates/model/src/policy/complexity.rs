//! Estimates the difficulty of a step from its words and context, without asking a model.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Tier;

/// Estimated difficulty of a step, from 0 (for example, writing a title) to 100 (a plan across the
/// whole project). `tier` maps it to the model strength that suffices.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Complexity(pub u8);

/// Description of a step that needs a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepDescription<'a> {
    /// The latest message of the user or the harness.
    pub prompt: &'a str,
    /// Purpose of the step.
    pub purpose: StepPurpose,
    /// Number of files that the step may touch, if the index can tell.
    pub files_touched: u32,
    /// Number of lines changed so far.
    pub diff_lines: u32,
    /// Nesting depth of the step in the plan.
    pub plan_depth: u32,
    /// Fill level of the context in percent.
    pub context_fill: u8,
    /// Number of times the turn has stalled: repeated or failing calls.
    pub stalls: u32,
}

/// Purpose of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepPurpose {
    /// Decide what to do.
    Plan,
    /// Carry out the work.
    #[default]
    Work,
    /// Write a title, a summary or a commit message.
    Summary,
}

/// Inputs of the complexity score, kept to explain the score. The last field lists the points for
/// the observations in the other fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComplexityFeatures {
    /// Purpose of the step.
    pub purpose: StepPurpose,
    /// Number of words in the prompt.
    pub words: u32,
    /// Words in the prompt that indicate hard work, sorted.
    pub hard_words: Vec<String>,
    /// Words in the prompt that indicate easy work, sorted.
    pub easy_words: Vec<String>,
    /// Number of paths in the prompt.
    pub files_mentioned: u32,
    /// Number of identifiers in the prompt, such as functions and types.
    pub symbols_mentioned: u32,
    /// Whether the prompt contains an error message or a stack trace.
    pub has_trace: bool,
    /// Copied from the step's description.
    pub files_touched: u32,
    /// Copied from the step's description.
    pub diff_lines: u32,
    /// Copied from the step's description.
    pub plan_depth: u32,
    /// Copied from the step's description.
    pub context_fill: u8,
    /// Copied from the step's description.
    pub stalls: u32,
    /// Points that each feature added or subtracted; features without effect are omitted.
    pub points: Vec<(String, i32)>,
}

const HARD: &[&str] = &[
    "algorithm",
    "architect",
    "architecture",
    "asynchronous",
    "codebase",
    "concurrency",
    "concurrent",
    "deadlock",
    "debug",
    "design",
    "diagnose",
    "entire",
    "everywhere",
    "flaky",
    "investigate",
    "invariant",
    "leak",
    "migrate",
    "migration",
    "optimise",
    "optimize",
    "parallel",
    "performance",
    "plan",
    "protocol",
    "prove",
    "race",
    "redesign",
    "refactor",
    "restructure",
    "rewrite",
    "root",
    "scale",
    "security",
    "strategy",
    "throughout",
    "tradeoff",
    "why",
];

const EASY: &[&str] = &[
    "bump",
    "capitalise",
    "capitalize",
    "comment",
    "delete",
    "docstring",
    "format",
    "import",
    "indent",
    "list",
    "log",
    "print",
    "remove",
    "rename",
    "show",
    "sort",
    "spelling",
    "summarise",
    "summarize",
    "title",
    "translate",
    "typo",
    "uppercase",
    "version",
    "whitespace",
];

const TRACES: &[&str] = &[
    "traceback (most recent call last)",
    "stack trace",
    "stack backtrace",
    "panicked at",
    "error[e",
    "error:",
    "exception in",
    "segmentation fault",
    "assertion failed",
    "undefined reference",
    "fatal:",
    "at line ",
];

/// Only both ends of the prompt are analysed, in bytes, so that a pasted log costs no time.
const MAX_HEAD_LEN: usize = 8 << 10;
const MAX_TAIL_LEN: usize = 2 << 10;

/// Upper bound of the length of a word form in the lexicon, in bytes.
const MAX_WORD_LEN: usize = 17;

/// Scores a step. Deterministic, and well under a millisecond for prompts of any length. Returns
/// the score and the observations that led to it.
pub fn complexity(task: &StepDescription<'_>) -> (Complexity, ComplexityFeatures) {
    let mut features = extract_features(task);
    let purpose = match task.purpose {
        StepPurpose::Plan => 35,
        StepPurpose::Work => 0,
        StepPurpose::Summary => -60,
    };
    let up_to = |count: u32, each: i32, most: i32| {
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        count.saturating_mul(each).min(most)
    };
    let count = |words: &[String]| words.len() as u32;
    let points = [
        ("any step", 25),
        ("purpose", purpose),
        ("hard words", up_to(count(&features.hard_words), 12, 36)),
        ("easy words", -up_to(count(&features.easy_words), 10, 20)),
        ("length", up_to(features.words / 40, 1, 10)),
        ("files mentioned", up_to(features.files_mentioned, 4, 16)),
        ("symbols mentioned", up_to(features.symbols_mentioned, 1, 6)),
        ("error or trace", if features.has_trace { 12 } else { 0 }),
        ("files touched", up_to(features.files_touched, 2, 16)),
        ("size of the change", up_to(features.diff_lines / 25, 1, 12)),
        ("depth of the plan", up_to(features.plan_depth, 4, 12)),
        (
            "context fill",
            up_to(u32::from(features.context_fill.min(100)) / 10, 1, 10),
        ),
        ("stalls", up_to(features.stalls, 20, 40)),
    ];
    let points = points.into_iter().filter(|(_, points)| *points != 0);
    features.points = points
        .map(|(name, points)| (name.to_owned(), points))
        .collect();
    let sum: i32 = features.points.iter().map(|(_, points)| points).sum();
    (Complexity(sum.clamp(0, 100) as u8), features)
}

impl Complexity {
    /// Returns the lowest tier that suffices.
    pub fn tier(self) -> Tier {
        match self.0 {
            0..=9 => Tier::Small,
            10..=39 => Tier::Fast,
            40..=59 => Tier::Standard,
            _ => Tier::Strong,
        }
    }
}

fn extract_features(task: &StepDescription<'_>) -> ComplexityFeatures {
    let mut features = ComplexityFeatures {
        purpose: task.purpose,
        files_touched: task.files_touched,
        diff_lines: task.diff_lines,
        plan_depth: task.plan_depth,
        context_fill: task.context_fill,
        stalls: task.stalls,
        ..ComplexityFeatures::default()
    };
    let (mut hard, mut easy) = (BTreeSet::new(), BTreeSet::new());
    let (head, tail) = ends(task.prompt);
    for part in [head, tail] {
        for word in part.split_whitespace() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '/');
            if word.is_empty() {
                continue;
            }
            features.words += 1;
            features.files_mentioned += u32::from(is_path(word));
            features.symbols_mentioned += u32::from(is_symbol(word));
            let mut buffer = [0; MAX_WORD_LEN];
            if let Some(lower) = lower(word, &mut buffer) {
                hard.extend(find(HARD, lower));
                easy.extend(find(EASY, lower));
            }
        }
        let lower = part.to_ascii_lowercase();
        features.has_trace |= TRACES.iter().any(|trace| lower.contains(trace));
    }
    features.hard_words = hard.into_iter().map(str::to_owned).collect();
    features.easy_words = easy.into_iter().map(str::to_owned).collect();
    features
}

/// Returns the start and the end of a long text, cut at char boundaries; the end is empty for a
/// short text.
fn ends(text: &str) -> (&str, &str) {
    if text.len() <= MAX_HEAD_LEN + MAX_TAIL_LEN {
        return (text, "");
    }
    (
        &text[..text.floor_char_boundary(MAX_HEAD_LEN)],
        &text[text.ceil_char_boundary(text.len() - MAX_TAIL_LEN)..],
    )
}

/// Returns the word in lower case; `None` if it is longer than `MAX_WORD_LEN` bytes or has other
/// characters than ASCII letters.
fn lower<'a>(word: &str, buffer: &'a mut [u8; MAX_WORD_LEN]) -> Option<&'a str> {
    let lower = buffer.get_mut(..word.len())?;
    if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    std::str::from_utf8(lower).ok()
}

/// Finds the lexicon word that equals `word` or its base form (without -s, -ed, -ing or -er).
fn find(lexicon: &[&'static str], word: &str) -> Option<&'static str> {
    let forms = ["", "s", "es", "d", "ed", "ing", "er"];
    let first = word.bytes().next();
    let near = lexicon.iter().copied();
    let mut near = near.filter(|stem| stem.bytes().next() == first);
    near.find(|stem| {
        let rest = word.strip_prefix(stem);
        rest.is_some_and(|rest| forms.contains(&rest))
            || stem
                .strip_suffix('e')
                .and_then(|stem| word.strip_prefix(stem))
                == Some("ing")
    })
}

/// Returns whether a word looks like a file path: a name with an extension of up to five characters
/// or, without a dot, a text with a slash. A web address does not.
fn is_path(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else {
        return word.contains('/') && word.len() > 3 && !word.contains("//");
    };
    let is_extension = (1..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && extension.starts_with(|c: char| c.is_ascii_lowercase());
    is_extension && !stem.is_empty() && !stem.contains("://")
}

/// Returns whether a word looks like an identifier: it is in snake_case, has an inner capital and a
/// small letter, or contains `::`.
fn is_symbol(word: &str) -> bool {
    let is_snake = word.contains('_') && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let inner_capital = word.chars().skip(1).any(char::is_uppercase);
    let is_camel = inner_capital && word.chars().any(char::is_lowercase);
    is_snake || is_camel || word.contains("::")
}

#[cfg(test)]
mod tests;
