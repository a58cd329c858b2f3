//! Random edit scripts: agents, Tab, formatters and a person change a file, and the tracker must agree with the oracle.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use base::{ByteOffset, Span};
use statistics::SplitMix;
use text::{Buffer, Edit, EditOrigin, Snapshot, Timestamp};

use super::oracle::{Mark, Oracle, TokenId, kept_in};
use super::{by, measurements};
use crate::{Milestone, RetentionEvent, RetentionTracker};

/// Number of scripts: `BURIN_EDIT_SCRIPTS`, which the soak sets, or a few.
fn scripts() -> u64 {
    let count = std::env::var("BURIN_EDIT_SCRIPTS").ok();
    count.and_then(|count| count.parse().ok()).unwrap_or(25)
}

/// Number of steps of a script.
const STEPS: usize = 60;
/// Time between steps, in milliseconds.
const PAUSE: u64 = 40_000;

/// The form in which the tracker gets the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feed {
    /// Every edit, as in an open editor.
    Edits,
    /// The text after each step, as tools write files.
    Texts,
    /// The text after three steps of one writer, as a person saves.
    Saves,
}

/// A writer at work on a file.
struct Script {
    random: SplitMix,
    oracle: Oracle,
    /// The last steps by their characters before, for undo.
    past: Vec<Vec<Mark>>,
}

/// Replaced ranges of characters, ascending, with their new characters.
type Step = Vec<(Range<usize>, Vec<Mark>)>;

impl Script {
    fn new(seed: u64) -> Self {
        let mut script = Self {
            random: SplitMix::new(seed),
            oracle: Oracle::default(),
            past: Vec::new(),
        };
        let start = script.lines(120);
        let marks = script.oracle.marks_of(&start);
        script.oracle.replace(0..0, marks);
        script
    }

    fn name(&mut self) -> String {
        const WORDS: [&str; 20] = [
            "file", "path", "row", "token", "index", "count", "state", "text", "span", "node",
            "next", "last", "open", "read", "parse", "value", "key", "line", "run", "map",
        ];
        let word = |random: &mut SplitMix| WORDS[random.next_below(WORDS.len())];
        let first = word(&mut self.random);
        match self.random.next_below(3) {
            0 => first.to_owned(),
            _ => format!("{first}_{}", word(&mut self.random)),
        }
    }

    fn line(&mut self) -> String {
        let (a, b, c) = (self.name(), self.name(), self.name());
        let number = self.random.next_below(100);
        match self.random.next_below(10) {
            0 => format!("    let {a} = {b}.{c}();"),
            1 => format!("    let {a} = {b}({c}, {number});"),
            2 => format!("    if {a}.is_{b}() && {c} > {number} {{"),
            3 => "    }".to_owned(),
            4 => format!("    {a}.{b}(&{c});"),
            5 => format!("    // The {a} of the {b} follows the {c}."),
            6 => format!("fn {a}({b}: {c}) -> Option<u{number}> {{"),
            7 => String::new(),
            8 => format!("    return {a} + {b};"),
            _ => format!("    {a}.push({b}[{c}]);"),
        }
    }

    fn lines(&mut self, count: usize) -> String {
        (0..count).map(|_| self.line() + "\n").collect()
    }

    /// Returns the start of a random row, in characters; the end of the text is one too.
    fn row_start(&mut self) -> usize {
        let starts = self.row_starts();
        starts[self.random.next_below(starts.len())]
    }

    fn row_starts(&self) -> Vec<usize> {
        let feeds = self.oracle.marks.iter().enumerate();
        let feeds = feeds
            .filter(|(_, mark)| mark.char == '\n')
            .map(|(ix, _)| ix + 1);
        std::iter::once(0).chain(feeds).collect()
    }

    /// Returns the range of some rows.
    fn rows(&mut self, most: usize) -> Range<usize> {
        let starts = self.row_starts();
        let first = self.random.next_below(starts.len());
        let last = (first + 1 + self.random.next_below(most)).min(starts.len() - 1);
        starts[first.min(last)]..starts[last]
    }

