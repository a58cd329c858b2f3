//! A guess built token by token from the occurrences that agree with it so far.

mod ends;
mod options;

use std::collections::HashSet;
use std::rc::Rc;

use base::Span;
use options::TokenCandidate;

use super::features::{GuessFeatures, GuessVector, Shape, TokenVector};
use super::idioms::IdiomContext;
use super::nearby_tokens::NearbyTokens;
use super::occurrence::{ContextOccurrence, ContextOccurrences};
use super::{Guess, GuessSources, GuessStart, MAX_TOKENS, TokenSample, continues_with};
use crate::EditorState;
use crate::local::corpus::stream::{NEWLINE, TokenGap};
use crate::local::line_ending::lf_len;
use crate::local::token::is_word_char;

/// Maximum number of words without context.
const MAX_LISTED_WORDS: usize = 12;

/// A guess is not extended below this probability.
const MIN_LIKELIHOOD: f32 = 0.08;

/// Shortest useful guess, in bytes.
const MIN_BYTES: usize = 2;

/// A guess under construction.
#[derive(Clone)]
pub(super) struct GuessBuilder<'a> {
    near: &'a NearbyTokens<'a>,
    state: &'a EditorState,
    sources: GuessSources<'a>,
    context: &'a ContextOccurrences<'a>,
    /// Occurrences that agree with the guess so far, with their weights.
    occurrences: Vec<&'a ContextOccurrence<'a>>,
    taken: usize,
    words: usize,
    text: String,
    odds: GuessOdds,
    lines: usize,
    /// Indentation of the current line, in steps relative to the caret's row.
    steps: i32,
    brackets: Vec<char>,
    /// Tokens up to the end of the guess.
    idioms: IdiomContext,
    /// The tokens that may come at the caret, the likeliest first; all guesses begin with one of
    /// them.
    first: Rc<[NextToken]>,
}

/// Probabilities of the tokens of a guess.
#[derive(Clone, Copy)]
struct GuessOdds {
    product: f32,
    least: f32,
    first: f32,
    last: f32,
    /// Of the likeliest other first token.
    other: f32,
    /// Bytes and features of the first token.
    first_bytes: usize,
    start: TokenVector,
    end: Shape,
}

/// A token that may come next, with its probability.
#[derive(Clone)]
struct NextToken {
    text: String,
    gap: TokenGap,
    is_newline: bool,
    features: TokenVector,
    likelihood: f32,
}

impl<'a> GuessBuilder<'a> {
    pub(super) fn new(
        near: &'a NearbyTokens<'a>,
        state: &'a EditorState,
        context: &'a ContextOccurrences<'a>,
        sources: GuessSources<'a>,
    ) -> Self {
        let mut builder = Self {
            near,
            state,
            sources,
            context,
            occurrences: context.list.iter().collect(),
            taken: 0,
            words: 0,
            text: String::new(),
            odds: GuessOdds {
                product: 1.0,
                least: 1.0,
                first: 1.0,
                last: 1.0,
                other: 0.0,
                first_bytes: 0,
                start: [0; super::TOKEN_FEATURES],
                end: Shape::Newline,
            },
            lines: 1,
            steps: 0,
            brackets: Vec::new(),
            idioms: near.idiom_context(),
            first: Rc::from([]),
        };
        builder.first = builder.options().into();
        builder
    }

    /// Returns the most useful guess and the token it begins with; no guess if that token is not
    /// worth suggesting. The first token is none of `tried`.
    pub(super) fn guess(self, tried: &HashSet<String>) -> Option<(String, Option<Guess>)> {
        self.guess_with(tried, &mut |_, _| {})
    }

    /// Like `guess`, and passes the features and the text at each length to `each`.
    pub(super) fn guess_with(
        mut self,
        tried: &HashSet<String>,
        each: &mut dyn FnMut(&GuessVector, &str),
    ) -> Option<(String, Option<Guess>)> {
        let look = self.sources.scorer.look();
        let mut first = None;
        let mut best: Option<Guess> = None;
        while self.taken < MAX_TOKENS {
            let Some(step) = self.step(tried) else {
                break;
            };
            first.get_or_insert_with(|| step.text.clone());
            if self.must_end_before(&step) {
                break;
            }
            self.take(&step);
            if self.odds.product < MIN_LIKELIHOOD {
                break;
            }
            if self.repeats_a_neighbour() {
                // Completing the typed word alone may still be right.
                best = best.filter(|best| best.new.chars().all(is_word_char));
                break;
            }
            if !self.may_end_behind(&step) || lf_len(&self.text) < MIN_BYTES {
                continue;
            }
            let features = self.guess_features().vector();
            each(&features, &self.text);
            let guess = self.as_guess(&features);
            let is_better = best
                .as_ref()
                .is_none_or(|best| guess.benefit(look) > best.benefit(look));
            if is_better {
                best = Some(guess);
            }
        }
        first.map(|first| (first, best))
    }

