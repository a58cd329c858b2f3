//! Fits the weights of the continuation's guesses to the votes of occurrences and the text that followed.
//!
//! One layer of tanh units and a logistic output unit, fitted by Adam on the log loss. The text is typed by a user who
//! accepts correct suggestions: accepted text is skipped, and a wrong suggestion that stays is sampled once.

use std::path::PathBuf;

use autocomplete::local::VoteSample;

use super::hunks::hunks;
use super::keys::one_key;
use super::person::{LocalTier, Open};
use super::repository::{ChangedFile, replay};
use crate::figure::Figure;

const UNITS: usize = 16;
const EPOCHS: usize = 10;
const BATCH: usize = 64;
const RATE: f32 = 0.004;

/// Longest new text that counts as typed rather than pasted, in bytes.
const MOST_BYTES: usize = 600;

/// Prints the weights; the figures are measured on a tenth of the votes, which is left out of the fit.
pub(super) fn run(repositories: &[PathBuf]) -> Result<Vec<Figure>, String> {
    let mut all: Vec<VoteSample> = Vec::new();
    for repository in repositories {
        replay(repository, super::commits(60), |moment, _| {
            let mut tier = LocalTier::new(moment.view.clone());
            for file in &moment.files {
                gather(&mut tier, file, &mut all);
            }
        })?;
        eprintln!("{}: {} votes", repository.display(), all.len());
    }
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (ix, vote) in all.iter().enumerate() {
        let part = if ix / 500 % 10 == 0 {
            &mut test
        } else {
            &mut train
        };
        part.push(vote);
    }
    let Some(first) = train.first() else {
        return Err("these repositories have no commits that change code".to_owned());
    };
    let mut net = Net::new(first.features.len());
    for epoch in 0..EPOCHS {
        shuffle(&mut train, epoch as u64);
        let rate = RATE / (1.0 + 0.5 * epoch as f32);
        train.chunks(BATCH).for_each(|batch| net.learn(batch, rate));
        eprintln!("epoch {epoch}: log loss {:.4}", net.loss(&test));
    }
    net.print();
    let right = test.iter().filter(|vote| vote.is_right).count();
    let n = test.len();
    let share = right as f64 / n.max(1) as f64;
    Ok(vec![
        Figure::alone("fit, log loss", f64::from(net.loss(&test)), "", n, None),
        Figure::alone("fit, share of right tokens", share, "", n, None),
    ])
}

fn gather(tier: &mut LocalTier, file: &ChangedFile, all: &mut Vec<VoteSample>) {
    let mut open = Open::new(file);
    tier.local.note_tree(&open.state());
    let mut clock = 1_000_000;
    for hunk in hunks(&file.old, &file.new) {
        clock += 60_000;
        if hunk.new.len() > MOST_BYTES {
            open.replace(hunk.old, &hunk.new, clock, tier);
            continue;
        }
        open.replace(hunk.old, "", clock, tier);
        open.caret = hunk.old.start;
        let mut left = hunk.new.as_str();
        let mut refused: Option<String> = None;
        while !left.is_empty() {
            let votes = tier.local.votes(&open.state(), left);
            // The guess that the present weights prefer would be shown.
            let first = votes.first().map(|vote| vote.token.clone());
            let is_right = votes.first().is_some_and(|vote| vote.is_right);
            let right = votes
                .iter()
                .filter(|vote| is_right && vote.is_right)
                .map(|it| it.bytes);
            let right = right.max().unwrap_or(0);
            if right > 1 || first != refused {
                all.extend(votes);
            }
            refused = first.filter(|_| right == 0);
            let taken = right.max(one_key(left));
            clock += 120;
            open.replace(base::Span::at(open.caret), &left[..taken], clock, tier);
            left = &left[taken..];
        }
    }
}

