//! A guess built token by token from the occurrences that agree with it so far.

use std::collections::HashSet;

use base::Span;

use super::features::{GuessFeatures, GuessVector, Shape, TokenFeatures, TokenVector, VoterCounts};
use super::idioms::{Idiom, IdiomContext};
use super::nearby_tokens::NearbyTokens;
use super::occurrence::{ContextOccurrence, ContextOccurrences, OccurrenceOrigin};
use super::{Guess, GuessSources, MAX_TOKENS, TokenSample, continues_with};
use crate::EditorState;
use crate::local::corpus::stream::{NEWLINE, TokenGap};
use crate::local::token::is_word_char;

/// Maximum number of words without context.
const MAX_LISTED_WORDS: usize = 12;

/// Maximum number of lines of one guess.
const MAX_LINES: usize = 6;

/// A guess is not extended below this probability.
const MIN_LIKELIHOOD: f32 = 0.08;

/// Maximum number of tokens compared at the caret: those with supporting occurrences, and further
/// words of the project with the typed prefix.
const MAX_OPTIONS: usize = 8;
const MAX_PREFIX_OPTIONS: usize = 3;

/// Maximum number of tokens compared within a guess.
const MAX_LATER_OPTIONS: usize = 2;

/// Rows on either side that a guess must not repeat, and the length up to which a row, such as a
/// closing bracket, may be repeated.
const MAX_NEIGHBOUR_ROWS: usize = 3;
const MAX_TRIVIAL_CHARS: usize = 4;

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
struct NextToken {
    text: String,
    gap: TokenGap,
    is_newline: bool,
    features: TokenVector,
    likelihood: f32,
}

/// A token with the occurrences that predict it.
struct TokenCandidate<'a> {
    text: &'a str,
    gap: TokenGap,
    is_newline: bool,
    voters: Vec<&'a ContextOccurrence<'a>>,
}

impl<'a> TokenCandidate<'a> {
    /// A token that no occurrence predicts.
    fn alone(text: &'a str, gap: TokenGap) -> Self {
        Self {
            text,
            gap,
            is_newline: matches!(gap, TokenGap::Line { .. }),
            voters: Vec::new(),
        }
    }
}

impl TokenCandidate<'_> {
    /// Returns the summed weight of the occurrences that predict it.
    fn weight(&self) -> f32 {
        self.voters.iter().map(|occurrence| occurrence.weight).sum()
    }

    /// Returns the largest number of context tokens that one of its occurrences matches; 0 without
    /// occurrences.
    fn longest(&self) -> usize {
        let lengths = self.voters.iter().map(|occurrence| occurrence.length);
        lengths.max().unwrap_or(0)
    }

    fn voter_counts(&self) -> VoterCounts {
        let mut counts = VoterCounts::default();
        for voter in &self.voters {
            *match voter.origin {
                OccurrenceOrigin::Near => &mut counts.near,
                OccurrenceOrigin::ReplacedHere => &mut counts.replaced_here,
                OccurrenceOrigin::Replaced => &mut counts.replaced,
                OccurrenceOrigin::File => &mut counts.file,
                OccurrenceOrigin::Open => &mut counts.open,
                OccurrenceOrigin::Project => &mut counts.project,
            } += 1;
        }
        counts
    }
}

impl<'a> GuessBuilder<'a> {
    pub(super) fn new(
        near: &'a NearbyTokens<'a>,
        state: &'a EditorState,
        context: &'a ContextOccurrences<'a>,
        sources: GuessSources<'a>,
    ) -> Self {
        Self {
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
        }
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
            if !self.may_end_behind(&step) || self.text.len() < MIN_BYTES {
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
            first: (self.odds.first, self.odds.first_bytes),
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
            bytes: self.text.len(),
            lines: self.lines,
            end: odds.end,
            start: odds.start,
        }
    }

    /// Returns the most probable next token; the first one is none of `tried`.
    fn step(&mut self, tried: &HashSet<String>) -> Option<NextToken> {
        let is_first = self.taken == 0;
        let mut options = self.options();
        options.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        let ix = options
            .iter()
            .position(|step| !is_first || !tried.contains(&step.text))?;
        if is_first {
            let other = options.iter().enumerate().find(|(other, _)| *other != ix);
            self.odds.other = other.map_or(0.0, |(_, other)| other.likelihood);
        }
        Some(options.swap_remove(ix))
    }

    /// Returns the next tokens predicted by the occurrences that agree so far, by weight, and by the
    /// idioms of the language; at the caret also words with the typed prefix.
    fn options(&self) -> Vec<NextToken> {
        let idioms = self.sources.idioms.followers(&self.idioms);
        let mut candidates = self.candidates(&[]);
        let mut more: Vec<TokenCandidate<'_>> = Vec::new();
        for idiom in &idioms[0] {
            let is_known = candidates.iter().any(|it| it.text == idiom.text);
            if !is_known && self.fits(idiom) {
                more.push(TokenCandidate::alone(idiom.text, idiom.gap));
            }
        }
        if self.taken == 0 {
            let words = self.context.prefixed.iter();
            let words = words.map(|(word, _)| self.sources.view.text(*word));
            let is_new = |word: &&str| candidates.iter().chain(&more).all(|it| it.text != *word);
            let words: Vec<&str> = words.filter(is_new).take(MAX_PREFIX_OPTIONS).collect();
            let words = words.into_iter();
            more.extend(words.map(|text| TokenCandidate::alone(text, TokenGap::Spaces(0))));
        }
        candidates.truncate(if self.taken == 0 {
            MAX_OPTIONS
        } else {
            MAX_LATER_OPTIONS
        });
        candidates.append(&mut more);
        let all = candidates.iter().map(TokenCandidate::weight).sum();
        (0..candidates.len())
            .map(|ix| self.next_token(&candidates, ix, (all, &idioms)))
            .collect()
    }

