//! The command `sessions comment`: a comment on a change, which continues the session.

use std::process::ExitCode;

use agent::comments::ReviewComment;
use agent::record::SessionRecord;
use agent::store::SessionStore;
use clap::Args;
use composer::folder_review::FolderHunk;
use host::{Dirs, RealFiles};

use super::changes::SessionFolder;
use crate::run::{RunCommand, RunEnvironment};
use crate::{Streams, error_text};

/// A comment on a change of a session.
#[derive(Args)]
pub(super) struct ChangeComment {
    /// The ID of the session
    id: String,
    /// The changed lines: PATH:LINE or PATH:FIRST-LAST, relative to the folder
    place: String,
    /// The comment
    #[arg(required = true)]
    text: Vec<String>,
    /// Allow calls that need permission, without asking, as in `run --yes`
    #[arg(long)]
    yes: bool,
    /// Print every event as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Lines of a file, from 1.
struct LinePlace<'a> {
    path: &'a str,
    first: u32,
    last: u32,
}

impl ChangeComment {
    /// Sends the comment to the session, which is continued for it, and prints its answer.
    pub(super) fn run(
        &self,
        dirs: &Dirs,
        store: SessionStore,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let prompt = self.prompt(dirs, store)?;
        let files = &RealFiles;
        let run = RunCommand::resuming(self.id.clone(), prompt, self.yes, self.json);
        run.run(RunEnvironment { files, dirs }, streams)
    }

    /// Returns the prompt that carries the comment. The folder's log is closed afterwards, for the
    /// session to open it.
    fn prompt(&self, dirs: &Dirs, store: SessionStore) -> Result<String, String> {
        let place = LinePlace::parse(&self.place)?;
        let words = self.text.join(" ");
        if words.trim().is_empty() {
            return Err("the comment is blank; write a word".to_owned());
        }
        let changes = SessionFolder::open(dirs, store.clone(), &self.id)?.changes()?;
        let records = store.read(&self.id).map_err(error_text)?.records;
        let hosted = records.iter().find_map(|it| match &it.record {
            SessionRecord::Hosted { agent, .. } => Some(agent),
            _ => None,
        });
        if let Some(agent) = hosted {
            return Err(format!(
                "session {} is run by the agent {agent}: continue it with `burin-agent run --agent {agent} --resume {}`",
                self.id, self.id
            ));
        }
        let mut hunks = changes.hunks.iter();
        let hunk = hunks.find(|hunk| place.is_in(hunk)).ok_or_else(|| {
            format!(
                "session {} has no change to review at {}: `burin-agent sessions changes {}` lists its changes",
                self.id, self.place, self.id
            )
        })?;
        let (first, last) = hunk.lines();
        let is_all = place.first <= first && last <= place.last;
        let comment = if is_all || hunk.after.is_empty() {
            let quote = (&hunk.before[..], &hunk.after[..]);
            ReviewComment::new(&hunk.path, (first, last), quote, &words)
        } else {
            let (from, to) = (place.first.max(first), place.last.min(last));
            let index = |line: u32| (line - hunk.line) as usize;
            let quoted = &hunk.after[index(from)..=index(to)];
            ReviewComment::new(&hunk.path, (from, to), (&[], quoted), &words)
        };
        Ok(comment.to_prompt())
    }
}

impl<'a> LinePlace<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        let place = text.rsplit_once(':').and_then(|(path, lines)| {
            let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            let is_valid = !path.is_empty() && 0 < first && first <= last;
            is_valid.then_some(Self { path, first, last })
        });
        place.ok_or_else(|| {
            format!("\"{text}\" names no lines: write PATH:LINE or PATH:FIRST-LAST, such as src/main.rs:3-5")
        })
    }

    /// Whether a hunk has one of the lines.
    fn is_in(&self, hunk: &FolderHunk) -> bool {
        let (first, last) = hunk.lines();
        hunk.path == self.path && self.first <= last && first <= self.last
    }
}
