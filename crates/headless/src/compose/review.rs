//! What agents changed, hunk by hunk, and which of it is to land.
//!
//! Decisions are kept by what a hunk does, not by where it stands: one that changes has to be decided anew.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use composer::Work;
use composer::authored::Writers;
use composer::board::Line;
use composer::forecast::{Gather, Session, Touched};
use composer::land::Buffers;
use composer::review::{Choice, Hunk, HunkId, Part, Reviewed, Unknown};
use host::{Dirs, Files as _, RealFiles};
use serde_json::json;

use crate::run::show::line as json_line;
use crate::{Streams, tell, unwritten};

use super::Where;
use super::land::{repository, work_of};
use super::past::{of, place_of};
use super::trees::Trees;

/// The largest file of decisions that is read, in bytes.
const MOST: u64 = 16 << 20;
/// Lines of a hunk that are shown for each side.
const LINES: usize = 12;

#[derive(Args)]
pub(super) struct Review {
    #[command(flatten)]
    place: Where,
    /// The agents, such as a1 a2; all that have not landed without any
    jobs: Vec<String>,
    /// Let these hunks land, by their names or how these begin
    #[arg(long, value_name = "HUNK", value_delimiter = ',')]
    accept: Vec<String>,
    /// Keep these hunks from landing
    #[arg(long, value_name = "HUNK", value_delimiter = ',')]
    reject: Vec<String>,
    /// Let all that is shown land
    #[arg(long, conflicts_with_all = ["accept", "reject"])]
    all: bool,
    /// Print an object as a line of JSON for each hunk
    #[arg(long)]
    json: bool,
}

/// What the person decided about hunks. Unbounded: grows with every hunk that is decided about.
#[derive(Debug, Default)]
pub(super) struct Decisions(BTreeMap<HunkId, Choice>);

/// What jobs changed.
pub(super) struct Looked {
    /// Hunk by hunk, with what was decided.
    pub(super) review: composer::review::Review,
    /// As a whole, by job.
    pub(super) sessions: Vec<Reviewed>,
    /// What is not taken of it, in sentences.
    pub(super) refused: Vec<String>,
}

impl Review {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        let mut lines: Vec<&Line> = Vec::new();
        for job in &self.jobs {
            lines.push(of(&past, job)?);
        }
        if self.jobs.is_empty() {
            let open = past.lines.iter().filter(|line| is_reviewable(line));
            lines.extend(there(&trees, open.collect(), streams));
        }
        let mut looked = look(&trees, &lines)?;
        let known =
            |sentence| format!("{sentence}; `burin-agent compose review` names those there are");
        let review = &mut looked.review;
        for (names, choice) in [
            (&self.accept, Choice::Accepted),
            (&self.reject, Choice::Rejected),
        ] {
            let found: Result<Vec<HunkId>, String> =
                names.iter().map(|name| review.find(name)).collect();
            review.decide(&found.map_err(known)?, Some(choice));
        }
        if self.all {
            let all: Vec<HunkId> = review.hunks().iter().map(|hunk| hunk.id).collect();
            review.decide(&all, Some(Choice::Accepted));
        }
        let mut decisions = Decisions::read(&trees)?;
        decisions.take(review);
        decisions.write(&trees)?;
        for hunk in looked.review.hunks() {
            let told = match self.json {
                true => json_line(streams, &as_json(&looked.review, hunk)),
                false => write!(streams.output, "{}", as_text(&looked.review, hunk)),
            };
            told.map_err(unwritten)?;
        }
        let refused = looked.refused.iter();
        refused.for_each(|sentence| tell(streams, sentence));
        Ok(ExitCode::SUCCESS)
    }
}

impl Decisions {
    pub(super) fn read(trees: &Trees) -> Result<Self, String> {
        let path = trees.folder().join("review.json");
        let kept: BTreeMap<String, bool> = match RealFiles.read(&path, MOST) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                format!("{path} cannot be read: {error}; remove it to decide anew")
            })?,
            Err(error) if error.is_not_found() => BTreeMap::new(),
            Err(error) => return Err(error.to_string()),
        };
        let kept = kept.into_iter().filter_map(|(name, may_land)| {
            let choice = match may_land {
                true => Choice::Accepted,
                false => Choice::Rejected,
            };
            Some((HunkId::parse(&name)?, choice))
        });
        Ok(Self(kept.collect()))
    }

    pub(super) fn write(&self, trees: &Trees) -> Result<(), String> {
        let kept = self.0.iter();
        let kept: BTreeMap<String, bool> = kept
            .map(|(id, choice)| (id.to_string(), *choice == Choice::Accepted))
            .collect();
        let bytes = serde_json::to_vec(&kept).map_err(|error| error.to_string())?;
        let path = trees.folder().join("review.json");
        RealFiles
            .write_private(&path, &bytes)
            .map_err(|error| error.to_string())
    }

    /// What was decided about a hunk.
    pub(super) fn of(&self, hunk: HunkId) -> Option<Choice> {
        self.0.get(&hunk).copied()
    }

    /// Takes over what a review decided about its hunks.
    pub(super) fn take(&mut self, review: &composer::review::Review) {
        for hunk in review.hunks() {
            match review.choice(hunk.id) {
                Some(choice) => self.0.insert(hunk.id, choice),
                None => self.0.remove(&hunk.id),
            };
        }
    }
}

