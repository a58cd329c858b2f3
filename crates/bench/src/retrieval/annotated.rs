//! semble's published questions, answered by Burin and semble over the same repositories with the
//! same table.
//!
//! The measure is that of semble's own benchmark. Chunks are ranked as answered; the rank of a target is that of the
//! first chunk in its file (and on its lines, if it has lines); targets whose file exists count.

use std::path::{Path, PathBuf};

use index::{Index, IndexQuery, RankWeights};
use md5::{Digest, Md5};
use serde_json::Value;

use super::semble::{Lines, Semble, Tokens};
use super::{sample, score};
use crate::figure::Figure;

/// Minimum lead over semble.
const AHEAD: f64 = 0.01;

/// A file, with its lines counted from 1 if the question names them.
#[derive(Clone, Debug)]
struct Target {
    path: String,
    lines: Option<(u64, u64)>,
}

/// A question with its answers.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) kind: String,
    targets: Vec<Target>,
}

/// A pinned repository with its questions.
pub(super) struct Repository {
    pub(super) name: String,
    /// The indexed folder of the checkout.
    pub(super) root: PathBuf,
    pub(super) questions: Vec<Question>,
}

impl Repository {
    /// Returns whether weights are fitted on it; then it is not measured.
    pub(super) fn is_fitted_on(&self) -> bool {
        is_fitted_on(&self.name)
    }
}

/// Returns whether the md5 of the name is 0 modulo 3.
fn is_fitted_on(name: &str) -> bool {
    let rest = Md5::digest(name)
        .iter()
        .fold(0, |rest, byte| (rest * 256 + u32::from(*byte)) % 3);
    rest == 0
}

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let repositories = repositories()?;
    let measured: Vec<&Repository> = repositories
        .iter()
        .filter(|repository| !repository.is_fitted_on())
        .collect();
    let mut peers = [
        Semble::start(Tokens::Plain)?,
        Semble::start(Tokens::Prepared)?,
    ];
    let (mut ours, mut ahead) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut theirs = [Vec::new(), Vec::new()];
    let mut figures = Vec::new();
    for repository in &measured {
        let gains = repository.gains(&sample::open(&repository.root)?, &RankWeights::default());
        figures.push(Figure::mean(
            format!("{}: NDCG@10", repository.name),
            score::mean(&gains),
            gains.len(),
            None,
        ));
        for (ix, peer) in peers.iter_mut().enumerate() {
            let other = repository.peer_gains(peer)?;
            let pairs = gains.iter().zip(&other);
            ahead[ix].push(
                pairs
                    .map(|(ours, theirs)| ours - theirs)
                    .collect::<Vec<f64>>(),
            );
            theirs[ix].push(other);
        }
        if let Some(figure) = figures.last() {
            eprintln!(
                "{figure}  semble {:.3}",
                score::mean(&theirs[0][ours.len()]).0
            );
        }
        ours.push(gains);
    }
    figures.extend(summary(&ours, &theirs, &ahead));
    Ok(figures)
}

fn summary(
    ours: &[Vec<f64>],
    theirs: &[Vec<Vec<f64>>; 2],
    ahead: &[Vec<Vec<f64>>; 2],
) -> Vec<Figure> {
    let questions = ours.iter().map(Vec::len).sum();
    let over = |name: String, groups: &[Vec<f64>]| {
        Figure::alone(name, score::interval(groups).0, "", questions, None)
    };
    let mut figures = vec![over(
        format!("NDCG@10 over {} repositories", ours.len()),
        ours,
    )];
    let names = [
        "semble, the same table",
        "semble, the same table and preparation of words",
    ];
    for (ix, name) in names.into_iter().enumerate() {
        figures.push(over(format!("NDCG@10 {name}"), &theirs[ix]));
        let (mean, low, high) = score::interval(&ahead[ix]);
        let name = format!("NDCG@10 ahead of {name} [{low:.3}, {high:.3}]");
        figures.push(Figure::alone(name, mean, "", questions, None).at_least(AHEAD));
    }
    let better = ahead[0]
        .iter()
        .filter(|gains| score::mean(gains).0 >= AHEAD)
        .count();
    let name = "repositories where ours is ahead by 0.01";
    figures.push(Figure::alone(name, better as f64, "", ours.len(), None).at_least(5.0));
    figures
}

impl Repository {
    /// Returns the gain of each question's answer.
    pub(super) fn gains(&self, index: &Index, weights: &RankWeights) -> Vec<f64> {
        let answered = self.questions.iter().map(|question| {
            let hits = index
                .search_weighted(&IndexQuery::new(&question.text, score::DEPTH), weights)
                .hits;
            let hits: Vec<Lines> = hits
                .iter()
                .map(|hit| {
                    let path = hit.path.to_string_lossy().into_owned();
                    (path, u64::from(hit.rows.start) + 1, u64::from(hit.rows.end))
                })
                .collect();
            self.gain(question, &hits)
        });
        answered.collect()
    }

