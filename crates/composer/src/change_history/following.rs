//! Follows the changes of a log by a `RetentionRecorder`: what of agents' texts is kept.
//!
//! Start at `ChangeHistory::follow`.

use std::sync::Arc;

use host::ContentHash;
use retention::{Writer, WriterCall, WriterKind};

use super::change::{AgentCall, ChangeAuthor, RecordedChange, StoredVersion, VersionKind};
use super::{ChangeHistory, HeadState};
use crate::retention_recorder::{FollowedChange, FollowedText, REPEATED_MS, RetentionRecorder};

impl ChangeHistory {
    /// Hands all later changes to a recorder, after those of the last day. Reads the contents of changed files.
    pub(super) fn follow(&mut self, recorder: RetentionRecorder) {
        let since = self.now_ms().saturating_sub(REPEATED_MS);
        let first = self.changes.partition_point(|change| change.at_ms < since);
        self.recorder = Some(recorder);
        for ix in first..self.changes.len() {
            let change = self.changes[ix].clone();
            self.record_retention(&change);
        }
    }

    /// Hands a change to the recorder, if there is one and it follows the file.
    pub(super) fn record_retention(&self, change: &RecordedChange) {
        let Some(recorder) = &self.recorder else {
            return;
        };
        let is_agents = change.author.agent_call().is_some();
        if !is_agents && !recorder.is_followed(self.root(), &change.path) {
            return;
        }
        let followed = FollowedChange {
            root: self.root(),
            path: &change.path,
            id: &self.retention_id(change),
            writer: &writer(&change.author),
            at_ms: change.at_ms,
        };
        let before = self.followed_text(change.before.as_ref());
        let after = self.followed_text(change.after.as_ref());
        recorder.observe(followed, &before, &after);
    }

    /// Hands the followed files of a new commit of the user to the recorder.
    pub(super) fn record_commit(&self, head: &HeadState) {
        let Some(recorder) = &self.recorder else {
            return;
        };
        let followed = recorder.followed(self.root());
        if followed.is_empty() {
            return;
        }
        let files = match self.base.files_of(&head.commit) {
            Ok(files) => files,
            Err(error) => return log::warn!("cannot read commit {}: {error}", head.commit),
        };
        let committed = followed.into_iter().filter_map(|path| {
            // A file that Git does not have was not committed.
            let version = files.get(&path)?;
            Some((path, self.followed_text(Some(version))))
        });
        let committed: Vec<(String, FollowedText)> = committed.collect();
        recorder.commit(self.root(), &committed, self.now_ms());
    }

    /// Returns the content of a version, as far as it can be followed.
    fn followed_text(&self, version: Option<&StoredVersion>) -> FollowedText {
        match version {
            None => FollowedText::Missing,
            Some(version) if version.kind == VersionKind::Link => FollowedText::Other,
            Some(version) => match self.content(version) {
                Ok(content) => FollowedText::of(Some(content)),
                // A content that is too large is not stored.
                Err(error) => {
                    log::debug!("{error}");
                    FollowedText::Other
                }
            },
        }
    }

    /// Returns the id of a change among those of all logs.
    fn retention_id(&self, change: &RecordedChange) -> String {
        let log = ContentHash::of(self.folder.to_string().as_bytes()).0 as u64;
        format!("{log:016x}-{}-{}", change.id.0, change.at_ms)
    }
}

fn writer(author: &ChangeAuthor) -> Writer {
    let kind = match author {
        ChangeAuthor::Agent(_) | ChangeAuthor::Command(_) => WriterKind::Agent,
        ChangeAuthor::Person => WriterKind::Person,
        ChangeAuthor::Formatter { .. } => WriterKind::Formatter,
        ChangeAuthor::Git => WriterKind::Git,
        ChangeAuthor::Disk => WriterKind::Unknown,
        ChangeAuthor::Undo { .. } => WriterKind::Undo,
    };
    let call = author.agent_call().map(|call| Arc::new(writer_call(call)));
    Writer { kind, call }
}

fn writer_call(call: &AgentCall) -> WriterCall {
    WriterCall {
        session: call.session.clone(),
        turn: call.turn,
        call: call.call.clone(),
        tool: call.tool.clone(),
    }
}

#[cfg(test)]
mod tests;
