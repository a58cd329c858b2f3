//! Continuation: what followed the like of the text before the caret, here or elsewhere in the project.
//!
//! Must not know: trees, files. Places with the longest context in common are found near the caret and in the corpus;
//! they vote for one token after the other, and the text ends where it is worth most: long, and still likely.
//! Invariant: the work is bounded by constants, not by the text or the project.

mod guess;
mod near;
mod trail;
mod weights;

use std::collections::HashSet;

use base::{AbsPath, Span};

use super::corpus::CorpusView;
use super::corpus::stream::{Gap, NEWLINE};
use super::log::EditLog;
use crate::Scene;
use guess::{Class, Told, likelihood};
use near::Near;
use trail::{Trail, spelled, trails};

/// A text that may come next at the caret.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guess {
    /// What it replaces: the beginning of the word that is typed is left as it is, so this is empty.
    pub(crate) span: Span,
    pub(crate) new: String,
    /// How likely all of it is right, from 0 to 1.
    pub(crate) likelihood: f32,
    /// How many tokens before the caret agreed with the best place.
    pub(crate) context: usize,
}

/// What is wanted of words that begin as what is typed does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Only those that something before the caret speaks for.
    Likely,
    /// All that stand around the caret and in open files, for who goes through them.
    Words,
}

/// Words alone that are listed.
const MOST_LISTED: usize = 12;

/// Tokens in one guess, and lines.
const MOST_TOKENS: usize = 60;
const MOST_LINES: usize = 6;

/// A guess is not made longer once it is less likely than this.
const LEAST_LIKELIHOOD: f32 = 0.12;

/// The keys that reading a wrong guess costs. The more, the sooner a guess ends where it is in doubt. On the repositories
/// that weights are fitted on, more keys were saved and fewer guesses wrong up to this, and little changed behind it.
const LOOK: f32 = 50.0;

/// Tokens that are weighed against each other at the caret.
const MOST_OPTIONS: usize = 6;

/// Guesses at one caret.
const MOST_GUESSES: usize = 4;

/// Rows on either side that a guess must not repeat, unless they are as short as a closing bracket with its signs.
const MOST_NEIGHBOURS: usize = 3;
const MOST_TRIVIAL: usize = 4;

/// Shorter guesses than this many bytes are no help.
const LEAST_BYTES: usize = 2;

/// What may come next at the caret, the most useful first; of words alone only those that are likely, unless all are
/// `wanted`.
pub(crate) fn guesses(
    scene: &Scene,
    view: &CorpusView,
    open: &HashSet<AbsPath>,
    log: &EditLog,
    wanted: Wanted,
) -> Vec<Guess> {
    let Some(near) = Near::new(scene) else {
        return Vec::new();
    };
    let trails = trails(&near, view, scene.path.as_ref(), open);
    let mut guesses: Vec<Guess> = Vec::new();
    let mut tried = HashSet::new();
    for _ in 0..MOST_GUESSES {
        let walk = Walk::new(&near, scene, &trails, log);
        let Some((first, guess)) = walk.guess(&tried) else {
            break;
        };
        tried.insert(first);
        guesses.extend(guess);
    }
    guesses.sort_by(|a, b| b.worth().total_cmp(&a.worth()));
    if wanted == Wanted::Words {
        let spelled = spelled(&near, view, scene.path.as_ref(), open);
        let walk = Walk::new(&near, scene, &trails, log);
        guesses.extend(walk.words(&spelled, &tried));
    }
    guesses
}

/// What was known of a token that places foretold, and whether it came: material to fit the weights of `guess` on.
#[derive(Clone, Debug)]
pub struct Vote {
    /// What was known of the token before it was guessed.
    pub features: [f32; guess::FEATURES],
    /// The token.
    pub token: String,
    /// How many tokens stand before it in the guess.
    pub depth: usize,
    /// How long the guess is with it, in bytes.
    pub bytes: usize,
    /// Whether the text went on so.
    pub is_right: bool,
}

