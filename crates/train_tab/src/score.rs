//! Measures the tables on a set, and chooses when a guess is shown.

use std::collections::BTreeMap;
use std::path::Path;

use autocomplete::local::{ShowPolicy, TabScorer, TabTables};
use packages::sources::Source;

use super::changes;
use super::error::Error;
use super::projects::{ProjectSet, packages};
use super::tally::{Tally, wrong_share};
use super::train::TRAINED;
use super::{SHIPPED, idioms, read, spread, write};

/// Maximum number of hunks of one package that are measured.
const MAX_HUNKS: usize = 14;

/// Costs of reading a wrong guess that are compared, in keystrokes.
const LOOKS: [u16; 4] = [60, 120, 240, 480];

/// Share of wrong suggestions that the chosen policy may reach on the development set: the goal of a
/// fifth with a margin.
const MAX_WRONG: f64 = 0.18;

/// Counts by language.
type Tallies = BTreeMap<&'static str, Tally>;

/// Prints the figures of the shipped tables on a set.
pub(super) fn run(sources: &[Source], inputs: &Path, set: ProjectSet) -> Result<(), Error> {
    let scorer = TabScorer::from_bytes(&read(Path::new(SHIPPED))?)?;
    eprintln!("{:?}", scorer.policy());
    let tables = TabTables::new(scorer, idioms::read()?);
    let tallies = tallies(sources, inputs, set, (&tables, &[]))?;
    for (language, tally) in &tallies {
        eprintln!("{language}: {}", tally.summary(&tally.in_use));
    }
    let all = total(&tallies);
    eprintln!("all: {}", all.summary(&all.in_use));
    Ok(())
}

/// Chooses the policy that saves most keystrokes on the development set with few wrong suggestions,
/// and writes the tables with it.
pub(super) fn choose(sources: &[Source], inputs: &Path, folder: &Path) -> Result<(), Error> {
    let bytes = read(&folder.join(TRAINED))?;
    let mut best: Option<(f64, ShowPolicy)> = None;
    let thresholds: Vec<u16> = (400..900).step_by(20).collect();
    let compared: Vec<f32> = thresholds
        .iter()
        .map(|it| f32::from(*it) / 1000.0)
        .collect();
    for look in LOOKS {
        let policy = ShowPolicy { look, threshold: 0 };
        let scorer = TabScorer::from_bytes(&bytes)?.with_policy(policy);
        let tables = TabTables::new(scorer, idioms::read()?);
        let set = ProjectSet::Development;
        let all = total(&tallies(sources, inputs, set, (&tables, &compared))?);
        for (typed, threshold) in all.compared.iter().zip(&thresholds) {
            let saved = all.beside_nvim(typed);
            eprintln!("look {look}, threshold {threshold}: {}", all.summary(typed));
            if wrong_share(typed) <= MAX_WRONG && best.is_none_or(|(known, _)| saved > known) {
                let threshold = *threshold;
                best = Some((saved, ShowPolicy { look, threshold }));
            }
        }
    }
    let (_, policy) = best.ok_or(Error::NothingToLearn {
        set: ProjectSet::Development.name(),
    })?;
    let shipped = TabScorer::from_bytes(&bytes)?.with_policy(policy);
    write(Path::new(SHIPPED), &shipped.to_bytes())
}

fn total(tallies: &Tallies) -> Tally {
    let mut all = Tally::default();
    tallies.values().for_each(|tally| all.add(tally));
    all
}

/// Types the changes of a set with the tables, and counts for further thresholds.
fn tallies(
    sources: &[Source],
    inputs: &Path,
    set: ProjectSet,
    (tables, compared): (&TabTables, &[f32]),
) -> Result<Tallies, Error> {
    let packages = packages(sources, set);
    let parts = spread(&packages, |package| {
        let project = package.read(inputs)?;
        let mut counts = Tallies::new();
        changes::make(&project, tables, MAX_HUNKS, |tier, open, typed| {
            let language = open.state().language.map_or("", |it| it.name());
            let tally = Tally::measure(tier, open, typed, compared);
            counts.entry(language).or_default().add(&tally);
        });
        Ok::<_, Error>(counts)
    })?;
    let mut all = Tallies::new();
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
