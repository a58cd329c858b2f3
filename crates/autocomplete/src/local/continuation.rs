//! Continuation: predicts text from similar contexts, in this file or elsewhere in the project.
//!
//! Must not know: trees, files. The occurrences with the longest common context vote for one token
//! after the other, and the continuation ends where its expected benefit is greatest.
//! Invariant: the work is bounded by constants, not by the text or the project.

mod guess;
mod nearby_tokens;
mod occurrence;
mod token_window;
mod weights;

use std::collections::HashSet;

use base::{AbsPath, Span};

use super::corpus::CorpusView;
use super::corpus::stream::{NEWLINE, TokenGap};
use super::log::EditLog;
use crate::EditorState;
use guess::{TokenClass, TokenFeatures, likelihood};
use nearby_tokens::NearbyTokens;
use occurrence::{ContextOccurrence, occurrences, spelled};
pub(crate) use token_window::TokenWindow;

/// A possible continuation of the text at the caret, found in similar code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guess {
    /// Span that it replaces; empty, since the typed prefix of a word stays.
    pub(crate) span: Span,
    pub(crate) new: String,
    /// Probability that all of it is right, from 0 to 1.
    pub(crate) likelihood: f32,
    /// Number of tokens before the caret that match the best occurrence.
    pub(crate) context: usize,
}

/// Selects which words with the typed prefix to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuessMode {
    /// Only words that the context before the caret supports.
    Likely,
    /// All such words around the caret and in open files, for an explicit request.
    Words,
}

/// Maximum number of words without context.
const MAX_LISTED_WORDS: usize = 12;

/// Maximum number of tokens and lines of one guess.
const MAX_TOKENS: usize = 60;
const MAX_LINES: usize = 6;

/// A guess is not extended below this probability.
const MIN_LIKELIHOOD: f32 = 0.12;

/// Cost of reading a wrong guess, in keystrokes. A higher value ends doubtful guesses earlier. On
/// the repositories used for fitting, keystrokes saved and accuracy improved up to this value and
/// changed little beyond it.
const LOOK: f32 = 50.0;

/// Maximum number of tokens compared at the caret.
const MAX_OPTIONS: usize = 6;

/// Maximum number of guesses at one caret.
const MAX_GUESSES: usize = 4;

/// Rows on either side that a guess must not repeat, and the length up to which a row, such as a
/// closing bracket, may be repeated.
const MAX_NEIGHBOUR_ROWS: usize = 3;
const MAX_TRIVIAL_CHARS: usize = 4;

/// Shortest useful guess, in bytes.
const MIN_BYTES: usize = 2;

/// Returns the continuations at the caret that similar code suggests, the most useful first. Code
/// of this file and of the files in `open` weighs more; words without supporting context are
/// included only if `wanted` is `GuessMode::Words`.
pub(crate) fn guesses(
    state: &EditorState,
    window: &mut TokenWindow,
    view: &CorpusView,
    open: &HashSet<AbsPath>,
    log: &EditLog,
    wanted: GuessMode,
) -> Vec<Guess> {
    let Some(near) = NearbyTokens::new(state, window) else {
        return Vec::new();
    };
    let occurrences = occurrences(&near, view, state.path.as_ref(), open);
    let mut guesses: Vec<Guess> = Vec::new();
    let mut tried = HashSet::new();
    for _ in 0..MAX_GUESSES {
        let walk = GuessBuilder::new(&near, state, &occurrences, log);
        let Some((first, guess)) = walk.guess(&tried) else {
            break;
        };
        tried.insert(first);
        guesses.extend(guess);
    }
    guesses.sort_by(|a, b| b.worth().total_cmp(&a.worth()));
    if wanted == GuessMode::Words {
        let spelled = spelled(&near, view, state.path.as_ref(), open);
        let walk = GuessBuilder::new(&near, state, &occurrences, log);
        guesses.extend(walk.word_guesses(&spelled, &tried));
    }
    guesses
}

