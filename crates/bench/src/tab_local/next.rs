//! Location and text of the predicted next edit.

use std::collections::HashSet;

use autocomplete::{Suggestion, SuggestionSource};
use base::AbsPath;
use syntax::OutlineKind;

use super::baselines::{next_use, removed_name};
use super::hunks::{Hunk, hunks};
use super::local_tier::{LocalTier, OpenFile};
use super::repository::Moment;
use crate::figure::Figure;

/// Numbers of hunks of the commits replayed; larger commits are generated.
const HUNKS: std::ops::RangeInclusive<usize> = 3..=60;

/// Tokens of a row change, before and after.
type RowChange = (Vec<String>, Vec<String>);

/// Hits of one predictor.
#[derive(Default)]
struct Hits {
    offered: usize,
    next: usize,
    any: usize,
    exact: usize,
    /// Among the cases of edit propagation.
    case_next: usize,
    case_any: usize,
    case_exact: usize,
    case_offered: usize,
}

/// Counts so far.
#[derive(Default)]
pub(super) struct Tally {
    targets: usize,
    cases: usize,
    ours: Hits,
    same: Hits,
    diagnostic: Hits,
    misses: Misses,
}

/// A predicted edit: a file, a row of its current text, and the new text of that row.
struct Guess {
    file: AbsPath,
    row: u32,
    text: Option<String>,
}

/// A remaining hunk, in the current text.
struct Target<'a> {
    file: &'a AbsPath,
    rows: (u32, u32),
    hunk: &'a Hunk,
}

impl Tally {
    pub(super) fn commit(&mut self, moment: &Moment) {
        let plans: Vec<Vec<Hunk>> = moment
            .files
            .iter()
            .map(|it| hunks(&it.old, &it.new))
            .collect();
        if !HUNKS.contains(&plans.iter().map(Vec::len).sum::<usize>()) {
            return;
        }
        let mut tier = LocalTier::new(moment.view.clone());
        let mut opens: Vec<OpenFile> = moment.files.iter().map(OpenFile::new).collect();
        opens
            .iter()
            .for_each(|open| tier.local.note_tree(&open.state()));
        let removed: HashSet<String> = HashSet::new();
        let mut known = Known {
            changes: Vec::new(),
            removed,
        };
        let (mut made, mut clock) = (0, 1_000_000);
        for (number, plan) in plans.iter().enumerate() {
            for (ix, hunk) in plan.iter().enumerate() {
                if made >= 2 {
                    let left = targets(moment, &plans, number, ix);
                    self.target(&mut tier, &opens, number, &known, &left);
                }
                clock += 20_000;
                known.learn(hunk, &opens[number]);
                make(&mut opens[number], hunk, clock, &mut tier);
                let states: Vec<_> = opens.iter().map(OpenFile::state).collect();
                if let Some(task) = tier.local.background_task(&states) {
                    tier.local.finish(task.run());
                }
                made += 1;
            }
        }
    }