fn shuffle(votes: &mut [&VoteSample], seed: u64) {
    let mut random = Random::new(seed);
    for ix in (1..votes.len()).rev() {
        votes.swap(ix, (random.next() % (ix as u64 + 1)) as usize);
    }
}

struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The weights in one row: the inputs of each unit, then those of the output with its bias first.
struct Net {
    inputs: usize,
    weights: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
    steps: i32,
}

impl Net {
    fn new(inputs: usize) -> Self {
        let count = inputs * UNITS + UNITS + 1;
        let mut random = Random::new(3);
        let weight = |_| 0.2 * ((random.next() % 2000) as f32 / 1000.0 - 1.0);
        Self {
            inputs,
            weights: (0..count).map(weight).collect(),
            mean: vec![0.0; count],
            square: vec![0.0; count],
            steps: 0,
        }
    }

    fn layer(&self, features: &[f32]) -> Vec<f32> {
        let units = self.weights.chunks(self.inputs).take(UNITS);
        units
            .map(|weights| {
                let sum: f32 = weights.iter().zip(features).map(|(w, x)| w * x).sum();
                sum.tanh()
            })
            .collect()
    }

    fn output(&self, layer: &[f32]) -> f32 {
        let out = &self.weights[self.inputs * UNITS..];
        let sum = out[0] + out[1..].iter().zip(layer).map(|(w, x)| w * x).sum::<f32>();
        1.0 / (1.0 + (-sum).exp())
    }

    fn loss(&self, votes: &[&VoteSample]) -> f32 {
        let loss = votes.iter().map(|vote| {
            let likelihood = self.output(&self.layer(&vote.features));
            let likelihood = likelihood.clamp(0.0001, 0.9999);
            let told = if vote.is_right {
                likelihood
            } else {
                1.0 - likelihood
            };
            -told.ln()
        });
        loss.sum::<f32>() / votes.len().max(1) as f32
    }

    fn learn(&mut self, batch: &[&VoteSample], rate: f32) {
        let mut gradient = vec![0.0; self.weights.len()];
        let from = self.inputs * UNITS;
        for vote in batch {
            let layer = self.layer(&vote.features);
            let error = self.output(&layer) - f32::from(u8::from(vote.is_right));
            gradient[from] += error;
            for (unit, value) in layer.iter().enumerate() {
                gradient[from + 1 + unit] += error * value;
                let back = error * self.weights[from + 1 + unit] * (1.0 - value * value);
                let own = &mut gradient[unit * self.inputs..(unit + 1) * self.inputs];
                own.iter_mut()
                    .zip(vote.features)
                    .for_each(|(own, x)| *own += back * x);
            }
        }
        self.steps += 1;
        let first = 1.0 - 0.9_f32.powi(self.steps);
        let second = 1.0 - 0.999_f32.powi(self.steps);
        for (ix, gradient) in gradient.iter().enumerate() {
            let gradient = gradient / batch.len() as f32;
            self.mean[ix] = 0.9 * self.mean[ix] + 0.1 * gradient;
            self.square[ix] = 0.999 * self.square[ix] + 0.001 * gradient * gradient;
            let step = (self.mean[ix] / first) / ((self.square[ix] / second).sqrt() + 1e-8);
            self.weights[ix] -= rate * (step + 0.001 * self.weights[ix]);
        }
    }

    /// Prints the weights in the form of the table in `weights.rs`.
    fn print(&self) {
        let thousandths = |weights: &[f32]| -> Vec<i16> {
            weights
                .iter()
                .map(|weight| (weight * 1000.0).round() as i16)
                .collect()
        };
        println!("pub(super) const HIDDEN: [[i16; FEATURES]; {UNITS}] = [");
        for unit in self.weights.chunks(self.inputs).take(UNITS) {
            println!("    {:?},", thousandths(unit));
        }
        let out = thousandths(&self.weights[self.inputs * UNITS..]);
        println!(
            "];\n\npub(super) const OUT: [i16; {}] = {out:?};",
            out.len()
        );
    }
}