    /// Whether an idiom continues the typed prefix and fits the typed blanks.
    fn fits(&self, idiom: &Idiom<'_>) -> bool {
        if self.taken > 0 {
            return true;
        }
        let is_newline = matches!(idiom.gap, TokenGap::Line { .. });
        let partial = self.near.partial.as_str();
        self.near.fits_gap(idiom.gap)
            && idiom.text.starts_with(partial)
            && (partial.is_empty() || !is_newline && idiom.text.len() > partial.len())
    }

    /// Returns training samples: the options at each token of `truth`, up to the first token that
    /// is none of the options.
    pub(super) fn token_samples(mut self, truth: &str) -> Vec<TokenSample> {
        let mut samples: Vec<TokenSample> = Vec::new();
        while self.taken < MAX_TOKENS {
            let mut options = self.options();
            options.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
            let mut next = None;
            for step in options.iter().filter(|step| !self.must_end_before(step)) {
                let mut taken = self.clone();
                taken.take(step);
                let is_right = continues_with(truth, &taken.text);
                samples.push(TokenSample {
                    features: step.features,
                    depth: self.taken,
                    bytes: taken.text.len(),
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

    /// Returns the next tokens predicted by the agreeing occurrences and by `more`, by weight.
    fn candidates<'s>(&'s self, more: &'s [ContextOccurrence<'s>]) -> Vec<TokenCandidate<'s>> {
        let mut options: Vec<TokenCandidate<'_>> = Vec::new();
        for occurrence in self.occurrences.iter().copied().chain(more) {
            let Some(item) = occurrence.item(self.taken as isize) else {
                continue;
            };
            let is_newline = item.word_number() == NEWLINE;
            let text = if is_newline {
                ""
            } else {
                occurrence.rebound(item)
            };
            if text.is_empty() && !is_newline {
                continue;
            }
            // Line breaks with different indentation are different predictions.
            let is_same = |it: &&mut TokenCandidate<'_>| {
                it.text == text
                    && it.is_newline == is_newline
                    && (!is_newline || it.gap == item.gap())
            };
            match options.iter_mut().find(is_same) {
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
                    first: (step.likelihood, rest.len()),
                })
            })
            .collect();
        words.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        words.truncate(MAX_LISTED_WORDS);
        words
    }

    /// Returns how many edits ago a word was introduced, if that was recent.
    fn brought(&self, text: &str) -> Option<usize> {
        let is_word = text.starts_with(is_word_char);
        is_word.then(|| self.sources.log.brought(text)).flatten()
    }

    /// Computes the features and the probability of one candidate.
    fn next_token(
        &self,
        options: &[TokenCandidate<'_>],
        ix: usize,
        (all, idioms): (f32, &[Vec<Idiom<'_>>; 2]),
    ) -> NextToken {
        let candidate = &options[ix];
        let text = candidate.text;
        let rivals = options.iter().enumerate().filter(|(other, _)| *other != ix);
        let rivals_share = rivals
            .clone()
            .map(|(_, it)| it.weight())
            .fold(0.0, f32::max);
        let voters = &candidate.voters;
        let is_first = self.taken == 0;
        let (recent, last_seen) = self.near.recent(text);
        let (prefixed, prefix_share) = self.context.prefix_share(text, self.sources.view);
        let features = TokenFeatures {
            length: candidate.longest(),
            rival: rivals.map(|(_, it)| it.longest()).max().unwrap_or(0),
            words: voters.iter().map(|it| it.words).max().unwrap_or(0),
            farther: voters.iter().map(|it| it.farther).max().unwrap_or(0),
            share: candidate.weight() / all.max(f32::MIN_POSITIVE),
            rival_share: rivals_share / all.max(f32::MIN_POSITIVE),
            weight: all,
            voters: candidate.voter_counts(),
            distance: voters.iter().filter_map(|it| it.distance()).min(),
            partial: if is_first { self.near.partial.len() } else { 0 },
            taken: self.taken,
            options: options.len(),
            rank: ix,
            known: self.near.count(text),
            recent,
            last_seen,
            is_newline: candidate.is_newline,
            bytes: text.len(),
            shape: Shape::of(text),
            brought: self.brought(text),
            prefixed,
            prefix_share,
            prefix_rivals: self.context.prefix_rivals,
            agreeing: self.context.agreeing,
            agreeing_project: self.context.agreeing_project,
            context: self.context.longest,
            idiom: share_of(&idioms[0], text),
            short_idiom: share_of(&idioms[1], text),
            idiom_order: idioms[0].first().map_or(0, |idiom| idiom.order),
            site: self.near.site,
        }
        .vector();
        NextToken {
            text: text.to_owned(),
            gap: candidate.gap,
            is_newline: candidate.is_newline,
            likelihood: self.sources.scorer.token(&features),
            features,
        }
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
        is_word_char(last)
            || matches!(
                last,
                ')' | ']' | '}' | ';' | '{' | ':' | '?' | '"' | '\'' | '`' | ','
            ) && !step.text.starts_with("::")
                && quotes_are_even(&self.text)
    }
}

/// Returns the share of a token among idioms, from 0 to 1.
fn share_of(idioms: &[Idiom<'_>], text: &str) -> f32 {
    let idiom = idioms.iter().find(|idiom| idiom.text == text);
    idiom.map_or(0.0, |idiom| idiom.share)
}

/// Whether the last line of a guess closes the strings that it opens.
fn quotes_are_even(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    last.matches('"').count().is_multiple_of(2)
}
