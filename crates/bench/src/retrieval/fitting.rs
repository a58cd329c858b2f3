//! Fits the weights of the ranking on the data for fitting only.
//!
//! Coordinate ascent: tries each weight in turn at the values of a coarse grid and keeps a value if it raises the sum
//! of two figures by at least `LEAST_GAIN`: the mean NDCG@10 over the annotated repositories for fitting, and the mean
//! MRR@10 over the languages of the pairs for fitting. Rounds end when no weight changes. `BURIN_BENCH_PARTS=annotated`
//! omits the pairs; `BURIN_BENCH_MISSES=1` prints the missed questions instead of fitting.

use index::{Index, IndexQuery, QueryMode, RankWeights};

use super::annotated::{self, Repository};
use super::pairs::{self, Haystack, LANGUAGES, Side};
use super::{sample, score};
use crate::figure::Figure;

/// Smaller gains are noise.
const LEAST_GAIN: f64 = 0.001;
const MOST_ROUNDS: usize = 4;

/// A weight with the values to try.
struct Knob {
    name: &'static str,
    place: fn(&mut RankWeights) -> &mut f32,
    values: &'static [f32],
}

const KNOBS: &[Knob] = &[
    Knob {
        name: "meaning_plain",
        place: |it| &mut it.meaning_plain,
        values: &[0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    },
    Knob {
        name: "meaning_symbol",
        place: |it| &mut it.meaning_symbol,
        values: &[0.1, 0.2, 0.3, 0.5],
    },
    Knob {
        name: "coherence",
        place: |it| &mut it.coherence,
        values: &[0.0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2],
    },
    Knob {
        name: "definition",
        place: |it| &mut it.definition,
        values: &[0.5, 1.0, 2.0, 3.0, 4.0],
    },
    Knob {
        name: "definition_stem",
        place: |it| &mut it.definition_stem,
        values: &[1.0, 1.25, 1.5, 2.0],
    },
    Knob {
        name: "definition_named",
        place: |it| &mut it.definition_named,
        values: &[0.1, 0.2, 0.35, 0.5, 0.75],
    },
    Knob {
        name: "stem",
        place: |it| &mut it.stem,
        values: &[0.0, 0.5, 1.0, 1.5],
    },
    Knob {
        name: "path",
        place: |it| &mut it.path,
        values: &[0.0, 0.3, 0.6, 1.0, 1.5, 2.0],
    },
    Knob {
        name: "path_least",
        place: |it| &mut it.path_least,
        values: &[0.0, 0.1, 0.2, 0.3],
    },
    Knob {
        name: "path_folder",
        place: |it| &mut it.path_folder,
        values: &[0.25, 0.5, 0.75, 1.0],
    },
    Knob {
        name: "name",
        place: |it| &mut it.name,
        values: &[0.0, 0.15, 0.3, 0.5, 0.8],
    },
    Knob {
        name: "symbol",
        place: |it| &mut it.symbol,
        values: &[0.0, 0.2, 0.4, 0.6, 0.9, 1.3],
    },
    Knob {
        name: "prose",
        place: |it| &mut it.prose,
        values: &[0.2, 0.3, 0.5, 0.7, 1.0],
    },
    Knob {
        name: "tests",
        place: |it| &mut it.tests,
        values: &[0.2, 0.3, 0.45, 0.6, 0.8],
    },
    Knob {
        name: "legacy",
        place: |it| &mut it.legacy,
        values: &[0.3, 0.5, 0.7, 1.0],
    },
    Knob {
        name: "examples",
        place: |it| &mut it.examples,
        values: &[0.3, 0.5, 0.8],
    },
    Knob {
        name: "hands_on",
        place: |it| &mut it.hands_on,
        values: &[0.3, 0.5, 0.8],
    },
    Knob {
        name: "declarations",
        place: |it| &mut it.declarations,
        values: &[0.5, 0.7, 1.0],
    },
    Knob {
        name: "saturation",
        place: |it| &mut it.saturation,
        values: &[0.2, 0.35, 0.5, 0.65, 0.8],
    },
];

struct Ground {
    repositories: Vec<(Repository, Index)>,
    haystacks: Vec<Haystack>,
}

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let ground = Ground::new()?;
    if std::env::var_os("BURIN_BENCH_MISSES").is_some() {
        ground.tell_misses();
        return Ok(Vec::new());
    }
    let mut weights = RankWeights::default();
    let begun = ground.worth(&weights);
    let mut best = begun;
    for round in 1..=MOST_ROUNDS {
        let before = weights.clone();
        for knob in KNOBS {
            for value in knob.values {
                let mut tried = weights.clone();
                *(knob.place)(&mut tried) = *value;
                let worth = ground.worth(&tried);
                if worth.0 + worth.1 > best.0 + best.1 + LEAST_GAIN {
                    eprintln!(
                        "round {round}: {} = {value}: {:.4} and {:.4}",
                        knob.name, worth.0, worth.1
                    );
                    (weights, best) = (tried, worth);
                }
            }
        }
        if weights == before {
            break;
        }
    }
    println!("fitted: {weights:#?}");
    ground.tell_by_repository(&weights);
    let figure = |name: &str, value| Figure::alone(name, value, "", 1, None);
    Ok(vec![
        figure("annotated, fitted on: NDCG@10 before", begun.0),
        figure("annotated, fitted on: NDCG@10", best.0),
        figure("pairs, fitted on: MRR@10 before", begun.1),
        figure("pairs, fitted on: MRR@10", best.1),
    ])
}