    fn target(
        &mut self,
        tier: &mut LocalTier,
        opens: &[OpenFile],
        number: usize,
        known: &Known,
        left: &[Target<'_>],
    ) {
        let Some(next) = left.first() else {
            return;
        };
        self.targets += 1;
        let is_case = known.is_case(next.hunk);
        self.cases += usize::from(is_case);
        let here = &opens[number];
        let offers = tier.suggest(&here.state());
        let offer = offers
            .iter()
            .find(|it| matches!(it.source, SuggestionSource::Propagation { .. }));
        let ours = offer.and_then(|offer| guess(offer, opens, number));
        if is_case {
            self.misses.tell(&ours, left, known);
            if ours.is_none() && self.misses.is_told {
                let unlikely = tier.all_suggestions(&here.state());
                let mut unlikely = unlikely.iter();
                let unlikely =
                    unlikely.find(|it| matches!(it.source, SuggestionSource::Propagation { .. }));
                if let Some(it) = unlikely {
                    let place = guess(it, opens, number);
                    let text = place.as_ref().and_then(|it| it.text.clone());
                    let row = place.map_or(0, |it| it.row + 1);
                    eprintln!(
                        "   too unlikely, {:.2}: {row} {}",
                        it.confidence,
                        text.unwrap_or_default()
                    );
                }
            }
        }
        self.ours.count(ours, left, is_case);
        let text = here.buffer.snapshot().to_string();
        let row = here.buffer.snapshot().point_at(here.caret).row.0;
        let at = |row: Option<u32>| {
            Some(Guess {
                file: here.path.clone(),
                row: row?,
                text: None,
            })
        };
        let same = known.changes.last().and_then(|(old, new)| {
            let name = removed_name(&old.join(" "), &new.join(" "))?;
            next_use(&text, &name, row)
        });
        self.same.count(at(same), left, is_case);
        let rows = known
            .removed
            .iter()
            .filter_map(|name| next_use(&text, name, row));
        // The first diagnostic after the caret, wrapping at the end of the text.
        let first = rows.min_by_key(|found| (*found <= row, *found));
        self.diagnostic.count(at(first), left, is_case);
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        let (targets, cases) = (self.targets, self.cases);
        let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        let kinds = [
            ("ours", &self.ours),
            ("same identifier", &self.same),
            ("next diagnostic", &self.diagnostic),
        ];
        let mut figures = Vec::new();
        for (name, hits) in kinds {
            let mut add = |what: &str, count: usize, of: usize| {
                figures.push(Figure::alone(
                    format!("{what}, {name}"),
                    share(count, of),
                    "",
                    of,
                    None,
                ));
            };
            add("next edit hit@1", hits.next, targets);
            add("next edit exact", hits.exact, targets);
            add("next edit offered", hits.offered, targets);
            add("offers in a hunk still to come", hits.any, hits.offered);
            add("propagation cases, hit@1", hits.case_next, cases);
            add(
                "propagation cases, in a hunk still to come",
                hits.case_any,
                cases,
            );
            add("propagation cases, exact", hits.case_exact, cases);
            add("propagation cases, offered", hits.case_offered, cases);
        }
        let best = self.same.case_next.max(self.diagnostic.case_next);
        let ratio = self.ours.case_next as f64 / best.max(1) as f64;
        figures.push(
            Figure::alone(
                "propagation cases, hit@1, ours / better peer",
                ratio,
                "",
                cases,
                None,
            )
            .at_least(2.0),
        );
        figures
    }
}

/// Prints the missed cases of edit propagation, if requested.
struct Misses {
    is_told: bool,
}

impl Default for Misses {
    fn default() -> Self {
        Self {
            is_told: std::env::var_os("BURIN_BENCH_MISSES").is_some(),
        }
    }
}

impl Misses {
    fn tell(&self, guess: &Option<Guess>, left: &[Target<'_>], known: &Known) {
        let Some(next) = left.first().filter(|_| self.is_told) else {
            return;
        };
        let holds = |target: &Target<'_>, guess: &Guess| {
            *target.file == guess.file && target.rows.0 <= guess.row && guess.row < target.rows.1
        };
        let what = match guess {
            None => "nothing",
            Some(guess) if holds(next, guess) => return,
            Some(guess) if left.iter().any(|it| holds(it, guess)) => "a later hunk",
            Some(_) => "a wrong place",
        };
        eprintln!("== {what} instead of {}:{}", next.file, next.rows.0 + 1);
        for (old, new) in next.hunk.row_changes().iter().take(3) {
            let count = known
                .changes
                .iter()
                .filter(|it| it.0 == *old && it.1 == *new)
                .count();
            eprintln!("   {count} x  {}  =>  {}", old.join(" "), new.join(" "));
        }
        for row in next.hunk.old_rows.iter().take(3) {
            eprintln!("   - {row}");
        }
        for row in next.hunk.new_rows.iter().take(3) {
            eprintln!("   + {row}");
        }
        if let Some(guess) = guess {
            let text = guess.text.as_deref().unwrap_or_default();
            eprintln!("   ours {}:{} {text}", guess.file, guess.row + 1);
        }
    }
}

impl Hits {
    fn count(&mut self, guess: Option<Guess>, left: &[Target<'_>], is_case: bool) {
        let Some(guess) = guess else {
            return;
        };
        let holds = |target: &Target<'_>| {
            *target.file == guess.file && target.rows.0 <= guess.row && guess.row < target.rows.1
        };
        let is_next = left.first().is_some_and(holds);
        let hit = left.iter().find(|target| holds(target));
        let is_exact = hit
            .zip(guess.text.as_ref())
            .is_some_and(|(target, text)| target.hunk.new_rows.iter().any(|row| row == text));
        let case = usize::from(is_case);
        self.offered += 1;
        self.next += usize::from(is_next);
        self.any += usize::from(hit.is_some());
        self.exact += usize::from(is_exact);
        self.case_offered += case;
        self.case_next += case * usize::from(is_next);
        self.case_any += case * usize::from(hit.is_some());
        self.case_exact += case * usize::from(is_exact);
    }
}

/// Facts from the hunks so far.
struct Known {
    changes: Vec<RowChange>,
    /// Names whose definitions were removed.
    removed: HashSet<String>,
}

impl Known {
    fn learn(&mut self, hunk: &Hunk, open: &OpenFile) {
        self.changes.extend(hunk.row_changes());
        let state = open.state();
        let outline = state
            .syntax
            .as_ref()
            .map(|it| it.outline(&state.snapshot))
            .unwrap_or_default();
        let new = hunk.new_rows.join("\n");
        for item in outline {
            let is_named = !matches!(item.kind, OutlineKind::Class | OutlineKind::Heading);
            let row = state.snapshot.point_at(item.name_span.start).row.0;
            let is_gone = hunk.rows.0 <= row && row < hunk.rows.1 && !hunk.old_rows.is_empty();
            if is_named && is_gone && !super::hunks::tokens(&new).contains(&item.name) {
                self.removed.insert(item.name);
            }
        }
    }

