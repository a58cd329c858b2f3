//! Right text that the checks of suggestions refuse.
//!
//! A model that is always right is asked at every caret at which the new text of the hunks is typed: for the rest of the
//! word, of the line and of the hunk. Its response goes to `validate::check`, which knows the deletion of the hunk and
//! the text typed since then; once with the names of the text when the caret's row was begun, once without.
//!
//! `BURIN_BENCH_MISSES` prints the first response of each hunk that is refused, by extent and reason.

use std::collections::{BTreeMap, BTreeSet};

use autocomplete::ChangeCause;
use base::Span;

use super::asker::{Asker, Names, at_caret, each_typed_hunk};
use super::hunks::Hunk;
use super::local_tier::OpenFile;
use super::typing::one_key;
use crate::figure::Figure;
use replay::ChangedFile;

/// Maximum share of right responses that may be refused.
const MAX_REFUSED: f64 = 0.01;

/// How much of the text the response contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    Word,
    Line,
    Hunk,
}

/// Counts of responses.
#[derive(Default)]
struct Counts {
    asked: usize,
    refused: usize,
    reasons: BTreeMap<String, usize>,
    /// Responses and refused ones by language.
    languages: BTreeMap<&'static str, (usize, usize)>,
}

/// Counts of all responses so far.
pub(super) struct Tally {
    hunks: usize,
    /// All carets, and those at which the model was asked.
    passed: usize,
    carets: usize,
    counts: BTreeMap<(Extent, Names), Counts>,
    /// Number of carets of which the model is asked at one.
    step: usize,
    prints_misses: bool,
}

impl Tally {
    /// Creates a tally that asks the model at every `step`th caret.
    pub(super) fn new(step: usize) -> Self {
        Self {
            hunks: 0,
            passed: 0,
            carets: 0,
            counts: BTreeMap::new(),
            step,
            prints_misses: std::env::var_os("BURIN_BENCH_MISSES").is_some(),
        }
    }

    /// Types the hunks of a commit.
    pub(super) fn commit(&mut self, files: &[ChangedFile]) {
        each_typed_hunk(files, |asker, open, hunk| self.hunk(asker, open, hunk));
    }

    fn hunk(&mut self, asker: &mut Asker, open: &mut OpenFile, hunk: &Hunk) {
        self.hunks += 1;
        open.caret = hunk.old.start;
        if !hunk.old.is_empty() {
            asker.replace(open, hunk.old, "", ChangeCause::Typed);
        }
        asker.read_names(open);
        let mut printed = BTreeSet::new();
        let mut left = hunk.new.as_str();
        while !left.is_empty() {
            self.passed += 1;
            if self.passed.is_multiple_of(self.step) {
                self.carets += 1;
                self.ask(asker, open, left, &mut printed);
            }
            let (caret, key) = (Span::at(open.caret), &left[..one_key(left)]);
            asker.replace(open, caret, key, ChangeCause::Typed);
            if key.starts_with('\n') {
                asker.read_names(open);
            }
            left = &left[key.len()..];
        }
    }

    /// Asks for the text that is left of a hunk.
    fn ask(
        &mut self,
        asker: &Asker,
        open: &OpenFile,
        left: &str,
        printed: &mut BTreeSet<(Extent, String)>,
    ) {
        let language = open.state().language.map_or("", |language| language.name());
        let mut last: Option<(&str, [Option<String>; 2])> = None;
        for extent in [Extent::Word, Extent::Line, Extent::Hunk] {
            let text = extent.of(left);
            if text.trim().is_empty() {
                continue;
            }
            let refusals = match last.take() {
                Some((known, same)) if known == text => same,
                _ => ask_about(asker, open, text),
            };
            for (names, refusal) in [Names::Known, Names::Unknown].into_iter().zip(&refusals) {
                let counts = self.counts.entry((extent, names)).or_default();
                counts.add(language, refusal.as_deref());
            }
            if let Some(reason) = &refusals[0]
                && self.prints_misses
                && printed.insert((extent, reason.clone()))
            {
                print_miss(open, language, (extent, reason), text);
            }
            last = Some((text, refusals));
        }
    }

    /// Returns the number of responses and of refused ones.
    #[cfg(test)]
    pub(super) fn count(&self, extent: Extent, names: Names) -> (usize, usize) {
        let counts = self.counts.get(&(extent, names));
        counts.map_or((0, 0), |counts| (counts.asked, counts.refused))
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![
            Figure::alone("probe, hunks", self.hunks as f64, "", self.hunks, None),
            Figure::alone("probe, carets", self.carets as f64, "", self.carets, None),
        ];
        for ((extent, names), counts) in &self.counts {
            let label = format!("right {} refused, {}", extent.name(), names.name());
            figures.extend(counts.figures(&label));
        }
        figures
    }
}

/// Returns the reasons for refusing a text at the caret, with names known and unknown.
fn ask_about(asker: &Asker, open: &OpenFile, text: &str) -> [Option<String>; 2] {
    let suggestion = at_caret(open, text);
    let known = asker.refusal(open, &suggestion, Names::Known);
    // Names only add refusals for an unknown one.
    let unknown = if known.as_deref() == Some("UnknownName") {
        asker.refusal(open, &suggestion, Names::Unknown)
    } else {
        known.clone()
    };
    [known, unknown]
}

fn print_miss(open: &OpenFile, language: &str, (extent, reason): (Extent, &str), text: &str) {
    let snapshot = open.buffer.snapshot();
    let row = snapshot.point_at(open.caret).row;
    let before = snapshot.text(Span::new(snapshot.row_start(row), open.caret));
    let behind = snapshot.text(Span::new(open.caret, snapshot.row_end(row)));
    println!("miss: {language}, {extent:?}, {reason}: {before:?} | {text:?} | {behind:?}");
}

impl Extent {
    /// Returns the part of the text left to type, without white space at its end. May be empty.
    fn of(self, left: &str) -> &str {
        let part = match self {
            Self::Word => {
                let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
                &left[..left.find(|ch| !is_word(ch)).unwrap_or(left.len())]
            }
            Self::Line => left.lines().next().unwrap_or_default(),
            Self::Hunk => left,
        };
        part.trim_end()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Word => "rest of word",
            Self::Line => "rest of line",
            Self::Hunk => "rest of hunk",
        }
    }
}

impl Names {
    fn name(self) -> &'static str {
        match self {
            Self::Known => "names known",
            Self::Unknown => "names unknown",
        }
    }
}

impl Counts {
    fn add(&mut self, language: &'static str, refusal: Option<&str>) {
        self.asked += 1;
        let of_language = self.languages.entry(language).or_default();
        of_language.0 += 1;
        if let Some(reason) = refusal {
            self.refused += 1;
            of_language.1 += 1;
            *self.reasons.entry(reason.to_owned()).or_default() += 1;
        }
    }

    fn figures(&self, label: &str) -> Vec<Figure> {
        let percent = |part: usize, whole: usize| part as f64 * 100.0 / whole.max(1) as f64;
        let goal = Some(MAX_REFUSED * 100.0);
        let figure = |name: String, part, whole, goal| {
            Figure::alone(name, percent(part, whole), "%", whole, goal)
        };
        let all = figure(label.to_owned(), self.refused, self.asked, goal);
        let reasons = self
            .reasons
            .iter()
            .map(|(reason, count)| figure(format!("{label}, {reason}"), *count, self.asked, None));
        let languages = self.languages.iter().map(|(language, (asked, refused))| {
            figure(format!("{label}, {language}"), *refused, *asked, goal)
        });
        [all].into_iter().chain(reasons).chain(languages).collect()
    }
}