impl Ground {
    fn new() -> Result<Self, String> {
        let repositories = annotated::repositories()?
            .into_iter()
            .filter(Repository::is_fitted_on)
            .map(|repository| {
                let index = sample::open(&repository.root)?;
                Ok((repository, index))
            })
            .collect::<Result<_, String>>()?;
        let parts =
            std::env::var("BURIN_BENCH_PARTS").unwrap_or_else(|_| "documentation".to_owned());
        let haystacks = LANGUAGES
            .iter()
            .filter(|_| parts.contains("documentation"))
            .map(|language| {
                let mut pairs = pairs::sample(*language, Side::Weights)?;
                // Fewer pairs are enough, since languages are averaged and every run uses the same
                // pairs.
                pairs.truncate(600);
                Haystack::new(*language, &pairs, false)
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            repositories,
            haystacks,
        })
    }

    fn tell_by_repository(&self, weights: &RankWeights) {
        for (repository, index) in &self.repositories {
            let gain = score::mean(&repository.gains(index, weights)).0;
            println!("{:<12} {gain:.4}", repository.name);
        }
    }

    /// Prints the questions whose answers are not all ranked first, with the hits found instead.
    fn tell_misses(&self) {
        let weights = RankWeights::default();
        for (repository, index) in &self.repositories {
            let gains = repository.gains(index, &weights);
            println!("== {} {:.3}", repository.name, score::mean(&gains).0);
            let missed = repository
                .questions
                .iter()
                .zip(gains)
                .filter(|(_, gain)| *gain < 1.0);
            for (question, gain) in missed {
                println!(
                    "{gain:.2} {} \"{}\" → {}",
                    question.kind,
                    question.text,
                    question.wanted()
                );
                for hit in index
                    .search_weighted(&IndexQuery::new(&question.text, score::DEPTH), &weights)
                    .hits
                {
                    let symbol = hit.symbol.as_deref().unwrap_or_default();
                    println!(
                        "    {:.2} {}:{} {symbol} {:?}",
                        hit.score,
                        hit.path.display(),
                        hit.rows.start,
                        hit.parts
                    );
                }
            }
        }
    }

    /// Returns the mean NDCG@10 over the repositories and the mean MRR@10 over the languages.
    fn worth(&self, weights: &RankWeights) -> (f64, f64) {
        let of_repository = |(repository, index): &(Repository, Index)| {
            score::mean(&repository.gains(index, weights)).0
        };
        let of_haystack =
            |haystack: &Haystack| score::mean(&haystack.reciprocals(QueryMode::Fused, weights)).0;
        let repositories: Vec<f64> = self.repositories.iter().map(of_repository).collect();
        let haystacks: Vec<f64> = self.haystacks.iter().map(of_haystack).collect();
        (score::mean(&repositories).0, score::mean(&haystacks).0)
    }
}
