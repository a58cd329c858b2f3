//! The tokens that may come next in a guess, with their features and probabilities.

use super::{GuessBuilder, NextToken};
use crate::local::continuation::features::{Shape, TokenFeatures, VoterCounts};
use crate::local::continuation::idioms::Idiom;
use crate::local::continuation::occurrence::{ContextOccurrence, OccurrenceOrigin};
use crate::local::corpus::stream::{NEWLINE, TokenGap};
use crate::local::token::is_word_char;

/// Maximum number of tokens compared at the caret: those with supporting occurrences, and further
/// words of the project with the typed prefix.
const MAX_OPTIONS: usize = 8;
const MAX_PREFIX_OPTIONS: usize = 3;

/// Maximum number of tokens compared within a guess.
const MAX_LATER_OPTIONS: usize = 2;

/// A token with the occurrences that predict it.
pub(super) struct TokenCandidate<'a> {
    pub(super) text: &'a str,
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
    pub(super) fn weight(&self) -> f32 {
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

impl GuessBuilder<'_> {
    /// Returns the next tokens predicted by the occurrences that agree so far and by the idioms of
    /// the language, at the caret also words with the typed prefix; the likeliest first.
    pub(super) fn options(&self) -> Vec<NextToken> {
        let idioms = self.sources.idioms.followers(&self.idioms);
        let mut candidates = self.candidates(&[]);
        let mut more: Vec<TokenCandidate<'_>> = Vec::new();
        for idiom in &idioms[0] {
            let is_known = candidates.iter().any(|it| idiom.is(it.text, it.gap));
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
        let tokens = 0..candidates.len();
        let mut tokens: Vec<NextToken> = tokens
            .map(|ix| self.next_token(&candidates, ix, (all, &idioms)))
            .collect();
        tokens.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        tokens
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

    /// Returns the next tokens predicted by the agreeing occurrences and by `more`, by weight.
    pub(super) fn candidates<'s>(
        &'s self,
        more: &'s [ContextOccurrence<'s>],
    ) -> Vec<TokenCandidate<'s>> {
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

    /// Returns how many edits ago a word was introduced, if that was recent.
    fn brought(&self, text: &str) -> Option<usize> {
        let is_word = text.starts_with(is_word_char);
        is_word.then(|| self.sources.log.brought(text)).flatten()
    }

    /// Computes the features and the probability of one candidate.
    pub(super) fn next_token(
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
            idiom: share_of(&idioms[0], candidate),
            short_idiom: share_of(&idioms[1], candidate),
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
}

/// Returns the share of a token among idioms, from 0 to 1.
fn share_of(idioms: &[Idiom<'_>], token: &TokenCandidate<'_>) -> f32 {
    let mut idioms = idioms.iter();
    let idiom = idioms.find(|idiom| idiom.is(token.text, token.gap));
    idiom.map_or(0.0, |idiom| idiom.share)
}
