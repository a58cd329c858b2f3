//! What agents changed, hunk by hunk, and which of it is to land.
//!
//! Decisions are kept by what a hunk says, not by where it stands: one that changes has to be decided anew.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use composer::authored::Authored;
use composer::best::{Hunk, Pick, hunks_of};
use composer::board::Line;
use host::{ContentHash, Dirs, Files as _, RealFiles};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::run::show::line as json_line;
use crate::{Streams, unwritten};

use super::Where;
use super::past::{of, place_of};
use super::trees::{Trees, lock_of};

/// The largest file of decisions that is read, in bytes.
const MOST: u64 = 16 << 20;
/// Lines of a hunk that are shown for each side.
const LINES: usize = 12;

#[derive(Args)]
pub(super) struct Review {
    #[command(flatten)]
    place: Where,
    /// Whose: a1 a2; all that have not landed without any
    jobs: Vec<String>,
    /// Let these hunks land, by their names
    #[arg(long, value_name = "HUNK", value_delimiter = ',')]
    accept: Vec<String>,
    /// Keep these hunks from landing
    #[arg(long, value_name = "HUNK", value_delimiter = ',')]
    reject: Vec<String>,
    /// Let all that is shown land
    #[arg(long, conflicts_with_all = ["accept", "reject"])]
    all: bool,
    /// Print a line of JSON for each hunk
    #[arg(long)]
    json: bool,
}

/// What the person decided about hunks, by their names: whether they may land.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Decisions(BTreeMap<String, bool>);

/// A hunk with its name and those who wrote it.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) hunk: Hunk,
    pub(super) authors: Vec<String>,
}

impl Review {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (trees, past) = self.place.look(dirs)?;
        let mut decisions = Decisions::read(&trees)?;
        let mut lines: Vec<&Line> = Vec::new();
        for job in &self.jobs {
            lines.push(of(&past, job)?);
        }
        if self.jobs.is_empty() {
            let open = past.lines.iter().filter(|line| is_reviewable(line));
            lines.extend(open);
        }
        let mut known = Vec::new();
        for line in lines {
            let authored = trees.authored(place_of(line)?)?;
            let named = named(line, &lock_of(&authored))?;
            known.extend(named.iter().map(|it| it.name.clone()));
            if self.all {
                let names = named.iter().map(|it| (it.name.clone(), true));
                decisions.0.extend(names);
            }
            for one in &named {
                let stands = self.stands(&one.name, &decisions);
                let told = match self.json {
                    true => json_line(streams, &as_json(line, one, stands)),
                    false => write!(streams.output, "{}", as_text(one, stands)),
                };
                told.map_err(unwritten)?;
            }
        }
        for (names, is_accepted) in [(&self.accept, true), (&self.reject, false)] {
            for name in names {
                if !known.contains(name) {
                    return Err(format!(
                        "there is no hunk \"{name}\"; `burin-agent compose review` names those there are"
                    ));
                }
                decisions.0.insert(name.clone(), is_accepted);
            }
        }
        decisions.write(&trees)?;
        Ok(ExitCode::SUCCESS)
    }

    fn stands(&self, name: &String, decisions: &Decisions) -> Option<bool> {
        match (self.accept.contains(name), self.reject.contains(name)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => decisions.0.get(name).copied(),
        }
    }
}