    /// Returns the range of some words beside each other, if the text has any.
    fn words(&mut self, most: usize) -> Range<usize> {
        let marks = &self.oracle.marks;
        let is_start = |ix: &usize| {
            let is_word = |ix: usize| crate::token::is_word(marks[ix].char);
            is_word(*ix) && (*ix == 0 || !is_word(*ix - 1))
        };
        let starts: Vec<usize> = (0..marks.len()).filter(is_start).collect();
        if starts.is_empty() {
            return 0..0;
        }
        let start = starts[self.random.next_below(starts.len())];
        let mut end = start;
        for _ in 0..=self.random.next_below(most) {
            let rest = &self.oracle.marks[end..];
            let skipped = rest
                .iter()
                .take_while(|it| !crate::token::is_word(it.char))
                .count();
            let word = rest[skipped..]
                .iter()
                .take_while(|it| crate::token::is_word(it.char))
                .count();
            if word > 0 {
                end += skipped + word;
            }
        }
        start..end
    }

    /// Makes a step of the writer.
    fn step(&mut self, writer: char) -> Step {
        match writer {
            'f' => self.reformat(),
            't' => {
                let at = self.words(1).end;
                let text = format!(".{}({})", self.name(), self.name());
                vec![(at..at, self.oracle.marks_of(&text))]
            }
            _ => match self.random.next_below(12) {
                0..=2 => {
                    let (at, count) = (self.row_start(), 1 + self.random.next_below(12));
                    let text = self.lines(count);
                    vec![(at..at, self.oracle.marks_of(&text))]
                }
                3 => vec![(self.rows(6), Vec::new())],
                4 => vec![(self.words(3), Vec::new())],
                5 | 6 => {
                    let (words, text) = (self.words(1), self.name());
                    vec![(words.clone(), self.oracle.rewrite(words, &text))]
                }
                7 => {
                    let at = self.words(1).start;
                    let text = format!("{} ", self.name());
                    vec![(at..at, self.oracle.marks_of(&text))]
                }
                8 => self.rename(),
                9 => self.relocate(),
                10 => self.undo(),
                _ => {
                    let (rows, count) = (self.rows(3), 1 + self.random.next_below(3));
                    let text = self.lines(count);
                    vec![(rows.clone(), self.oracle.rewrite(rows, &text))]
                }
            },
        }
    }

    /// Changes the white space at the starts of rows, and breaks some.
    fn reformat(&mut self) -> Step {
        let mut step = Step::new();
        for start in self.row_starts() {
            if self.random.next_below(4) > 0 {
                continue;
            }
            let blanks = self.oracle.marks[start..]
                .iter()
                .take_while(|it| it.char == ' ')
                .count();
            let text = " ".repeat(self.random.next_below(9));
            step.push((start..start + blanks, self.oracle.marks_of(&text)));
        }
        step
    }

    /// Replaces a name wherever it occurs.
    fn rename(&mut self) -> Step {
        let range = self.words(1);
        let old: String = self.oracle.marks[range].iter().map(|it| it.char).collect();
        let old = old
            .split(|char: char| !crate::token::is_word(char))
            .next()
            .unwrap_or_default()
            .to_owned();
        let new = format!("{}_renamed", self.name());
        let text = self.oracle.text();
        let mut step = Step::new();
        let chars: Vec<char> = text.chars().collect();
        let wanted: Vec<char> = old.chars().collect();
        let is_word = |ix: usize| chars.get(ix).copied().is_some_and(crate::token::is_word);
        let mut at = 0;
        while !wanted.is_empty() && at + wanted.len() <= chars.len() {
            let end = at + wanted.len();
            let is_whole = (at == 0 || !is_word(at - 1)) && !is_word(end);
            if chars[at..end] == wanted[..] && is_whole {
                step.push((at..end, self.oracle.marks_of(&new)));
                at = end;
            } else {
                at += 1;
            }
        }
        step
    }