    /// Whether a hunk changes a row in the same way as at least two earlier rows.
    fn is_case(&self, hunk: &Hunk) -> bool {
        let changes = hunk.row_changes();
        changes
            .iter()
            .any(|change| self.changes.iter().filter(|it| *it == change).count() >= 2)
    }
}

/// Returns the hunks from `ix` on, with their rows in the current texts.
fn targets<'a>(
    moment: &'a Moment,
    plans: &'a [Vec<Hunk>],
    number: usize,
    ix: usize,
) -> Vec<Target<'a>> {
    let mut targets = Vec::new();
    for (file, plan) in plans.iter().enumerate().skip(number) {
        let from = if file == number { ix } else { 0 };
        // Rows of a hunk are counted after the hunks before it, which are not applied yet.
        let mut ahead = 0_i64;
        for hunk in &plan[from..] {
            let moved = |row: u32| (i64::from(row) - ahead).max(0) as u32;
            targets.push(Target {
                file: &moment.files[file].path,
                rows: (moved(hunk.rows.0), moved(hunk.rows.1)),
                hunk,
            });
            ahead += hunk.new_rows.len() as i64 - hunk.old_rows.len() as i64;
        }
    }
    targets
}

/// Applies a hunk row by row if rows were changed, so that each is a separate edit.
fn make(open: &mut OpenFile, hunk: &Hunk, clock: u64, tier: &mut LocalTier) {
    if hunk.old_rows.len() != hunk.new_rows.len() {
        open.replace(hunk.old, &hunk.new, clock, tier);
        return;
    }
    for (ix, (old, new)) in hunk.old_rows.iter().zip(&hunk.new_rows).enumerate() {
        if old == new {
            continue;
        }
        let snapshot = open.buffer.snapshot();
        let row = base::Row(hunk.rows.0 + ix as u32);
        let span = snapshot.row_span(row);
        let edit = autocomplete::SuggestedEdit::new(span, new, &snapshot);
        open.replace(edit.span, &edit.new, clock + 10 * ix as u64, tier);
    }
}

fn guess(offer: &Suggestion, opens: &[OpenFile], number: usize) -> Option<Guess> {
    let open = match &offer.file {
        Some(file) => opens.iter().find(|open| open.path == *file)?,
        None => opens.get(number)?,
    };
    let edit = offer.edits.first()?;
    let snapshot = open.buffer.snapshot();
    if !edit.applies_to(&snapshot) {
        return None;
    }
    let row = snapshot.point_at(edit.span.start).row;
    let line = snapshot.row_text(row);
    let start = edit.span.start.0 - snapshot.row_start(row).0;
    let tail = line.get(start + edit.old.len()..)?;
    let text = format!("{}{}{tail}", line.get(..start)?, edit.new);
    Some(Guess {
        file: open.path.clone(),
        row: row.0,
        text: Some(text),
    })
}
