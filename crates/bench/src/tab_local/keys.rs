//! Keys saved while the new text of hunks is typed.

use std::collections::HashMap;
use std::time::Duration;

use autocomplete::local::{Corpus, Local};
use autocomplete::{Part, Scene, Suggestion};
use base::Span;
use cpu_time::ThreadTime;

use super::baselines::Keywords;
use super::hunks::{Hunk, hunks};
use super::person::{Ids, Open};
use super::repository::Moment;
use crate::figure::Figure;

/// Longer new texts were pasted rather than typed; shorter ones tell nothing.
const BYTES: std::ops::RangeInclusive<usize> = 4..=600;

/// Hunks of one commit that are typed.
const MOST_HUNKS: usize = 12;

/// What was counted so far.
#[derive(Default)]
pub(super) struct Tally {
    hunks: usize,
    typed: usize,
    ours: usize,
    oracle: usize,
    nvim: usize,
    shown: usize,
    wrong: usize,
    /// Of those, the ones whose first word is wrong already.
    useless: usize,
    times: Vec<Duration>,
    heard: Vec<Duration>,
    languages: HashMap<&'static str, [usize; 3]>,
    ids: Ids,
}

impl Tally {
    /// Makes a commit, hunk by hunk.
    pub(super) fn commit(&mut self, moment: &Moment, corpus: &mut Corpus) {
        let mut local = Local::new();
        local.set_corpus(moment.view.clone());
        let mut clock = 1_000_000;
        let mut count = 0;
        for (number, file) in moment.files.iter().enumerate() {
            let mut open = Open::new(file);
            local.see(&open.scene());
            let others: Vec<&str> = moment
                .files
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != number)
                .map(|(other, it)| {
                    if other < number {
                        it.new.as_str()
                    } else {
                        it.old.as_str()
                    }
                })
                .collect();
            for hunk in hunks(&file.old, &file.new) {
                clock += 10_000;
                let is_typed = BYTES.contains(&hunk.new.len()) && count < MOST_HUNKS;
                if is_typed && hunk.new.chars().any(char::is_alphanumeric) {
                    count += 1;
                    self.hunk(&mut local, &mut open, &hunk, &others, clock);
                } else {
                    open.replace(hunk.old, &hunk.new, clock, Some(&mut local));
                }
                clock += 60_000;
            }
            self.heard.append(&mut open.heard);
            corpus.put(&file.path, &file.new);
            local.set_corpus(corpus.view());
        }
    }

    fn hunk(
        &mut self,
        local: &mut Local,
        open: &mut Open,
        hunk: &Hunk,
        others: &[&str],
        mut clock: u64,
    ) {
        if !hunk.old.is_empty() {
            open.replace(hunk.old, "", clock, Some(local));
        }
        open.caret = hunk.old.start;
        if let Some(job) = local.job(&[open.scene()]) {
            local.finish(job.run());
        }
        let mut keywords = Keywords::new(&open.buffer.snapshot().to_string(), open.caret.0, others);
        let (typed, oracle, nvim) = keywords.keys(&hunk.new);
        let mut ours = 0;
        let mut left = hunk.new.as_str();
        let mut expected: Option<String> = None;
        while !left.is_empty() {
            clock += 120;
            let taken = self.ask(local, open, left, &mut expected);
            let (taken, keys) = taken.unwrap_or_else(|| (one_key(left), 1));
            open.replace(Span::at(open.caret), &left[..taken], clock, Some(local));
            if let Some(expected) = &mut expected {
                *expected = expected.get(taken..).unwrap_or_default().to_owned();
            }
            left = &left[taken..];
            ours += keys;
        }
        self.hunks += 1;
        self.typed += typed;
        self.ours += ours;
        self.oracle += oracle;
        self.nvim += nvim;
        let name = local_name(open);
        let language = self.languages.entry(name).or_default();
        language[0] += typed;
        language[1] += ours;
        language[2] += oracle;
    }

    /// How many bytes of the text to come a suggestion brings, and for how many keys, if that saves any. `expected` is
    /// what is left of a suggestion that was shown before: what goes on with it is no new one.
    fn ask(
        &mut self,
        local: &Local,
        open: &Open,
        left: &str,
        expected: &mut Option<String>,
    ) -> Option<(usize, usize)> {
        let scene = open.scene();
        let start = ThreadTime::now();
        let suggestions = self.ids.suggest(local, &scene);
        self.times.push(start.elapsed());
        let here: Vec<Suggestion> = suggestions
            .into_iter()
            .filter(|it| is_here(it, &scene))
            .collect();
        let new = here.first()?.edits.first()?.new.to_string();
        if expected.as_ref() != Some(&new) {
            self.shown += 1;
            self.wrong += usize::from(!agrees(left, &new));
            let word = here.first()?.taking(Part::Word);
            let word = word.first().map_or("", |edit| edit.text.as_str());
            self.useless += usize::from(!agrees(left, word));
        }
        *expected = Some(new);
        let parts = [Part::All, Part::Line, Part::Word];
        let ways = here
            .iter()
            .enumerate()
            .flat_map(|(ix, it)| parts.map(|part| (ix + 1, it, part)));
        let right = ways.filter_map(|(keys, it, part)| {
            let text = it.taking(part).first()?.text.clone();
            agrees(left, &text).then_some((text.len(), keys))
        });
        let best = right.max_by_key(|(bytes, keys)| saving(left, *bytes, *keys))?;
        (saving(left, best.0, best.1) > 0).then_some(best)
    }

    /// How it stands, for who waits.
    pub(super) fn line(&self) -> String {
        format!(
            "{} hunks, {} keys typed, {} ours, {} oracle, {} nvim, {} shown, {} wrong",
            self.hunks, self.typed, self.ours, self.oracle, self.nvim, self.shown, self.wrong
        )
    }

    pub(super) fn figures(mut self) -> Vec<Figure> {
        let saved = |keys: usize| 1.0 - keys as f64 / self.typed.max(1) as f64;
        let ratio = |peer: usize| saved(self.ours) / saved(peer).max(f64::MIN_POSITIVE);
        let mut figures = vec![
            Figure::alone("keys saved, ours", saved(self.ours), "", self.hunks, None),
            Figure::alone(
                "keys saved, keyword oracle",
                saved(self.oracle),
                "",
                self.hunks,
                None,
            ),
            Figure::alone(
                "keys saved, nvim keywords",
                saved(self.nvim),
                "",
                self.hunks,
                None,
            ),
            Figure::alone(
                "keys saved, ours / keyword oracle",
                ratio(self.oracle),
                "",
                self.hunks,
                None,
            ),
            Figure::alone(
                "keys saved, ours / nvim keywords",
                ratio(self.nvim),
                "",
                self.hunks,
                None,
            )
            .at_least(1.3),
            Figure::alone(
                "shown but wrong, at the threshold in use",
                self.wrong as f64 / self.shown.max(1) as f64,
                "",
                self.shown,
                None,
            ),
            Figure::alone(
                "shown with a wrong first word",
                self.useless as f64 / self.shown.max(1) as f64,
                "",
                self.shown,
                None,
            ),
            Figure::alone(
                "threshold in use",
                f64::from(Local::new().threshold()),
                "",
                self.shown,
                None,
            ),
        ];
        figures.extend(self.by_language());
        figures.extend(self.speed());
        figures
    }

    fn by_language(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut languages: Vec<_> = self.languages.iter().collect();
        languages.sort();
        for (name, [typed, ours, oracle]) in languages {
            let saved = |keys: &usize| 1.0 - *keys as f64 / (*typed).max(1) as f64;
            figures.push(Figure::alone(
                format!("keys saved, {name}"),
                saved(ours),
                "",
                *typed,
                None,
            ));
            figures.push(Figure::alone(
                format!("keys saved, {name}, keyword oracle"),
                saved(oracle),
                "",
                *typed,
                None,
            ));
        }
        figures
    }

    fn speed(&mut self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let rows = [
            ("suggest", &mut self.times),
            ("hear of a change", &mut self.heard),
        ];
        for (what, times) in rows {
            times.sort();
            for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                let at = (times.len() as f64 * share) as usize;
                let time = times.get(at.min(times.len().saturating_sub(1)));
                let ms = time.map_or(0.0, |time| time.as_secs_f64() * 1000.0);
                let goal = (share > 0.95).then_some(5.0);
                let name = format!("{what}, CPU time, {name}");
                figures.push(Figure::alone(name, ms, "ms", times.len(), goal));
            }
        }
        figures
    }
}