    /// Moves rows to another place.
    fn relocate(&mut self) -> Step {
        let rows = self.rows(8);
        let marks = self.oracle.marks[rows.clone()].to_vec();
        let to = self.row_start();
        let text: String = marks.iter().map(|mark| mark.char).collect();
        // Fewer tokens cannot be recognized at another place.
        let is_short = crate::token::tokens(&text, 0).len() < 10;
        if is_short || rows.contains(&to) || to == rows.end {
            return Step::new();
        }
        let mut step = vec![(rows, Vec::new()), (to..to, marks)];
        step.sort_by_key(|(range, _)| range.start);
        step
    }

    /// Brings back the text before the last step.
    fn undo(&mut self) -> Step {
        let Some(before) = self.past.pop() else {
            return Step::new();
        };
        let now = &self.oracle.marks;
        let first = now
            .iter()
            .zip(&before)
            .take_while(|(one, two)| one == two)
            .count();
        let rest = now[first..].iter().rev().zip(before[first..].iter().rev());
        let last = rest.take_while(|(one, two)| one == two).count();
        let range = first..now.len() - last;
        vec![(range, before[first..before.len() - last].to_vec())]
    }

    /// Carries out a step, and returns the edits of the text.
    fn apply(&mut self, step: Step) -> Vec<Edit> {
        self.past.push(self.oracle.marks.clone());
        let chars = &self.oracle.marks;
        let mut offsets: Vec<usize> = vec![0];
        offsets.extend(chars.iter().scan(0, |offset, mark| {
            *offset += mark.char.len_utf8();
            Some(*offset)
        }));
        let edits = step.iter().map(|(range, marks)| {
            let span = Span::new(
                ByteOffset(offsets[range.start]),
                ByteOffset(offsets[range.end]),
            );
            Edit::new(span, marks.iter().map(|mark| mark.char).collect::<String>())
        });
        let edits: Vec<Edit> = edits.collect();
        for (range, marks) in step.into_iter().rev() {
            self.oracle.replace(range, marks);
        }
        edits
    }
}

/// Differences between the tracker and the oracle, in tokens.
#[derive(Debug, Default)]
struct Differences {
    tokens: usize,
    wrong: usize,
    units: usize,
    missing: usize,
}

impl Differences {
    fn add(&mut self, found: usize, truth: usize) {
        self.wrong += found.abs_diff(truth);
    }

    fn share(&self) -> f64 {
        self.wrong as f64 / self.tokens.max(1) as f64
    }
}

/// The truth about each unit at each horizon, by the times of the changes.
type Truth = HashMap<(u64, Milestone), (usize, usize)>;

/// Runs one script and compares all measurements.
fn run(seed: u64, feed: Feed, differences: &mut Differences) {
    let mut script = Script::new(seed);
    let mut buffer = Buffer::new(&script.oracle.text());
    let mut tracker = RetentionTracker::default();
    tracker.open("a", buffer.snapshot());
    let mut truth = Truth::new();
    let mut due: Vec<(u64, u64, Milestone)> = Vec::new();
    let mut now = 0;
    let every = if feed == Feed::Saves { 3 } else { 1 };
    for _ in 0..STEPS / every {
        now += PAUSE;
        settle(&script.oracle, &mut due, now, &mut truth);
        let letter = ['a', 'a', 'p', 'p', 'p', 'f', 't'][script.random.next_below(7)];
        let before: Vec<TokenId> = script.oracle.tokens();
        for _ in 0..every {
            let step = script.step(letter);
            let edits = script.apply(step);
            let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(now)));
            assert_eq!(buffer.snapshot().to_string(), script.oracle.text());
            if feed == Feed::Edits {
                tracker.edit("a", (&change, &buffer.snapshot()), &by(letter), now);
            }
        }
        if feed != Feed::Edits {
            let text = Snapshot::new(&script.oracle.text());
            tracker.observe("a", text, &by(letter), now);
        }
        script.oracle.add_unit(&before, now);
        if script
            .oracle
            .units
            .last()
            .is_some_and(|unit| unit.at_ms == now)
        {
            let horizons = Milestone::HORIZONS.iter();
            due.extend(horizons.map(|(milestone, after)| (now + after, now, *milestone)));
        }
        tracker.advance(now + 5_000);
        tracker.assert_invariants();
    }
    settle(&script.oracle, &mut due, u64::MAX, &mut truth);
    tracker.advance(now + 2 * super::DAY);
    compare(&script.oracle, &tracker.take_events(), &truth, differences);
}

