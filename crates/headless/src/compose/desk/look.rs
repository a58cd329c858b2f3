//! Looking at the trees: what each agent changed, and what would not fit together. Blocks on the disk.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use composer::board::Line;
use composer::desk::{Hunk, Verdict};
use composer::forecast::{Forecast, Gather, Report, Touched};
use composer::land::Buffers;
use git::Repository;
use git::merge::TreePath;
use host::RealFiles;
use project::Unsaved;

use crate::compose::land::work_of;
use crate::compose::past::place_of;
use crate::compose::review::{is_reviewable, named};
use crate::compose::trees::{Trees, lock_of};

/// What looks, and remembers what did not change.
pub(super) struct Looker {
    trees: Trees,
    gather: Gather,
    forecast: Forecast,
    unsaved: Arc<Unsaved>,
}

/// What was seen.
pub(super) struct Seen {
    pub(super) branch: String,
    pub(super) hunks: Vec<Hunk>,
    pub(super) report: Report,
    pub(super) refused: BTreeMap<String, Vec<String>>,
    pub(super) trouble: Option<String>,
}

impl Looker {
    pub(super) fn new(trees: &Trees, unsaved: Arc<Unsaved>) -> Result<Self, String> {
        let memory = trees.folder().join("forecast");
        let gather = Gather::new(trees.hub(), &memory, Arc::new(RealFiles));
        Ok(Self {
            trees: trees.clone(),
            gather: gather.map_err(|error| error.to_string())?,
            forecast: Forecast::default(),
            unsaved,
        })
    }

    pub(super) fn look(&mut self, lines: &[Line]) -> Result<Seen, String> {
        let lines: Vec<&Line> = lines.iter().filter(|line| is_reviewable(line)).collect();
        let mut hunks = Vec::new();
        let mut works = Vec::new();
        let mut trouble = None;
        for line in &lines {
            let looked = self
                .hunks(line)
                .and_then(|own| Ok((own, work_of(&self.trees, line, place_of(line)?)?)));
            match looked {
                Ok((own, mut work)) => {
                    hunks.extend(own);
                    // The forecast speaks of jobs.
                    work.session.clone_from(&line.job);
                    work.title.clone_from(&line.task.title);
                    works.push(work);
                }
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
        let refused = gathered.refused.into_iter().map(|(job, all)| {
            let texts = all
                .iter()
                .map(|it| format!("{} cannot land: {}", it.path, it.reason));
            (job, texts.collect())
        });
        Ok(Seen {
            branch: gathered.input.branch,
            hunks,
            report,
            refused: refused.collect(),
            trouble: trouble.or_else(|| gathered.unread.into_values().next()),
        })
    }

    fn hunks(&self, line: &Line) -> Result<Vec<Hunk>, String> {
        let authored = self.trees.authored(place_of(line)?)?;
        let authored = lock_of(&authored);
        // Lines that went and came above a hunk move it: by file, as hunks come in their order.
        let mut shift: HashMap<String, i64> = HashMap::new();
        let hunks = named(line, &authored)?.into_iter().map(|one| {
            let moved = shift.entry(one.hunk.path.clone()).or_default();
            let row = (i64::from(one.hunk.row) + *moved).max(0);
            *moved += one.hunk.added.len() as i64 - one.hunk.removed.len() as i64;
            let plain = |lines: &[String]| {
                let plain = lines.iter().map(|line| line.trim_end_matches(['\r', '\n']));
                plain.map(str::to_owned).collect::<Vec<_>>()
            };
            let others: Vec<String> = one
                .authors
                .iter()
                .filter(|author| !author.starts_with("the agent"))
                .cloned()
                .collect();
            let risk = composer_risk(&one.hunk.path);
            let (before, after) = (plain(&one.hunk.removed), plain(&one.hunk.added));
            let note = (before.is_empty() && after.is_empty()).then(|| "no text".to_owned());
            Hunk {
                id: one.name,
                agent: line.job.clone(),
                path: one.hunk.path,
                symbol: None,
                line: u32::try_from(row).unwrap_or_default() + 1,
                before,
                after,
                note,
                author: (!others.is_empty()).then(|| others.join(", ")),
                risk,
                verdict: Verdict::Open,
            }
        });
        Ok(hunks.collect())
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

/// Why a file deserves a look: what it is run by.
fn composer_risk(path: &str) -> Option<String> {
    let name = sandbox::names::of(std::path::Path::new(path))?;
    Some(name.why.to_owned())
}