/// A training sample for the weights of `guess`: the features of a predicted token, and whether it
/// was right.
#[derive(Clone, Debug)]
pub struct VoteSample {
    /// Features of the token before it was predicted.
    pub features: [f32; guess::FEATURES],
    /// Text of the token.
    pub token: String,
    /// Number of tokens before it in the guess.
    pub depth: usize,
    /// Length of the guess including it, in bytes.
    pub bytes: usize,
    /// Whether the text continued with the token.
    pub is_right: bool,
}

/// Returns the predictions for the tokens after the caret, up to the first prediction that
/// disagrees with `truth`.
pub(crate) fn votes(
    state: &EditorState,
    window: &mut TokenWindow,
    view: &CorpusView,
    log: &EditLog,
    truth: &str,
) -> Vec<VoteSample> {
    let Some(near) = NearbyTokens::new(state, window) else {
        return Vec::new();
    };
    let occurrences = occurrences(&near, view, state.path.as_ref(), &HashSet::new());
    let mut walk = GuessBuilder::new(&near, state, &occurrences, log);
    let mut votes: Vec<VoteSample> = Vec::new();
    while walk.taken < MAX_TOKENS {
        let mut options = walk.options();
        options.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        let mut next = None;
        for step in options.iter().filter(|step| !walk.must_end_before(step)) {
            let mut taken = walk.clone();
            taken.likelihood *= step.likelihood;
            taken.take(step);
            let is_right = goes_on_with(truth, &taken.text);
            votes.push(VoteSample {
                features: step.features.features(),
                token: step.text.clone(),
                depth: walk.taken,
                bytes: taken.text.len(),
                is_right,
            });
            next = next.or(is_right.then_some(taken));
        }
        match next {
            Some(taken) => walk = taken,
            None => break,
        }
    }
    votes
}

/// Whether `truth` begins with `text` and does not continue in the middle of a word.
fn goes_on_with(truth: &str, text: &str) -> bool {
    let is_word = super::token::is_word_char;
    truth
        .strip_prefix(text)
        .is_some_and(|rest| !(text.ends_with(is_word) && rest.starts_with(is_word)))
}

impl Guess {
    /// Expected keystrokes saved, less the cost of reading a wrong guess.
    fn worth(&self) -> f32 {
        self.likelihood * self.new.len() as f32 - LOOK * (1.0 - self.likelihood)
    }
}

/// A guess under construction.
#[derive(Clone)]
struct GuessBuilder<'a> {
    near: &'a NearbyTokens<'a>,
    state: &'a EditorState,
    log: &'a EditLog,
    /// Occurrences that agree with the guess so far, with their weights.
    occurrences: Vec<&'a ContextOccurrence<'a>>,
    taken: usize,
    text: String,
    likelihood: f32,
    lines: usize,
    /// Indentation of the current line, in steps relative to the caret's row.
    steps: i32,
    brackets: Vec<char>,
    context: usize,
}

/// A token that may come next, with its probability.
struct NextToken {
    text: String,
    gap: TokenGap,
    is_newline: bool,
    features: TokenFeatures,
    likelihood: f32,
}

/// A token with the occurrences that predict it.
struct TokenCandidate<'a> {
    text: &'a str,
    gap: TokenGap,
    is_newline: bool,
    voters: Vec<&'a ContextOccurrence<'a>>,
}

impl TokenCandidate<'_> {
    /// Returns the summed weight of the occurrences that predict it.
    fn weight(&self) -> f32 {
        self.voters.iter().map(|occurrence| occurrence.weight).sum()
    }

    /// Returns the largest number of context tokens that one of its occurrences matches; 0 without
    /// occurrences.
    fn longest(&self) -> usize {
        self.voters
            .iter()
            .map(|occurrence| occurrence.length)
            .max()
            .unwrap_or(0)
    }
}