    fn as_guess(&self, features: &GuessVector) -> Guess {
        Guess {
            span: Span::at(self.state.caret),
            new: self.text.clone(),
            likelihood: self.sources.scorer.guess(features),
            first: GuessStart {
                likelihood: self.odds.first,
                bytes: self.odds.first_bytes,
                distance: None,
            },
        }
    }

    fn guess_features(&self) -> GuessFeatures {
        let odds = &self.odds;
        GuessFeatures {
            product: odds.product,
            least: odds.least,
            first: odds.first,
            last: odds.last,
            other: odds.other,
            tokens: self.taken,
            words: self.words,
            bytes: lf_len(&self.text),
            lines: self.lines,
            end: odds.end,
            start: odds.start,
        }
    }

    /// Returns the most probable next token; the first one is none of `tried`.
    fn step(&mut self, tried: &HashSet<String>) -> Option<NextToken> {
        if self.taken > 0 {
            return self.options().into_iter().next();
        }
        let is_new = |step: &NextToken| !tried.contains(&step.text);
        let ix = self.first.iter().position(is_new)?;
        let other = self.first.get(usize::from(ix == 0));
        self.odds.other = other.map_or(0.0, |other| other.likelihood);
        self.first.get(ix).cloned()
    }

    /// Returns training samples: the options at each token of `truth`, up to the first token that
    /// is none of the options.
    pub(super) fn token_samples(mut self, truth: &str) -> Vec<TokenSample> {
        let mut samples: Vec<TokenSample> = Vec::new();
        while self.taken < MAX_TOKENS {
            let options = self.options();
            let mut next = None;
            for step in options.iter().filter(|step| !self.must_end_before(step)) {
                let mut taken = self.clone();
                taken.take(step);
                let is_right = continues_with(truth, &taken.text);
                samples.push(TokenSample {
                    features: step.features,
                    depth: self.taken,
                    bytes: lf_len(&taken.text),
                    is_right,
                });
                next = next.or(is_right.then_some(taken));
            }
            match next {
                Some(taken) => self = taken,
                None => break,
            }
        }
        samples
    }

    /// Returns words that continue the typed prefix and are not in `tried`, the likeliest first.
    pub(super) fn word_guesses(
        &self,
        spelled: &[ContextOccurrence<'_>],
        tried: &HashSet<String>,
    ) -> Vec<Guess> {
        let options = self.candidates(spelled);
        let idioms = self.sources.idioms.followers(&self.idioms);
        let all = options.iter().map(TokenCandidate::weight).sum();
        let is_word = |option: &TokenCandidate<'_>| {
            option.text.starts_with(is_word_char) && !tried.contains(option.text)
        };
        let steps = (0..options.len())
            .filter(|ix| is_word(&options[*ix]))
            .map(|ix| self.next_token(&options, ix, (all, &idioms)));
        let mut words: Vec<Guess> = steps
            .filter_map(|step| {
                let rest = step.text.strip_prefix(self.near.partial.as_str())?;
                (rest.len() >= MIN_BYTES).then(|| Guess {
                    span: Span::at(self.state.caret),
                    new: rest.to_owned(),
                    likelihood: step.likelihood,
                    first: GuessStart {
                        likelihood: step.likelihood,
                        bytes: rest.len(),
                        distance: self.near.nearest(&step.text),
                    },
                })
            })
            .collect();
        words.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        words.truncate(MAX_LISTED_WORDS);
        words
    }

    /// Appends a token and drops the occurrences that do not agree with it.
    fn take(&mut self, step: &NextToken) {
        self.count(step);
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

    /// Adds the probability of a token.
    fn count(&mut self, step: &NextToken) {
        let odds = &mut self.odds;
        odds.product *= step.likelihood;
        odds.least = odds.least.min(step.likelihood);
        odds.last = step.likelihood;
        odds.end = Shape::of(&step.text);
        if self.taken == 0 {
            odds.first = step.likelihood;
            odds.first_bytes = step.text.len().saturating_sub(self.near.partial.len());
            odds.start = step.features;
        }
        self.words += usize::from(step.text.starts_with(is_word_char));
        self.idioms
            .push(if step.is_newline { "\n" } else { &step.text });
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

    /// Whether the guess ends in a row that it began itself and that is blank so far. `false` in
    /// the caret's row.
    fn is_line_start(&self) -> bool {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        self.text.contains('\n') && line.trim().is_empty()
    }
}
