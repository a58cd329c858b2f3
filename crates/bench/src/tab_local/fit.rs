//! Fits the weights of the continuation's guesses: logistic regression over what places said and what came.

use std::path::PathBuf;

use autocomplete::local::{Vote, votes};

use super::hunks::hunks;
use super::keys::one_key;
use super::person::Open;
use super::repository::replay;
use crate::figure::Figure;

/// Passes over all votes.
const EPOCHS: usize = 12;

const RATE: f32 = 0.03;

/// Prints the weights; the figures say how well they foretell on a tenth of the votes that they were not fitted on.
pub(super) fn run(repositories: &[PathBuf]) -> Result<Vec<Figure>, String> {
    let mut all: Vec<Vote> = Vec::new();
    for repository in repositories {
        replay(repository, super::commits(), |moment| {
            for file in &moment.files {
                let mut open = Open::new(file);
                for hunk in hunks(&file.old, &file.new) {
                    open.replace(hunk.old, "", 0, None);
                    open.caret = hunk.old.start;
                    let mut left = if hunk.new.len() <= 600 { hunk.new.as_str() } else { "" };
                    while !left.is_empty() {
                        all.extend(votes(&open.scene(), &moment.view, left));
                        let (key, rest) = left.split_at(one_key(left));
                        open.replace(base::Span::at(open.caret), key, 0, None);
                        left = rest;
                    }
                    if hunk.new.len() > 600 {
                        open.replace(base::Span::at(hunk.old.start), &hunk.new, 0, None);
                    }
                }
            }
        })?;
        eprintln!("{}: {} votes", repository.display(), all.len());
    }
    let (test, train): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(ix, _)| ix / 500 % 10 == 0);
    let Some((_, first)) = train.first() else {
        return Err("these repositories have no commits that change code".to_owned());
    };
    let mut weights = vec![0.0_f32; first.features.len()];
    for epoch in 0..EPOCHS {
        let rate = RATE / (1.0 + epoch as f32);
        for (_, vote) in &train {
            let error = f32::from(u8::from(vote.is_right)) - likelihood(&weights, vote);
            for (weight, x) in weights.iter_mut().zip(vote.features) {
                *weight += rate * error * x;
            }
        }
    }
    println!("weights: {weights:.3?}");
    let loss: f32 = test
        .iter()
        .map(|(_, vote)| {
            let likelihood = likelihood(&weights, vote).clamp(0.0001, 0.9999);
            -if vote.is_right { likelihood.ln() } else { (1.0 - likelihood).ln() }
        })
        .sum();
    let right = test.iter().filter(|(_, vote)| vote.is_right).count();
    let n = test.len();
    Ok(vec![
        Figure::alone("fit, log loss", f64::from(loss) / n.max(1) as f64, "", n, None),
        Figure::alone("fit, share of right tokens", right as f64 / n.max(1) as f64, "", n, None),
    ])
}

fn likelihood(weights: &[f32], vote: &Vote) -> f32 {
    let sum: f32 = weights.iter().zip(vote.features).map(|(w, x)| w * x).sum();
    1.0 / (1.0 + (-sum).exp())
}
