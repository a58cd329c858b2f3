//! Keystrokes saved while the new text of hunks is typed.

use std::collections::HashMap;
use std::time::Duration;

use autocomplete::SuggestionSource;
use autocomplete::local::{Corpus, LocalPredictor};
use base::Span;
use cpu_time::ThreadTime;

use super::baselines::Keywords;
use super::caret_suggestions::{Asking, CaretSuggestions, TypingCounts, type_with};
use super::hunks::{Hunk, hunks};
use super::local_tier::{LocalTier, OpenFile};
use super::repository::Moment;
use super::typing::one_key;
use crate::figure::Figure;

/// Sizes of new texts that are typed, in bytes: longer ones were pasted, shorter ones are not informative.
const BYTES: std::ops::RangeInclusive<usize> = 4..=600;

/// Maximum number of hunks of one commit that are typed.
pub(super) const MOST_HUNKS: usize = 12;

/// Thresholds for which figures are given.
const THRESHOLDS: [f32; 8] = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7];

/// Counts so far.
#[derive(Default)]
pub(super) struct Tally {
    hunks: usize,
    typed: usize,
    /// At the learned threshold.
    ours: TypingCounts,
    /// At the learned threshold, with explicit requests.
    asked: TypingCounts,
    /// At the learned threshold, with the command that completes words.
    written: TypingCounts,
    /// At each of `THRESHOLDS`; the second with the command that completes words.
    curve: [TypingCounts; THRESHOLDS.len()],
    written_curve: [TypingCounts; THRESHOLDS.len()],
    oracle: usize,
    nvim: usize,
    times: Vec<Duration>,
    asking: Vec<Duration>,
    heard: Vec<Duration>,
    languages: HashMap<&'static str, [usize; 3]>,
}

