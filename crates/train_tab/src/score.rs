//! Keystrokes saved and wrong suggestions shown, while the changes of a set are typed.

use std::collections::BTreeMap;
use std::path::Path;

use autocomplete::local::{IdiomTable, ShowPolicy, TabScorer};
use base::Span;
use packages::sources::Source;
use replay::baselines::Keywords;
use replay::person::{LocalTier, Open};
use replay::shown::{Asking, Said, Typed, type_with};
use replay::typing::one_key;

use super::changes::{self, TypedHunk};
use super::error::Error;
use super::projects::{ProjectSet, packages};
use super::train::TRAINED;
use super::{IDIOMS, SHIPPED, Tables, spread};

/// Maximum number of hunks of one package that are measured.
const MAX_HUNKS: usize = 14;

/// Thresholds that are compared, in thousandths.
const THRESHOLDS: [u16; 12] = [300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850];

/// Costs of reading a wrong guess that are compared, in keystrokes.
const LOOKS: [u16; 3] = [4, 12, 30];

/// Share of wrong suggestions that the chosen policy may reach on the development set; the goal of
/// a fifth with a margin.
const MAX_WRONG: f64 = 0.18;

/// Counts of typing some hunks.
#[derive(Clone, Copy, Default)]
struct Tally {
    typed: usize,
    oracle: usize,
    nvim: usize,
    curve: [Typed; THRESHOLDS.len()],
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.typed += other.typed;
        self.oracle += other.oracle;
        self.nvim += other.nvim;
        for (own, other) in self.curve.iter_mut().zip(other.curve) {
            own.add(other);
        }
    }

    fn saved(&self, keys: usize) -> f64 {
        1.0 - keys as f64 / self.typed.max(1) as f64
    }

    /// Returns the keys saved at a threshold, relative to nvim's, and the share of wrong ones.
    fn at(&self, ix: usize) -> (f64, f64) {
        let typed = &self.curve[ix];
        let ratio = self.saved(typed.keys) / self.saved(self.nvim).max(f64::MIN_POSITIVE);
        (ratio, typed.wrong as f64 / typed.shown.max(1) as f64)
    }

    fn line(&self, ix: usize) -> String {
        let (ratio, wrong) = self.at(ix);
        format!(
            "{:.3} of nvim's keys, {:.3} of all ({:.3} oracle, {:.3} nvim), {:.3} wrong of {}",
            ratio,
            self.saved(self.curve[ix].keys),
            self.saved(self.oracle),
            self.saved(self.nvim),
            wrong,
            self.curve[ix].shown
        )
    }
}

/// Prints the figures of the shipped tables on a set.
pub(super) fn run(sources: &[Source], inputs: &Path, set: ProjectSet) -> Result<(), Error> {
    let path = Path::new(SHIPPED);
    let bytes = std::fs::read(path).map_err(packages::Error::io("read", path))?;
    let scorer = TabScorer::from_bytes(&bytes)?;
    let shown = scorer.policy().threshold;
    let tallies = tallies(sources, inputs, set, &Tables::new(scorer, idioms()?))?;
    print(&tallies, shown);
    Ok(())
}

/// Chooses the policy that saves most keystrokes on the development set with few wrong suggestions,
/// and writes the tables with it.
pub(super) fn choose(sources: &[Source], inputs: &Path, folder: &Path) -> Result<(), Error> {
    let path = folder.join(TRAINED);
    let bytes = std::fs::read(&path).map_err(packages::Error::io("read", &path))?;
    let mut best: Option<(f64, ShowPolicy)> = None;
    for look in LOOKS {
        let policy = ShowPolicy { look, threshold: 0 };
        let scorer = TabScorer::from_bytes(&bytes)?.with_policy(policy);
        let tables = Tables::new(scorer, idioms()?);
        let tallies = tallies(sources, inputs, ProjectSet::Development, &tables)?;
        eprintln!("look {look}");
        print(&tallies, 600);
        let all = whole(&tallies);
        for (ix, threshold) in THRESHOLDS.into_iter().enumerate() {
            let (ratio, wrong) = all.at(ix);
            let policy = ShowPolicy { look, threshold };
            if wrong <= MAX_WRONG && best.is_none_or(|(known, _)| ratio > known) {
                best = Some((ratio, policy));
            }
        }
    }
    let (_, policy) = best.ok_or(Error::NothingToLearn {
        set: ProjectSet::Development.name(),
    })?;
    let shipped = TabScorer::from_bytes(&bytes)?
        .with_policy(policy)
        .to_bytes();
    let path = Path::new(SHIPPED);
    std::fs::write(path, &shipped).map_err(packages::Error::io("write", path))?;
    eprintln!("{SHIPPED}: {policy:?}, {} bytes", shipped.len());
    Ok(())
}

