//! Fits the tables: first the one of tokens, then the one of guesses that it leads to.

use std::path::Path;

use autocomplete::local::{
    GUESS_FEATURES, ShowPolicy, TOKEN_FEATURES, TabScorer, TabTables, TreeTable,
};
use packages::sources::Source;

use super::boost::{Boosting, fit};
use super::error::Error;
use super::projects::{ProjectSet, packages};
use super::samples::{SampleKind, Samples, gather};
use super::{spread, write};

const TOKENS: Boosting = Boosting {
    trees: 180,
    depth: 6,
    rate: 0.15,
};
const GUESSES: Boosting = Boosting {
    trees: 120,
    depth: 6,
    rate: 0.12,
};

/// Of the carets, one in so many gives samples for the table of tokens, and of guesses.
const THIN_TOKENS: usize = 4;
const THIN_GUESSES: usize = 3;

/// Policy while samples are gathered; the final one is chosen afterwards.
const GATHERING: ShowPolicy = ShowPolicy {
    look: 10,
    threshold: 450,
};

/// File of the tables before their policy is chosen.
pub(super) const TRAINED: &str = "trained.bin";

/// Trains both tables of the scorer on the fitting set and writes them to `folder`.
pub(super) fn run(sources: &[Source], inputs: &Path, folder: &Path) -> Result<(), Error> {
    let idioms = super::idioms::read()?;
    let nothing_is_shown = TreeTable {
        base: -20 * i32::from(TreeTable::quantized(1.0)),
        trees: Vec::new(),
    };
    let scorer = TabScorer::new(TreeTable::default(), nothing_is_shown, GATHERING);
    let tables = TabTables::new(scorer, idioms);
    let kind = (SampleKind::Tokens, THIN_TOKENS);
    let tokens = all_samples(sources, inputs, &tables, kind)?;
    let tokens = fit(&tokens, TOKEN_FEATURES, TOKENS)?;
    let scorer = TabScorer::new(tokens.clone(), TreeTable::default(), GATHERING);
    let tables = tables.with_scorer(scorer);
    let kind = (SampleKind::Guesses, THIN_GUESSES);
    let guesses = all_samples(sources, inputs, &tables, kind)?;
    let guesses = fit(&guesses, GUESS_FEATURES, GUESSES)?;
    let trained = TabScorer::new(tokens, guesses, GATHERING);
    write(&folder.join(TRAINED), &trained.to_bytes())
}

fn all_samples(
    sources: &[Source],
    inputs: &Path,
    tables: &TabTables,
    kind: (SampleKind, usize),
) -> Result<Samples, Error> {
    let packages = packages(sources, ProjectSet::Fitting);
    let parts = spread(&packages, |package| {
        let project = package.read(inputs)?;
        let samples = gather(&project, package.name, tables, kind);
        eprintln!("{}: {} samples", package.name, samples.is_right.len());
        Ok::<_, Error>(samples)
    })?;
    let mut all = Samples::default();
    for part in parts {
        all.append(part?);
    }
    let right = all.is_right.iter().filter(|it| **it).count();
    eprintln!(
        "{:?}: {} samples, {right} right",
        kind.0,
        all.is_right.len()
    );
    if all.is_right.is_empty() {
        return Err(Error::NothingToLearn {
            set: ProjectSet::Fitting.name(),
        });
    }
    Ok(all)
}