/// What the places say about the tokens behind the caret, as long as `truth` agrees.
pub(crate) fn votes(scene: &Scene, view: &CorpusView, log: &EditLog, truth: &str) -> Vec<Vote> {
    let Some(near) = Near::new(scene) else {
        return Vec::new();
    };
    let trails = trails(&near, view, scene.path.as_ref(), &HashSet::new());
    let mut walk = Walk::new(&near, scene, &trails, log);
    let mut votes: Vec<Vote> = Vec::new();
    while walk.taken < MOST_TOKENS {
        let mut options = walk.options();
        options.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        let mut next = None;
        for step in options.iter().filter(|step| !walk.must_end_before(step)) {
            let mut taken = walk.clone();
            taken.likelihood *= step.likelihood;
            taken.take(step);
            let is_right = goes_on_with(truth, &taken.text);
            votes.push(Vote {
                features: step.told.features(),
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

/// Whether a text begins with another one and does not go on in the middle of a word.
fn goes_on_with(truth: &str, text: &str) -> bool {
    let is_word = super::token::is_word_char;
    truth
        .strip_prefix(text)
        .is_some_and(|rest| !(text.ends_with(is_word) && rest.starts_with(is_word)))
}

impl Guess {
    /// The keys it may be expected to save, less what looking at it costs where it is wrong.
    fn worth(&self) -> f32 {
        self.likelihood * self.new.len() as f32 - LOOK * (1.0 - self.likelihood)
    }
}

/// A guess as it grows.
#[derive(Clone)]
struct Walk<'a> {
    near: &'a Near,
    scene: &'a Scene,
    log: &'a EditLog,
    /// Places that have agreed so far, with their weights.
    trails: Vec<&'a Trail<'a>>,
    taken: usize,
    text: String,
    likelihood: f32,
    lines: usize,
    /// The indent of the line that is written, in steps more than the caret's.
    steps: i32,
    brackets: Vec<char>,
    context: usize,
}

/// The token that most places say comes next.
struct Step {
    text: String,
    gap: Gap,
    is_newline: bool,
    told: Told,
    likelihood: f32,
}

/// A token with the places that say it comes next.
struct Candidate<'a> {
    text: &'a str,
    gap: Gap,
    is_newline: bool,
    voters: Vec<&'a Trail<'a>>,
}

impl Candidate<'_> {
    fn weight(&self) -> f32 {
        self.voters.iter().map(|trail| trail.weight).sum()
    }

    fn longest(&self) -> usize {
        self.voters
            .iter()
            .map(|trail| trail.length)
            .max()
            .unwrap_or(0)
    }
}

impl<'a> Walk<'a> {
    fn new(near: &'a Near, scene: &'a Scene, trails: &'a [Trail<'a>], log: &'a EditLog) -> Self {
        Self {
            near,
            scene,
            log,
            trails: trails.iter().collect(),
            taken: 0,
            text: String::new(),
            likelihood: 1.0,
            lines: 1,
            steps: 0,
            brackets: Vec::new(),
            context: trails.iter().map(|trail| trail.length).max().unwrap_or(0),
        }
    }

    /// The guess that is worth most, and the token that it began with; no guess where that token is worth nothing.
    fn guess(mut self, tried: &HashSet<String>) -> Option<(String, Option<Guess>)> {
        let mut first = None;
        let mut best: Option<Guess> = None;
        while self.taken < MOST_TOKENS {
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
            if self.likelihood < LEAST_LIKELIHOOD {
                break;
            }
            let guess = self.as_guess();
            if self.repeats_a_neighbour() {
                // The word that is typed may still be the right one.
                best = best.filter(|best| best.new.chars().all(super::token::is_word_char));
                break;
            }
            let is_better = best
                .as_ref()
                .is_none_or(|best| guess.worth() > best.worth());
            if self.may_end_behind(&step) && is_better && guess.new.len() >= LEAST_BYTES {
                best = Some(guess);
            }
        }
        first.map(|first| (first, best))
    }

    fn as_guess(&self) -> Guess {
        Guess {
            span: Span::at(self.scene.caret),
            new: self.text.clone(),
            likelihood: self.likelihood,
            context: self.context,
        }
    }

    /// The token that most likely comes next, those in `passed` left out.
    fn step(&self, passed: &HashSet<String>) -> Option<Step> {
        let options = self.options().into_iter();
        options
            .filter(|step| self.taken > 0 || !passed.contains(&step.text))
            .max_by(|a, b| a.likelihood.total_cmp(&b.likelihood))
    }

    /// The tokens that may come next: what those say who have agreed so far, by their weight.
    fn options(&self) -> Vec<Step> {
        let options = self.candidates(&[]);
        let most = if self.taken == 0 { MOST_OPTIONS } else { 2 };
        let all = options.iter().map(Candidate::weight).sum();
        (0..options.len().min(most))
            .map(|ix| self.told(&options, ix, all))
            .collect()
    }

    /// What those who have agreed so far, and `more`, say comes next, by their weight.
    fn candidates<'s>(&'s self, more: &'s [Trail<'s>]) -> Vec<Candidate<'s>> {
        let mut options: Vec<Candidate<'_>> = Vec::new();
        for trail in self.trails.iter().copied().chain(more) {
            let Some(item) = trail.item(self.taken as isize) else {
                continue;
            };
            let is_newline = item.word() == NEWLINE;
            let text = trail.rebound(item);
            if text.is_empty() && !is_newline {
                continue;
            }
            match options.iter_mut().find(|it| it.text == text) {
                Some(option) => option.voters.push(trail),
                None => options.push(Candidate {
                    text,
                    gap: item.gap(),
                    is_newline,
                    voters: vec![trail],
                }),
            }
        }
        options.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
        options
    }

    /// Words that go on with what is typed and were not `tried`, the likeliest first.
    fn words(&self, spelled: &[Trail<'_>], tried: &HashSet<String>) -> Vec<Guess> {
        let options = self.candidates(spelled);
        let all = options.iter().map(Candidate::weight).sum();
        let is_word = |option: &Candidate<'_>| {
            option.text.starts_with(super::token::is_word_char) && !tried.contains(option.text)
        };
        let steps = (0..options.len())
            .filter(|ix| is_word(&options[*ix]))
            .map(|ix| self.told(&options, ix, all));
        let mut words: Vec<Guess> = steps
            .filter_map(|step| {
                let rest = step.text.strip_prefix(self.near.partial.as_str())?;
                (rest.len() >= LEAST_BYTES).then(|| Guess {
                    span: Span::at(self.scene.caret),
                    new: rest.to_owned(),
                    likelihood: step.likelihood,
                    context: self.context,
                })
            })
            .collect();
        words.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        words.truncate(MOST_LISTED);
        words
    }

    /// One of the options with what is known of it.
    fn told(&self, options: &[Candidate<'_>], ix: usize, all: f32) -> Step {
        let Candidate {
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
        let told = Told {
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
            class: Class::of(text),
            rival_share: rivals_share / all.max(f32::MIN_POSITIVE),
            brought: self.log.brought(text),
            so_far: self.likelihood,
            site: self.near.site,
        };
        Step {
            text: (*text).to_owned(),
            gap: *gap,
            is_newline: *is_newline,
            likelihood: likelihood(&told),
            told,
        }
    }

    /// Writes a token down and leaves out who does not agree with it.
    fn take(&mut self, step: &Step) {
        if step.is_newline {
            self.write_newline(step.gap);
        } else if self.taken == 0 {
            let gap = match step.gap {
                Gap::Spaces(count) if !self.near.has_blank && !self.near.site.is_row_start => count,
                _ => 0,
            };
            if self.near.partial.is_empty() {
                self.text.extend(std::iter::repeat_n(' ', gap));
            }
            self.text
                .push_str(step.text.get(self.near.partial.len()..).unwrap_or_default());
        } else {
            if let Gap::Spaces(count) = step.gap
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
        self.trails.retain(|trail| {
            trail.item(taken).is_some_and(|item| match step.is_newline {
                true => item.word() == NEWLINE && item.gap() == step.gap,
                false => item.word() != NEWLINE && trail.rebound(item) == step.text,
            })
        });
        self.taken += 1;
    }

    fn write_newline(&mut self, gap: Gap) {
        let Gap::Line { steps, is_blank } = gap else {
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

    /// The indent of the caret's row with as many steps more as the guess has taken.
    fn indent(&self) -> String {
        let text = &self.scene.snapshot;
        let row = text.point_at(self.scene.caret).row;
        let row = text.row_text(row);
        let own = &row[..row.len() - row.trim_start().len()];
        match usize::try_from(self.steps) {
            Ok(more) => format!("{own}{}", self.scene.indent.repeat(more)),
            Err(_) => {
                let less = self.steps.unsigned_abs() as usize * self.scene.indent.len();
                own.get(..own.len().saturating_sub(less))
                    .unwrap_or_default()
                    .to_owned()
            }
        }
    }

    /// Whether the caret's row, as it would be, is one that stands right before or behind it.
    fn repeats_a_neighbour(&self) -> bool {
        let text = &self.scene.snapshot;
        let row = text.point_at(self.scene.caret).row;
        let head = text.text(Span::new(text.row_start(row), self.scene.caret));
        let first = self.text.lines().next().unwrap_or_default();
        let line = format!("{head}{first}");
        let line = line.trim();
        let is_line = |row: base::Row| text.row_text(row).trim() == line;
        let before = (0..row.0).rev().map(base::Row).take(MOST_NEIGHBOURS);
        let behind = (row.0 + 1..=text.last_row().0)
            .map(base::Row)
            .take(MOST_NEIGHBOURS);
        line.len() > MOST_TRIVIAL && before.chain(behind).any(is_line)
    }

    fn is_line_start(&self) -> bool {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        self.text.contains('\n') && line.trim().is_empty()
    }

    /// Whether a token can only be wrong here.
    fn must_end_before(&self, step: &Step) -> bool {
        if step.gap == Gap::Odd {
            return true;
        }
        if step.is_newline {
            let Gap::Line { steps, .. } = step.gap else {
                return true;
            };
            // What dedents below the caret's line closes something that the guess has not opened.
            return self.lines >= MOST_LINES
                || !self.near.rest.trim().is_empty()
                || self.steps + steps < 0
                || self.text.trim().is_empty() && self.near.site.is_row_start;
        }
        let is_closer = matches!(
            step.text.as_str(),
            ")" | "]" | "}" | "\"" | "'" | "`" | ";" | ","
        );
        let closes_more = matches!(step.text.as_str(), ")" | "]" | "}") && self.brackets.is_empty();
        // What stands behind the caret already is not written again.
        is_closer
            && self.near.rest_starts_with(&step.text)
            && (closes_more || self.brackets.is_empty())
            || closes_more && !self.near.rest.trim().is_empty()
    }

    /// Whether a guess may end with this token: not with what asks for more.
    fn may_end_behind(&self, step: &Step) -> bool {
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

/// Whether a guess closes the strings that it opens.
fn quotes_are_even(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    last.matches('"').count().is_multiple_of(2)
}

#[cfg(test)]
mod tests;