impl<'a> GuessBuilder<'a> {
    fn new(
        near: &'a NearbyTokens<'a>,
        state: &'a EditorState,
        occurrences: &'a [ContextOccurrence<'a>],
        log: &'a EditLog,
    ) -> Self {
        Self {
            near,
            state,
            log,
            occurrences: occurrences.iter().collect(),
            taken: 0,
            text: String::new(),
            likelihood: 1.0,
            lines: 1,
            steps: 0,
            brackets: Vec::new(),
            context: occurrences
                .iter()
                .map(|occurrence| occurrence.length)
                .max()
                .unwrap_or(0),
        }
    }

    /// Returns the most useful guess and the token it begins with; no guess if that token is not
    /// worth suggesting.
    fn guess(mut self, tried: &HashSet<String>) -> Option<(String, Option<Guess>)> {
        let mut first = None;
        let mut best: Option<Guess> = None;
        while self.taken < MAX_TOKENS {
            let passed = if self.taken == 0 {
                tried
            } else {
                &HashSet::new()
            };
            let Some(step) = self.step(passed) else {
                break;
            };
            if self.must_end_before(&step) {
                first.get_or_insert(step.text);
                break;
            }
            self.likelihood *= step.likelihood;
            self.take(&step);
            first.get_or_insert(step.text.clone());
            if self.likelihood < MIN_LIKELIHOOD {
                break;
            }
            let guess = self.as_guess();
            if self.repeats_a_neighbour() {
                // Completing the typed word alone may still be right.
                best = best.filter(|best| best.new.chars().all(super::token::is_word_char));
                break;
            }
            let is_better = best
                .as_ref()
                .is_none_or(|best| guess.worth() > best.worth());
            if self.may_end_behind(&step) && is_better && guess.new.len() >= MIN_BYTES {
                best = Some(guess);
            }
        }
        first.map(|first| (first, best))
    }

    fn as_guess(&self) -> Guess {
        Guess {
            span: Span::at(self.state.caret),
            new: self.text.clone(),
            likelihood: self.likelihood,
            context: self.context,
        }
    }

    /// Returns the most probable next token that is not in `passed`.
    fn step(&self, passed: &HashSet<String>) -> Option<NextToken> {
        let options = self.options().into_iter();
        options
            .filter(|step| self.taken > 0 || !passed.contains(&step.text))
            .max_by(|a, b| a.likelihood.total_cmp(&b.likelihood))
    }

    /// Returns the next tokens predicted by the occurrences that agree so far, by weight.
    fn options(&self) -> Vec<NextToken> {
        let options = self.candidates(&[]);
        let most = if self.taken == 0 { MAX_OPTIONS } else { 2 };
        let all = options.iter().map(TokenCandidate::weight).sum();
        (0..options.len().min(most))
            .map(|ix| self.next_token(&options, ix, all))
            .collect()
    }

    /// Returns the next tokens predicted by the agreeing occurrences and by `more`, by weight.
    fn candidates<'s>(&'s self, more: &'s [ContextOccurrence<'s>]) -> Vec<TokenCandidate<'s>> {
        let mut options: Vec<TokenCandidate<'_>> = Vec::new();
        for occurrence in self.occurrences.iter().copied().chain(more) {
            let Some(item) = occurrence.item(self.taken as isize) else {
                continue;
            };
            let is_newline = item.word_number() == NEWLINE;
            let text = occurrence.rebound(item);
            if text.is_empty() && !is_newline {
                continue;
            }
            match options.iter_mut().find(|it| it.text == text) {
                Some(option) => option.voters.push(occurrence),
                None => options.push(TokenCandidate {
                    text,
                    gap: item.gap(),
                    is_newline,
                    voters: vec![occurrence],
                }),
            }
        }
        options.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
        options
    }

    /// Returns words that continue the typed prefix and are not in `tried`, the likeliest first.
    fn word_guesses(
        &self,
        spelled: &[ContextOccurrence<'_>],
        tried: &HashSet<String>,
    ) -> Vec<Guess> {
        let options = self.candidates(spelled);
        let all = options.iter().map(TokenCandidate::weight).sum();
        let is_word = |option: &TokenCandidate<'_>| {
            option.text.starts_with(super::token::is_word_char) && !tried.contains(option.text)
        };
        let steps = (0..options.len())
            .filter(|ix| is_word(&options[*ix]))
            .map(|ix| self.next_token(&options, ix, all));
        let mut words: Vec<Guess> = steps
            .filter_map(|step| {
                let rest = step.text.strip_prefix(self.near.partial.as_str())?;
                (rest.len() >= MIN_BYTES).then(|| Guess {
                    span: Span::at(self.state.caret),
                    new: rest.to_owned(),
                    likelihood: step.likelihood,
                    context: self.context,
                })
            })
            .collect();
        words.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        words.truncate(MAX_LISTED_WORDS);
        words
    }

    /// Computes the features and the probability of one candidate.
    fn next_token(&self, options: &[TokenCandidate<'_>], ix: usize, all: f32) -> NextToken {
        let TokenCandidate {
            text,
            gap,
            is_newline,
            voters,
        } = &options[ix];
        let rivals = options.iter().enumerate().filter(|(other, _)| *other != ix);
        let rivals_share = rivals
            .clone()
            .map(|(_, it)| it.weight())
            .fold(0.0, f32::max);
        let features = TokenFeatures {
            length: options[ix].longest(),
            rival: rivals.map(|(_, it)| it.longest()).max().unwrap_or(0),
            words: voters.iter().map(|it| it.words).max().unwrap_or(0),
            farther: voters.iter().map(|it| it.farther).max().unwrap_or(0),
            share: options[ix].weight() / all.max(f32::MIN_POSITIVE),
            voters: voters.len(),
            is_near: voters.iter().any(|it| it.is_near()),
            is_here: voters.iter().any(|it| it.is_here),
            distance: voters.iter().filter_map(|it| it.distance()).min(),
            partial: if self.taken == 0 {
                self.near.partial.len()
            } else {
                0
            },
            taken: self.taken,
            is_word: text.starts_with(super::token::is_word_char),
            known: self.near.count(text),
            is_newline: *is_newline,
            bytes: text.len(),
            class: TokenClass::of(text),
            rival_share: rivals_share / all.max(f32::MIN_POSITIVE),
            brought: self.log.brought(text),
            so_far: self.likelihood,
            site: self.near.site,
        };
        NextToken {
            text: (*text).to_owned(),
            gap: *gap,
            is_newline: *is_newline,
            likelihood: likelihood(&features),
            features,
        }
    }

    /// Appends a token and drops the occurrences that do not agree with it.
    fn take(&mut self, step: &NextToken) {
        if step.is_newline {
            self.write_newline(step.gap);
        } else if self.taken == 0 {
            let gap = match step.gap {
                TokenGap::Spaces(count) if !self.near.has_blank && !self.near.site.is_row_start => {
                    count
                }
                _ => 0,
            };
            if self.near.partial.is_empty() {
                self.text.extend(std::iter::repeat_n(' ', gap));
            }
            self.text
                .push_str(step.text.get(self.near.partial.len()..).unwrap_or_default());
        } else {
            if let TokenGap::Spaces(count) = step.gap
                && !self.text.ends_with('\n')
                && !self.is_line_start()
            {
                self.text.extend(std::iter::repeat_n(' ', count));
            }
            self.text.push_str(&step.text);
        }
        for ch in step.text.chars().filter(|_| !step.is_newline) {
            match ch {
                '(' | '[' | '{' => self.brackets.push(ch),
                ')' | ']' | '}' => {
                    self.brackets.pop();
                }
                _ => {}
            }
        }
        let taken = self.taken as isize;
        self.occurrences.retain(|occurrence| {
            occurrence.item(taken).is_some_and(|item| {
                if step.is_newline {
                    item.word_number() == NEWLINE && item.gap() == step.gap
                } else {
                    item.word_number() != NEWLINE && occurrence.rebound(item) == step.text
                }
            })
        });
        self.taken += 1;
    }

    fn write_newline(&mut self, gap: TokenGap) {
        let TokenGap::Line { steps, is_blank } = gap else {
            return;
        };
        self.steps += steps;
        self.lines += 1;
        let ending = self.near.ending;
        self.text.push_str(ending);
        if is_blank {
            self.text.push_str(ending);
        }
        self.text.push_str(&self.indent());
    }

    /// Returns the indentation of the caret's row, changed by the steps of the guess.
    fn indent(&self) -> String {
        let text = &self.state.snapshot;
        let row = text.point_at(self.state.caret).row;
        let row = text.row_text(row);
        let own = &row[..row.len() - row.trim_start().len()];
        match usize::try_from(self.steps) {
            Ok(more) => format!("{own}{}", self.state.indent.repeat(more)),
            Err(_) => {
                let less = self.steps.unsigned_abs() as usize * self.state.indent.len();
                own.get(..own.len().saturating_sub(less))
                    .unwrap_or_default()
                    .to_owned()
            }
        }
    }

    /// Whether the completed row would repeat one of the neighbouring rows.
    fn repeats_a_neighbour(&self) -> bool {
        let text = &self.state.snapshot;
        let row = text.point_at(self.state.caret).row;
        let head = text.text(Span::new(text.row_start(row), self.state.caret));
        let first = self.text.lines().next().unwrap_or_default();
        let line = format!("{head}{first}");
        let line = line.trim();
        let is_line = |row: base::Row| text.row_text(row).trim() == line;
        let before = (0..row.0).rev().map(base::Row).take(MAX_NEIGHBOUR_ROWS);
        let behind = (row.0 + 1..=text.last_row().0)
            .map(base::Row)
            .take(MAX_NEIGHBOUR_ROWS);
        line.len() > MAX_TRIVIAL_CHARS && before.chain(behind).any(is_line)
    }

    /// Whether the guess ends in a row that it began itself and that is blank so far. `false` in
    /// the caret's row.
    fn is_line_start(&self) -> bool {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        self.text.contains('\n') && line.trim().is_empty()
    }

    /// Whether a token must be wrong here.
    fn must_end_before(&self, step: &NextToken) -> bool {
        if step.gap == TokenGap::Odd {
            return true;
        }
        if step.is_newline {
            let TokenGap::Line { steps, .. } = step.gap else {
                return true;
            };
            // Dedenting below the caret's line would close a block that the guess has not opened.
            return self.lines >= MAX_LINES
                || !self.near.rest.trim().is_empty()
                || self.steps + steps < 0
                || self.text.trim().is_empty() && self.near.site.is_row_start;
        }
        let is_closer = matches!(
            step.text.as_str(),
            ")" | "]" | "}" | "\"" | "'" | "`" | ";" | ","
        );
        let closes_more = matches!(step.text.as_str(), ")" | "]" | "}") && self.brackets.is_empty();
        // Closing text that already follows the caret is not written again.
        is_closer
            && self.near.rest_starts_with(&step.text)
            && (closes_more || self.brackets.is_empty())
            || closes_more && !self.near.rest.trim().is_empty()
    }

    /// Whether a guess may end with this token, which must not require a continuation.
    fn may_end_behind(&self, step: &NextToken) -> bool {
        if step.is_newline || self.brackets.iter().any(|open| *open != '{') {
            return false;
        }
        let last = step.text.chars().next_back().unwrap_or(' ');
        super::token::is_word_char(last)
            || matches!(
                last,
                ')' | ']' | '}' | ';' | '{' | ':' | '?' | '"' | '\'' | '`' | ','
            ) && !step.text.starts_with("::")
                && quotes_are_even(&self.text)
    }
}

/// Whether the last line of a guess closes the strings that it opens.
fn quotes_are_even(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    last.matches('"').count().is_multiple_of(2)
}

#[cfg(test)]
mod tests;