impl Decisions {
    pub(super) fn read(trees: &Trees) -> Result<Self, String> {
        let path = trees.folder().join("review.json");
        match RealFiles.read(&path, MOST) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                format!("{path} cannot be read: {error}; remove it to decide anew")
            }),
            Err(error) if error.is_not_found() => Ok(Self::default()),
            Err(error) => Err(error.to_string()),
        }
    }

    pub(super) fn write(&self, trees: &Trees) -> Result<(), String> {
        let bytes = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        let path = trees.folder().join("review.json");
        RealFiles
            .write_private(&path, &bytes)
            .map_err(|error| error.to_string())
    }

    /// What was decided about a hunk: whether it may land.
    pub(super) fn of(&self, hunk: &str) -> Option<bool> {
        self.0.get(hunk).copied()
    }

    /// Decides about a hunk, or takes the decision back.
    pub(super) fn set(&mut self, hunk: &str, may_land: Option<bool>) {
        match may_land {
            Some(may_land) => self.0.insert(hunk.to_owned(), may_land),
            None => self.0.remove(hunk),
        };
    }

    /// What of a job may land: all that was accepted where anything was; all that was not rejected where nothing was.
    pub(super) fn picks(&self, line: &Line, authored: &Authored) -> Result<Vec<Pick>, String> {
        let named = named(line, authored)?;
        let is_choosy = named.iter().any(|it| self.0.get(&it.name) == Some(&true));
        let may_land = |it: &&Named| match self.0.get(&it.name) {
            Some(is_accepted) => *is_accepted,
            None => !is_choosy,
        };
        let mut files: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for it in named.iter().filter(may_land) {
            let file = files.entry(it.hunk.path.clone()).or_default();
            file.push(it.hunk.number);
        }
        let picks = files.into_iter().map(|(path, hunks)| Pick {
            job: line.job.clone(),
            path: Some(path),
            hunks: Some(hunks),
        });
        Ok(picks.collect())
    }
}

/// Whether a job's work can be looked at and has not landed.
pub(super) fn is_reviewable(line: &Line) -> bool {
    let has_landed = matches!(line.state, composer::board::State::Landed { .. });
    line.place.is_some() && !has_landed
}

pub(super) fn named(line: &Line, authored: &Authored) -> Result<Vec<Named>, String> {
    let mut named: Vec<Named> = Vec::new();
    for hunk in hunks_of(authored)? {
        let said = format!("{}\0{:?}\0{:?}", hunk.path, hunk.removed, hunk.added);
        let print = ContentHash::of(said.as_bytes()).0 as u32;
        let mut name = format!("{}.{print:08x}", line.job);
        // The same change made twice in one file.
        while named.iter().any(|it| it.name == name) {
            name.push('+');
        }
        let authors = authors(authored, &hunk)?;
        named.push(Named {
            name,
            hunk,
            authors,
        });
    }
    Ok(named)
}

/// Who wrote what a hunk brings, or took away what it takes.
fn authors(authored: &Authored, hunk: &Hunk) -> Result<Vec<String>, String> {
    let wrote = authored.writers(hunk)?;
    let mut names: Vec<String> = Vec::new();
    for author in &wrote {
        // Calls of the same turn read the same.
        let name = author.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

fn as_json(line: &Line, one: &Named, stands: Option<bool>) -> serde_json::Value {
    json!({
        "hunk": one.name,
        "job": line.job,
        "path": one.hunk.path,
        "row": one.hunk.row,
        "removed": one.hunk.removed,
        "added": one.hunk.added,
        "by": one.authors,
        "accepted": stands,
    })
}

fn as_text(one: &Named, stands: Option<bool>) -> String {
    let mark = match stands {
        Some(true) => "accepted",
        Some(false) => "rejected",
        None => "open",
    };
    let (name, path, row) = (&one.name, &one.hunk.path, one.hunk.row + 1);
    let mut text = format!(
        "{name}  {mark:<8}  {path}:{row}  by {}\n",
        one.authors.join(", ")
    );
    for (sign, lines) in [('-', &one.hunk.removed), ('+', &one.hunk.added)] {
        for line in lines.iter().take(LINES) {
            text.push_str(&format!(
                "    {sign} {}\n",
                line.trim_end_matches(['\n', '\r'])
            ));
        }
        if lines.len() > LINES {
            text.push_str(&format!(
                "    {sign} … {} more lines\n",
                lines.len() - LINES
            ));
        }
    }
    text
}