impl Tally {
    /// Replays a commit hunk by hunk.
    pub(super) fn commit(&mut self, moment: &Moment, corpus: &mut Corpus) {
        let mut tier = LocalTier::new(moment.view.clone());
        let mut clock = 1_000_000;
        let mut count = 0;
        for (number, file) in moment.files.iter().enumerate() {
            let mut open = OpenFile::new(file);
            tier.local.note_tree(&open.state());
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
                if is_typed(&hunk) && count < MOST_HUNKS {
                    count += 1;
                    self.hunk(&mut tier, &mut open, &hunk, &others, clock);
                } else {
                    open.replace(hunk.old, &hunk.new, clock, &mut tier);
                }
                clock += 60_000;
            }
            self.heard.append(&mut open.heard);
            corpus.insert(&file.path, &file.new);
            tier.local.set_corpus(corpus.view());
        }
    }

    fn hunk(
        &mut self,
        tier: &mut LocalTier,
        open: &mut OpenFile,
        hunk: &Hunk,
        others: &[&str],
        mut clock: u64,
    ) {
        if !hunk.old.is_empty() {
            open.replace(hunk.old, "", clock, tier);
        }
        open.caret = hunk.old.start;
        if let Some(task) = tier.local.background_task(&[open.state()]) {
            tier.local.finish(task.run());
        }
        let mut keywords = Keywords::new(&open.buffer.snapshot().to_string(), open.caret.0, others);
        let (typed, oracle, nvim) = keywords.keys(&hunk.new);
        let mut left = hunk.new.as_str();
        let mut said: Vec<Option<CaretSuggestions>> = Vec::new();
        said.resize_with(left.len(), || None);
        while !left.is_empty() {
            clock += 120;
            let state = open.state();
            let start = ThreadTime::now();
            let suggestions = tier.all_suggestions(&state);
            self.times.push(start.elapsed());
            let start = ThreadTime::now();
            let asked = tier.requested_suggestions(&state);
            self.asking.push(start.elapsed());
            let words = tier.word_suggestions(&state);
            let all = CaretSuggestions::at(&state, &suggestions, &asked, &words);
            said[hunk.new.len() - left.len()] = Some(all);
            let key = one_key(left);
            open.replace(Span::at(open.caret), &left[..key], clock, tier);
            left = &left[key..];
        }
        let type_at = |threshold, asking| type_with(&hunk.new, &said, threshold, asking);
        let ours = type_at(
            tier.local.threshold(&SuggestionSource::Continuation),
            Asking::Never,
        );
        for (sum, threshold) in self.curve.iter_mut().zip(THRESHOLDS) {
            sum.add(type_at(threshold, Asking::Never));
        }
        for (sum, threshold) in self.written_curve.iter_mut().zip(THRESHOLDS) {
            sum.add(type_at(threshold, Asking::ForWords));
        }
        self.asked.add(type_at(
            tier.local.threshold(&SuggestionSource::Continuation),
            Asking::WhereItPays,
        ));
        self.written.add(type_at(
            tier.local.threshold(&SuggestionSource::Continuation),
            Asking::ForWords,
        ));
        self.hunks += 1;
        self.typed += typed;
        self.ours.add(ours);
        self.oracle += oracle;
        self.nvim += nvim;
        let name = local_name(open);
        let language = self.languages.entry(name).or_default();
        language[0] += typed;
        language[1] += ours.keys;
        language[2] += oracle;
    }

    /// Returns the counts so far, for the progress output.
    pub(super) fn line(&self) -> String {
        format!(
            "{} hunks, {} keys typed, {} ours, {} oracle, {} nvim, {} shown, {} wrong",
            self.hunks,
            self.typed,
            self.ours.keys,
            self.oracle,
            self.nvim,
            self.ours.shown,
            self.ours.wrong
        )
    }

    pub(super) fn figures(mut self) -> Vec<Figure> {
        let saved = |keys: usize| 1.0 - keys as f64 / self.typed.max(1) as f64;
        let beside = |keys: usize, peer: usize| saved(keys) / saved(peer).max(f64::MIN_POSITIVE);
        let share = |part: usize, typed: &TypingCounts| part as f64 / typed.shown.max(1) as f64;
        let ours = &self.ours;
        let of_hunks = |name: &str, value: f64| Figure::alone(name, value, "", self.hunks, None);
        let of_shown = |name: &str, value: f64| Figure::alone(name, value, "", ours.shown, None);
        let mut figures = vec![
            of_hunks("keys saved, ours", saved(ours.keys)),
            of_hunks("keys saved, keyword oracle", saved(self.oracle)),
            of_hunks("keys saved, nvim keywords", saved(self.nvim)),
            of_hunks(
                "keys saved, ours / keyword oracle",
                beside(ours.keys, self.oracle),
            ),
            of_hunks(
                "keys saved, ours / nvim keywords",
                beside(ours.keys, self.nvim),
            )
            .at_least(1.3),
            of_shown(
                "shown but wrong, at the threshold in use",
                share(ours.wrong, ours),
            ),
            of_shown("shown with a wrong first word", share(ours.useless, ours)),
            of_shown(
                "threshold in use",
                f64::from(LocalPredictor::new().threshold(&SuggestionSource::Continuation)),
            ),
            of_hunks(
                "keys saved, ours with asking by hand / nvim keywords",
                beside(self.asked.keys, self.nvim),
            ),
            of_hunks(
                "keys saved, ours with a key that writes words / nvim keywords",
                beside(self.written.keys, self.nvim),
            )
            .at_least(1.3),
        ];
        let curves = self.curve.iter().zip(&self.written_curve);
        for ((typed, written), threshold) in curves.zip(THRESHOLDS) {
            let name = |what: &str| format!("at threshold {threshold:.2}, {what}");
            let (ratio, wrong) = (beside(typed.keys, self.nvim), share(typed.wrong, typed));
            figures.push(of_hunks(&name("ours / nvim keywords"), ratio));
            figures.push(of_hunks(
                &name("with a key that writes words"),
                beside(written.keys, self.nvim),
            ));
            figures.push(Figure::alone(
                name("shown but wrong"),
                wrong,
                "",
                typed.shown,
                None,
            ));
        }
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
            ("suggest, asked by hand", &mut self.asking),
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

fn local_name(open: &OpenFile) -> &'static str {
    open.state().language.map_or("", |language| language.name())
}

/// Whether the new text of a hunk is typed.
pub(super) fn is_typed(hunk: &Hunk) -> bool {
    BYTES.contains(&hunk.new.len()) && hunk.new.chars().any(char::is_alphanumeric)
}
