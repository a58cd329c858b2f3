//! Trains the table so that a documentation is nearer to its function than to the others of its batch (InfoNCE
//! in both directions).
//!
//! A batch has one language and consists of runs of neighbours in a package, so that the wrong functions resemble
//! the right one. Order, masks and drops are derived from the seed, so the same inputs give the same bits.

mod step;

use std::collections::BTreeMap;

use index::wordpiece::Vocabulary;

use super::bags::{Bags, masked};
use super::error::Error;
use super::mine::{Language, Pairs, Side};
use super::score::Sample;
use step::Step;

/// Hyperparameters of the training.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    pub(super) epochs: usize,
    pub(super) batch: usize,
    pub(super) rate: f32,
    pub(super) temperature: f32,
    /// Share of functions whose name is masked.
    pub(super) mask: f64,
    /// Share of tokens dropped from a function.
    pub(super) drop: f64,
    /// Share of tokens dropped from a query.
    pub(super) drop_of_query: f64,
    /// Strength of the pull towards the initial rows, in units of the rate.
    pub(super) pull: f32,
    /// Number of neighbouring pairs that form one run of a batch.
    pub(super) run: usize,
    pub(super) seed: u64,
}

impl Tuning {
    pub(super) const CHOSEN: Self = Self {
        epochs: 4,
        batch: 1_024,
        rate: 0.003,
        temperature: 0.05,
        mask: 0.4,
        drop: 0.1,
        drop_of_query: 0.1,
        pull: 0.0,
        run: 16,
        seed: 3,
    };

    /// Returns these parameters with the settings `words` (name and number) applied; an error for
    /// an unknown name or a value that is not a number.
    pub(super) fn with(mut self, words: &[(&str, &str)]) -> Result<Self, Error> {
        for (name, value) in words {
            let number: f64 = value.parse().map_err(|_| Error::SettingNotANumber {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
            })?;
            match *name {
                "epochs" => self.epochs = number as usize,
                "batch" => self.batch = (number as usize).next_multiple_of(16),
                "rate" => self.rate = number as f32,
                "temperature" => self.temperature = number as f32,
                "mask" => self.mask = number,
                "drop" => self.drop = number,
                "drop_of_query" => self.drop_of_query = number,
                "pull" => self.pull = number as f32,
                "run" => self.run = (number as usize).max(1),
                "seed" => self.seed = number as u64,
                _ => return Err(Error::UnknownSetting((*name).to_owned())),
            }
        }
        Ok(self)
    }
}

/// Passes over a language per epoch; rarer languages get more.
fn rounds(language: Language) -> f64 {
    match language {
        Language::Rust => 1.5,
        Language::Python => 1.0,
        Language::Script => 1.2,
        Language::Go => 1.0,
        Language::C => 1.5,
    }
}

/// A seeded pseudo-random number generator (splitmix64).
pub(super) struct Dice(u64);