/// The letters that need not be typed for some bytes that take so many keys.
fn saving(left: &str, bytes: usize, keys: usize) -> isize {
    let mut letters = 0;
    let mut at = 0;
    while at < bytes {
        at += one_key(&left[at..]).max(1);
        letters += 1;
    }
    letters - keys as isize
}

fn local_name(open: &Open) -> &'static str {
    open.scene().language.map_or("", |language| language.name())
}

fn is_here(suggestion: &Suggestion, scene: &Scene) -> bool {
    let [edit] = suggestion.edits.as_slice() else {
        return false;
    };
    suggestion.file.is_none() && edit.span == Span::at(scene.caret)
}

/// Whether a text begins with another one and does not go on in the middle of a word.
pub(super) fn agrees(left: &str, new: &str) -> bool {
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    left.strip_prefix(new)
        .is_some_and(|rest| !(new.ends_with(is_word) && rest.starts_with(is_word)))
}

/// The bytes that one key brings: a letter, or a line end with the indent that the editor adds.
pub(super) fn one_key(left: &str) -> usize {
    let first = left.chars().next().map_or(0, char::len_utf8);
    if !left.starts_with('\n') {
        return first;
    }
    let indent = left[first..]
        .chars()
        .take_while(|ch| *ch == ' ' || *ch == '\t')
        .count();
    first + indent
}