/// Reads the idioms that ship.
fn idioms() -> Result<IdiomTable, Error> {
    let path = Path::new(IDIOMS);
    let bytes = std::fs::read(path).map_err(packages::Error::io("read", path))?;
    Ok(IdiomTable::from_bytes(&bytes)?)
}

fn whole(tallies: &BTreeMap<&'static str, Tally>) -> Tally {
    let mut all = Tally::default();
    tallies.values().for_each(|tally| all.add(tally));
    all
}

fn print(tallies: &BTreeMap<&'static str, Tally>, shown: u16) {
    let all = whole(tallies);
    for (ix, threshold) in THRESHOLDS.iter().enumerate() {
        eprintln!("threshold {threshold}: {}", all.line(ix));
    }
    let ix = THRESHOLDS.iter().position(|it| *it == shown).unwrap_or(0);
    for (language, tally) in tallies {
        eprintln!(
            "{language}, threshold {}: {}",
            THRESHOLDS[ix],
            tally.line(ix)
        );
    }
}

/// Types the changes of a set, and returns the counts by language.
fn tallies(
    sources: &[Source],
    inputs: &Path,
    set: ProjectSet,
    tables: &Tables,
) -> Result<BTreeMap<&'static str, Tally>, Error> {
    let packages = packages(sources, set);
    let parts = spread(&packages, |package| {
        let project = package.read(inputs)?;
        let mut counts: BTreeMap<&'static str, Tally> = BTreeMap::new();
        changes::make(&project, tables, MAX_HUNKS, |tier, open, typed| {
            let language = open.state().language.map_or("", |it| it.name());
            let tally = measure(tier, open, typed);
            counts.entry(language).or_default().add(&tally);
        });
        Ok::<_, Error>(counts)
    })?;
    let mut all: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for part in parts {
        for (language, tally) in part? {
            all.entry(language).or_default().add(&tally);
        }
    }
    if all.is_empty() {
        return Err(Error::NothingToLearn { set: set.name() });
    }
    Ok(all)
}

/// Types a hunk character by character.
fn measure(tier: &mut LocalTier, open: &mut Open, typed: &TypedHunk<'_>) -> Tally {
    let new = typed.hunk.new.as_str();
    let text = open.buffer.snapshot().to_string();
    let mut keywords = Keywords::new(&text, open.caret.0, typed.others);
    let (keys, oracle, nvim) = keywords.keys(new);
    let mut said: Vec<Option<Said>> = Vec::new();
    said.resize_with(new.len(), || None);
    let (mut left, mut clock) = (new, typed.clock);
    while !left.is_empty() {
        clock += 120;
        let state = open.state();
        let suggestions = tier.all_suggestions(&state);
        said[new.len() - left.len()] = Some(Said::at(&state, &suggestions, &[], &[]));
        let key = one_key(left);
        open.replace(Span::at(open.caret), &left[..key], clock, tier);
        left = &left[key..];
    }
    let at = |threshold: u16| type_with(new, &said, f32::from(threshold) / 1000.0, Asking::Never);
    Tally {
        typed: keys,
        oracle,
        nvim,
        curve: THRESHOLDS.map(at),
    }
}