impl Dice {
    /// Creates a generator; equal seeds give equal numbers.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number, evenly distributed over all of `u64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns the next number below `bound`; 0 if `bound` is 0.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Returns true with the probability `share`.
    fn chance(&mut self, share: f64) -> bool {
        ((self.next() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

/// The training pairs of one language.
struct Lessons {
    language: Language,
    queries: Bags,
    functions: Bags,
    /// The same functions with masked names.
    masked: Bags,
}

/// Trains `table`, which has a row for each token, on the pairs for training, prints the progress
/// and returns the table. Takes minutes.
pub(super) fn run(
    pairs: &Pairs,
    vocabulary: &Vocabulary,
    mut table: Vec<f32>,
    tuning: Tuning,
) -> Vec<f32> {
    let lessons = lessons(pairs, vocabulary);
    let samples = samples(pairs, vocabulary, Side::Weights);
    eprintln!("{tuning:?}");
    report(&samples, &table);
    let mut dice = Dice::new(tuning.seed);
    let mut step = Step::new(&table, tuning);
    let per_epoch = batches(&lessons, tuning, &mut Dice::new(0)).len();
    for epoch in 0..tuning.epochs {
        let mut loss = 0.0;
        for (number, (language, batch)) in
            batches(&lessons, tuning, &mut dice).into_iter().enumerate()
        {
            let done = (epoch * per_epoch + number) as f32 / (tuning.epochs * per_epoch) as f32;
            let lesson = &lessons[language];
            let queries = drawn(&batch, tuning.drop_of_query, &mut dice, |_, at| {
                lesson.queries.get(at)
            });
            let functions = drawn(&batch, tuning.drop, &mut dice, |dice, at| {
                if dice.chance(tuning.mask) {
                    lesson.masked.get(at)
                } else {
                    lesson.functions.get(at)
                }
            });
            loss += step.take(
                &mut table,
                &queries,
                &functions,
                tuning.rate * (1.0 - 0.95 * done),
            );
        }
        eprintln!("epoch {}: loss {:.4}", epoch + 1, loss / per_epoch as f64);
        if epoch % 3 == 2 || epoch + 1 == tuning.epochs {
            report(&samples, &table);
        }
    }
    table
}

type Bag = Vec<(u32, f32)>;

/// Returns the texts of a batch with tokens dropped at random; a text that would become empty stays
/// whole.
fn drawn<'a>(
    batch: &[usize],
    drop: f64,
    dice: &mut Dice,
    text: impl Fn(&mut Dice, usize) -> &'a [(u32, f32)],
) -> Vec<Bag> {
    let draw = |at: &usize| {
        let whole = text(dice, *at);
        let kept: Bag = whole
            .iter()
            .filter(|_| !dice.chance(drop))
            .copied()
            .collect();
        if kept.is_empty() {
            whole.to_vec()
        } else {
            kept
        }
    };
    batch.iter().map(draw).collect()
}

fn lessons(pairs: &Pairs, vocabulary: &Vocabulary) -> Vec<Lessons> {
    let of = |language: &Language| {
        let pairs = pairs
            .get(&(Side::Train, *language))
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut hidden = Bags::default();
        pairs
            .iter()
            .for_each(|pair| hidden.push(vocabulary, &masked(pair)));
        Lessons {
            language: *language,
            queries: Bags::new(vocabulary, pairs.iter().map(|pair| pair.query.as_str())),
            functions: Bags::new(vocabulary, pairs.iter().map(|pair| pair.code.as_str())),
            masked: hidden,
        }
    };
    Language::ALL.iter().map(of).collect()
}

/// Returns the batches of an epoch in random order: the index of the lessons, and the indexes of
/// their pairs.
fn batches(lessons: &[Lessons], tuning: Tuning, dice: &mut Dice) -> Vec<(usize, Vec<usize>)> {
    let mut batches = Vec::new();
    for (number, lesson) in lessons.iter().enumerate() {
        let count = lesson.queries.len();
        let wanted = (count as f64 * rounds(lesson.language)) as usize / tuning.batch;
        let mut pairs = Vec::new();
        while pairs.len() < wanted * tuning.batch {
            let shift = dice.below(tuning.run);
            let mut starts: Vec<usize> = (0..count.div_ceil(tuning.run))
                .map(|run| run * tuning.run)
                .collect();
            dice.shuffle(&mut starts);
            pairs.extend(
                starts
                    .iter()
                    .flat_map(|start| *start..(start + tuning.run).min(count))
                    .map(|at| (at + shift) % count),
            );
        }
        batches.extend(
            pairs
                .chunks_exact(tuning.batch)
                .take(wanted)
                .map(|batch| (number, batch.to_vec())),
        );
    }
    dice.shuffle(&mut batches);
    batches
}

type Samples = BTreeMap<(Language, bool), Sample>;

/// Returns samples of the pairs of a side, for every language with the functions' names and
/// without.
pub(super) fn samples(pairs: &Pairs, vocabulary: &Vocabulary, side: Side) -> Samples {
    let mut samples = Samples::new();
    for language in Language::ALL {
        let pairs = pairs
            .get(&(side, language))
            .map(Vec::as_slice)
            .unwrap_or_default();
        for is_masked in [false, true] {
            samples.insert(
                (language, is_masked),
                Sample::new(pairs, vocabulary, is_masked),
            );
        }
    }
    samples
}

/// Prints a line for each sample: BM25, the table, both.
pub(super) fn report(samples: &Samples, table: &[f32]) {
    let work: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = samples
            .iter()
            .map(|((language, is_masked), sample)| {
                scope.spawn(move || {
                    let score = sample.score(table);
                    let name = if *is_masked {
                        format!("{}*", language.name())
                    } else {
                        language.name().to_owned()
                    };
                    format!(
                        "{name} {:.3} {:.3} {:.3}",
                        score.words, score.table, score.fused
                    )
                })
            })
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    });
    eprintln!("  {}", work.join(" | "));
}