/// Records the truth about the units whose horizons come before `now`.
fn settle(oracle: &Oracle, due: &mut Vec<(u64, u64, Milestone)>, now: u64, truth: &mut Truth) {
    let tokens: HashSet<TokenId> = oracle.tokens().into_iter().collect();
    due.retain(|(at, unit_ms, milestone)| {
        let is_due = *at <= now;
        if let Some(unit) = oracle
            .units
            .iter()
            .find(|it| is_due && it.at_ms == *unit_ms)
        {
            truth.insert((*unit_ms, *milestone), kept_in(&tokens, unit));
        }
        !is_due
    });
}

fn compare(
    oracle: &Oracle,
    events: &[RetentionEvent],
    truth: &Truth,
    differences: &mut Differences,
) {
    let began: HashMap<u64, u64> = events
        .iter()
        .filter_map(|event| match event {
            RetentionEvent::Began(unit) => Some((unit.unit.0, unit.at_ms)),
            RetentionEvent::Measured(_) => None,
        })
        .collect();
    let mut found: Truth = Truth::new();
    for measured in measurements(events) {
        let kept = (
            measured.inserted.kept as usize,
            measured.removed.kept as usize,
        );
        let lost = |left: &crate::Remainder| left.losses.iter().map(|it| it.tokens).sum::<u32>();
        assert_eq!(
            measured.inserted.kept + lost(&measured.inserted),
            measured.inserted.tokens
        );
        assert_eq!(
            measured.removed.kept + lost(&measured.removed),
            measured.removed.tokens
        );
        found.insert((began[&measured.unit.0], measured.milestone), kept);
    }
    let known: HashSet<u64> = oracle.units.iter().map(|unit| unit.at_ms).collect();
    for ((at_ms, _), kept) in &found {
        if !known.contains(at_ms) {
            differences.wrong += kept.0 + kept.1;
        }
    }
    for unit in &oracle.units {
        differences.units += 1;
        for (milestone, _) in Milestone::HORIZONS {
            let wanted = truth[&(unit.at_ms, milestone)];
            differences.tokens += unit.inserted.len() + unit.removed.len();
            match found.get(&(unit.at_ms, milestone)) {
                Some(kept) => {
                    differences.add(kept.0, wanted.0);
                    differences.add(kept.1, wanted.1);
                }
                None => {
                    differences.missing += usize::from(milestone == Milestone::Day);
                    differences.wrong += wanted.0 + wanted.1;
                }
            }
        }
    }
}

/// Checks that at most a share of the tokens differ, over all units and horizons.
fn check(feed: Feed, most: f64) {
    let mut all = Differences::default();
    for seed in 0..scripts() {
        run(seed, feed, &mut all);
    }
    let share = all.share();
    println!(
        "{feed:?}: {share:.5} of {} tokens differ, {} of {} units are missing",
        all.tokens, all.missing, all.units
    );
    assert!(share <= most, "{feed:?}: {share}");
}

#[test]
fn edits_are_followed_as_the_oracle_says() {
    check(Feed::Edits, 0.01);
}

#[test]
fn written_texts_are_followed_as_the_oracle_says() {
    check(Feed::Texts, 0.01);
}

#[test]
fn saved_texts_are_followed_as_the_oracle_says() {
    // Several changes between two saves hide each other; the difference is what saves do not tell.
    check(Feed::Saves, 0.02);
}
