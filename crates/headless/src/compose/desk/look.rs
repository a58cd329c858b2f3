//! Looking at the trees: what each agent changed, and what would not fit together. Blocks on the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use composer::board::Line;
use composer::desk::{Dispute, Hunk, Verdict};
use composer::forecast::{Forecast, Gather, Report, Touched};
use composer::land::Buffers;
use composer::review::{Review, Reviewed, Unknown};
use git::Repository;
use git::merge::TreePath;
use project::Unsaved;

use crate::compose::land::Lander;
use crate::compose::review::{gather, is_reviewable, refused, reviewed, work_of_job, writers};
use crate::compose::trees::{Trees, lock_of};

/// What looks, and remembers what did not change.
pub(super) struct Looker {
    trees: Trees,
    lander: Arc<Lander>,
    gather: Gather,
    forecast: Forecast,
    unsaved: Arc<Unsaved>,
    /// The last review, with what it was of.
    last: Option<(Vec<Print>, Review)>,
}

/// Tells whether a job's hunks may have become others: what it changed, and how many changes were written down.
#[derive(Clone, Debug, PartialEq)]
struct Print {
    session: String,
    base: String,
    changes: Arc<git::merge::Changes>,
    authored: usize,
}

/// What was seen.
pub(super) struct Seen {
    pub(super) branch: String,
    /// Every hunk; nothing is decided in it.
    pub(super) review: Review,
    /// What each job changed.
    pub(super) sessions: Vec<Reviewed>,
    pub(super) report: Report,
    pub(super) disputes: Vec<Dispute>,
    pub(super) refused: BTreeMap<String, Vec<String>>,
    pub(super) trouble: Option<String>,
}

impl Looker {
    pub(super) fn new(
        trees: &Trees,
        lander: &Arc<Lander>,
        unsaved: Arc<Unsaved>,
    ) -> Result<Self, String> {
        Ok(Self {
            trees: trees.clone(),
            lander: lander.clone(),
            gather: gather(trees)?,
            forecast: Forecast::default(),
            unsaved,
            last: None,
        })
    }

    pub(super) fn look(&mut self, lines: &[Line]) -> Result<Seen, String> {
        let open: Vec<&Line> = lines.iter().filter(|line| is_reviewable(line)).collect();
        let mut works = Vec::new();
        let mut trouble = None;
        for line in &open {
            match work_of_job(&self.trees, line) {
                Ok(work) => works.push(work),
                Err(sentence) => trouble = Some(sentence),
            }
        }
        let repository = Repository::discover(self.trees.hub());
        let repository = repository.map_err(|error| error.to_string())?;
        let gathered = self
            .gather
            .read(&repository, &works, &self.buffers(), &Touched::Anyone);
        let gathered = gathered.map_err(|error| error.to_string())?;
        let report = self.forecast.refresh(&repository, &gathered.input);
        let report = report.map_err(|error| error.to_string())?;
        let sessions: Vec<Reviewed> = gathered.input.sessions.iter().map(reviewed).collect();
        let is_read = |line: &&&Line| sessions.iter().any(|it| it.session == line.job);
        let read: Vec<&Line> = open.iter().filter(is_read).copied().collect();
        let disputes = self.lander.disputes(lines).unwrap_or_else(|sentence| {
            trouble = Some(sentence);
            Vec::new()
        });
        let refused = gathered
            .refused
            .into_iter()
            .map(|(job, all)| (job, all.iter().map(refused).collect()));
        Ok(Seen {
            branch: gathered.input.branch,
            review: self.review(&repository, &sessions, &read)?,
            sessions,
            report,
            disputes,
            refused: refused.collect(),
            trouble: trouble.or_else(|| gathered.unread.into_values().next()),
        })
    }

    /// The hunks; those of the last time where nothing they come from is another.
    fn review(
        &mut self,
        repository: &Repository,
        sessions: &[Reviewed],
        lines: &[&Line],
    ) -> Result<Review, String> {
        let writers = writers(&self.trees, lines)?;
        let prints = sessions.iter().map(|it| Print {
            session: it.session.clone(),
            base: it.base.0.clone(),
            changes: it.changes.clone(),
            authored: writers
                .0
                .get(&it.session)
                .map_or(0, |authored| lock_of(authored).changes().len()),
        });
        let prints: Vec<Print> = prints.collect();
        if let Some((known, review)) = &self.last
            && *known == prints
        {
            return Ok(review.clone());
        }
        let review = Review::of(repository, sessions, &writers, &Unknown);
        let review = review.map_err(|error| error.to_string())?;
        self.last = Some((prints, review.clone()));
        Ok(review)
    }

    /// The person's texts that are not saved, by their names in the checkout.
    fn buffers(&self) -> Buffers {
        let hub = self.trees.hub();
        let texts = self.unsaved.paths().into_iter().filter_map(|path| {
            let inner = path.relative_to(hub)?;
            let text = self.unsaved.text(&path)?;
            Some((TreePath::of_path(inner), Arc::from(text.into_bytes())))
        });
        texts.collect()
    }
}

/// The hunks of a review as a window shows them.
pub(super) fn shown(review: &Review) -> Vec<Hunk> {
    let plain = |lines: Vec<String>| {
        let plain = lines.iter().map(|line| line.trim_end_matches(['\r', '\n']));
        plain.map(str::to_owned).collect::<Vec<_>>()
    };
    let hunks = review.hunks().iter().map(|hunk| {
        let (before, after) = review.lines(hunk);
        let path = hunk.path.to_string();
        let reason = || hunk.reason().map(|reason| reason.told().to_owned());
        Hunk {
            id: hunk.id.to_string(),
            agent: hunk.session.clone(),
            symbol: hunk.symbol.clone(),
            line: hunk.row() + 1,
            before: plain(before),
            after: plain(after),
            note: hunk.note(),
            author: others(&hunk.authors),
            risk: run_by(&path).or_else(reason),
            verdict: Verdict::Open,
            path,
        }
    });
    hunks.collect()
}

/// Who had a hand in it besides the agent itself.
fn others(authors: &[String]) -> Option<String> {
    let mut others: Vec<&str> = Vec::new();
    for author in authors {
        let name = match author.as_str() {
            it if it.starts_with("the agent") => continue,
            it if it.starts_with("a command of the agent") => "a command",
            "the person" => "you",
            it => it,
        };
        if !others.contains(&name) {
            others.push(name);
        }
    }
    (!others.is_empty()).then(|| others.join(", "))
}

/// Why a file deserves a look: what it is run by.
fn run_by(path: &str) -> Option<String> {
    let name = sandbox::names::of(std::path::Path::new(path))?;
    Some(name.why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::others;

    #[test]
    fn the_agent_itself_is_no_author_worth_naming() {
        for (authors, told) in [
            (&["the agent s1 (turn 2)"] as &[&str], None),
            (&[], None),
            (
                &["the agent s1 (turn 1)", "the person", "an undo"],
                Some("you, an undo"),
            ),
            (
                &[
                    "a command of the agent s1 (turn 1)",
                    "a command of the agent s1 (turn 2)",
                ],
                Some("a command"),
            ),
        ] {
            let authors: Vec<String> = authors.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(others(&authors).as_deref(), told, "{authors:?}");
        }
    }
}