    fn peer_gains(&self, semble: &mut Semble) -> Result<Vec<f64>, String> {
        let texts: Vec<&str> = self
            .questions
            .iter()
            .map(|question| question.text.as_str())
            .collect();
        let answer = semble.ask(&self.root, &texts, score::DEPTH, 1)?;
        let answered = self.questions.iter().zip(&answer.hits);
        Ok(answered
            .map(|(question, hits)| self.gain(question, hits))
            .collect())
    }

    fn gain(&self, question: &Question, hits: &[Lines]) -> f64 {
        let place = |target: &Target| hits.iter().position(|hit| target.is_hit(hit));
        let places: Vec<usize> = question.targets.iter().filter_map(place).collect();
        score::gain(&places, question.targets.len())
    }
}

impl Question {
    /// Returns the targets for display.
    pub(super) fn wanted(&self) -> String {
        let paths: Vec<&str> = self
            .targets
            .iter()
            .map(|target| target.path.as_str())
            .collect();
        paths.join(", ")
    }
}

impl Target {
    fn is_hit(&self, (path, first, last): &Lines) -> bool {
        let is_there = self
            .path
            .strip_suffix(path.as_str())
            .is_some_and(|before| before.is_empty() || before.ends_with('/'));
        is_there
            && self
                .lines
                .is_none_or(|(start, end)| *first <= end && start <= *last)
    }
}

/// Returns the available repositories, sorted by name.
pub(super) fn repositories() -> Result<Vec<Repository>, String> {
    const FILL: &str = "set BURIN_SEMBLE to a folder with semble's benchmarks/repos.json and \
         benchmarks/annotations/*.json (github.com/MinishLab/semble), and in repos/NAME a checkout of each \
         repository at the revision that repos.json pins";
    let folder = std::env::var_os("BURIN_SEMBLE")
        .map(PathBuf::from)
        .ok_or(FILL)?;
    let list = json(&folder.join("repos.json")).map_err(|error| format!("{error}; {FILL}"))?;
    let mut repositories = Vec::new();
    for entry in list.as_array().into_iter().flatten() {
        let name = entry["name"].as_str().unwrap_or_default();
        let checkout = folder.join("repos").join(name);
        let questions = folder.join("annotations").join(format!("{name}.json"));
        if !checkout.is_dir() || !questions.is_file() {
            continue;
        }
        let root = entry["benchmark_root"].as_str().unwrap_or_default();
        let questions = json(&questions)?;
        let questions = questions.as_array().into_iter().flatten();
        repositories.push(Repository {
            name: name.to_owned(),
            root: checkout.join(root),
            questions: questions
                .filter_map(|entry| question(entry, &checkout))
                .collect(),
        });
    }
    repositories.sort_by(|left, right| left.name.cmp(&right.name));
    match repositories
        .iter()
        .filter(|repository| !repository.is_fitted_on())
        .count()
    {
        0..5 => Err(format!(
            "fewer than five annotated repositories are there; {FILL}"
        )),
        _ => Ok(repositories),
    }
}

fn json(path: &Path) -> Result<Value, String> {
    let cannot = |why: String| format!("cannot read {}: {why}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| cannot(error.to_string()))
}

fn question(entry: &Value, checkout: &Path) -> Option<Question> {
    let listed =
        ["relevant", "secondary"].map(|key| entry[key].as_array().cloned().unwrap_or_default());
    let targets = listed.iter().flatten().filter_map(target);
    Some(Question {
        text: entry["query"].as_str()?.to_owned(),
        kind: entry["category"].as_str().unwrap_or("none").to_owned(),
        targets: targets
            .filter(|target| checkout.join(&target.path).is_file())
            .collect(),
    })
}

fn target(value: &Value) -> Option<Target> {
    let path = value.as_str().or(value["path"].as_str())?;
    Some(Target {
        path: path.to_owned(),
        lines: value["start_line"].as_u64().zip(value["end_line"].as_u64()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_hit_in_its_file_and_on_its_lines() {
        let check = |path: &str, lines, hit: (&str, u64, u64), is_hit| {
            let target = Target {
                path: path.to_owned(),
                lines,
            };
            assert_eq!(
                target.is_hit(&(hit.0.to_owned(), hit.1, hit.2)),
                is_hit,
                "{path} {hit:?}"
            );
        };
        check("lib/rack/utils.rb", None, ("utils.rb", 1, 9), true);
        check("lib/rack/utils.rb", None, ("ils.rb", 1, 9), false);
        check("a.rb", Some((10, 20)), ("a.rb", 1, 9), false);
        check("a.rb", Some((10, 20)), ("a.rb", 5, 10), true);
    }

    #[test]
    fn no_repository_is_both_fitted_on_and_measured() {
        assert!(is_fitted_on("tokio") && is_fitted_on("zod"));
        assert!(!is_fitted_on("axum") && !is_fitted_on("gson"));
    }
}