/// Whether a job's work can be looked at and has not landed.
pub(super) fn is_reviewable(line: &Line) -> bool {
    let has_landed = matches!(line.state, composer::board::State::Landed { .. });
    line.place.is_some() && !has_landed
}

/// Those of the jobs whose worktrees can be looked into. The person is told why the others cannot: what happened to one
/// does not keep the others.
pub(super) fn there<'a>(
    trees: &Trees,
    lines: Vec<&'a Line>,
    streams: &mut Streams<'_>,
) -> Vec<&'a Line> {
    let mut there = lines;
    there.retain(|line| {
        let held = place_of(line).and_then(|place| trees.hold(&place.lease));
        match held {
            Ok(()) => true,
            Err(why) => {
                tell(streams, &format!("{}: {why}", line.job));
                false
            }
        }
    });
    there
}

/// What jobs changed as of now, with what was decided about it. Blocks on the disk.
pub(super) fn look(trees: &Trees, lines: &[&Line]) -> Result<Looked, String> {
    let mut works = Vec::new();
    for line in lines {
        works.push(work_of_job(trees, line)?);
    }
    let repository = repository(trees.hub())?;
    let gathered = gather(trees)?
        .read(&repository, &works, &Buffers::new(), &Touched::Anyone)
        .map_err(|error| error.to_string())?;
    if let Some(sentence) = gathered.unread.into_values().next() {
        return Err(sentence);
    }
    let refused = gathered.refused.iter().flat_map(|(job, all)| {
        let told = |it: &git::land::Refused| format!("{job}: {}", refused(it));
        all.iter().map(told).collect::<Vec<_>>()
    });
    let sessions: Vec<Reviewed> = gathered.input.sessions.iter().map(reviewed).collect();
    let writers = writers(trees, lines)?;
    let review = composer::review::Review::of(&repository, &sessions, &writers, &Unknown);
    let decisions = Decisions::read(trees)?;
    let review = review.map_err(|error| error.to_string())?;
    Ok(Looked {
        review: review.with_choices(|id| decisions.of(id)),
        refused: refused.collect(),
        sessions,
    })
}

/// What reads trees, and remembers what did not change.
pub(super) fn gather(trees: &Trees) -> Result<Gather, String> {
    let memory = trees.folder().join("forecast");
    let gather = Gather::new(trees.hub(), &memory, Arc::new(RealFiles));
    gather.map_err(|error| error.to_string())
}

/// A job's work, called as the board calls it.
pub(super) fn work_of_job(trees: &Trees, line: &Line) -> Result<Work, String> {
    let mut work = work_of(trees, line, place_of(line)?)?;
    work.session.clone_from(&line.job);
    work.title.clone_from(&line.task.title);
    Ok(work)
}

/// What was read of a job's tree, to be reviewed.
pub(super) fn reviewed(session: &Session) -> Reviewed {
    Reviewed {
        session: session.name.clone(),
        base: session.base.clone(),
        changes: session.changes.clone(),
    }
}

/// A name that is not taken, in a sentence.
pub(super) fn refused(one: &git::land::Refused) -> String {
    format!("{} cannot land: {}", one.path, one.reason)
}

/// Who wrote what in the trees of jobs.
pub(super) fn writers(trees: &Trees, lines: &[&Line]) -> Result<Writers, String> {
    let mut writers = Writers::default();
    for line in lines {
        let authored = trees.authored(place_of(line)?)?;
        writers.0.insert(line.job.clone(), authored);
    }
    Ok(writers)
}

fn as_json(review: &composer::review::Review, hunk: &Hunk) -> serde_json::Value {
    let (removed, added) = review.lines(hunk);
    let row = match &hunk.part {
        Part::Lines { before, .. } => before.start,
        _ => 0,
    };
    json!({
        "hunk": hunk.id.to_string(),
        "job": hunk.session,
        "path": hunk.path.to_path(),
        "symbol": hunk.symbol,
        "row": row,
        "removed": removed,
        "added": added,
        "note": hunk.note(),
        "risk": hunk.reason().map(composer::review::Reason::told),
        "by": hunk.authors,
        "accepted": review.choice(hunk.id).map(|choice| choice == Choice::Accepted),
    })
}

fn as_text(review: &composer::review::Review, hunk: &Hunk) -> String {
    let mark = match review.choice(hunk.id) {
        Some(Choice::Accepted) => "accepted",
        Some(Choice::Rejected) => "rejected",
        None => "open",
    };
    let (name, job, path) = (review.short(hunk.id), &hunk.session, &hunk.path);
    let (row, by) = (hunk.row() + 1, hunk.authors.join(", "));
    let mut text = format!("{name}  {job:<4} {mark:<8}  {path}:{row}");
    let symbol = hunk.symbol.iter().map(|symbol| format!("in {symbol}"));
    let risk = hunk.reason().map(|reason| reason.told().to_owned());
    for about in symbol.chain(hunk.note()).chain(risk) {
        text.push_str(&format!("  {about}"));
    }
    text.push_str(&format!("  by {by}\n"));
    let (removed, added) = review.lines(hunk);
    for (sign, lines) in [('-', &removed), ('+', &added)] {
        for line in lines.iter().take(LINES) {
            let line = line.trim_end_matches(['\n', '\r']);
            text.push_str(&format!("    {sign} {line}\n"));
        }
        if lines.len() > LINES {
            let more = lines.len() - LINES;
            text.push_str(&format!("    {sign} … {more} more lines\n"));
        }
    }
    text
}
