//! Follows the changes of a log by a `RetentionRecorder`: what of agents' texts is kept.
//!
//! Start at `ChangeHistory::follow`.

use std::collections::{HashMap, HashSet};
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
        for changes in self.changes[first..].chunk_by(|one, two| one.at_ms == two.at_ms) {
            self.record_together(changes);
        }
    }

    /// Hands changes that were observed together to the recorder. A file that is gone while a new one has its content
    /// was renamed: no text was written or removed.
    pub(super) fn record_together(&self, changes: &[RecordedChange]) {
        let Some(recorder) = &self.recorder else {
            return;
        };
        let mut gone: HashMap<&str, &RecordedChange> = HashMap::new();
        for change in changes.iter().filter(|it| it.after.is_none()) {
            if let Some(before) = change.before.as_ref().filter(|it| it.is_kept()) {
                gone.insert(&before.id, change);
            }
        }
        let mut renamed = HashSet::new();
        for change in changes.iter().filter(|it| it.before.is_none()) {
            let after = change.after.as_ref();
            if let Some(from) = after.and_then(|it| gone.remove(it.id.as_str())) {
                recorder.rename(self.root(), (&from.path, &change.path), change.at_ms);
                renamed.extend([from.id, change.id]);
            }
        }
        for change in changes.iter().filter(|it| !renamed.contains(&it.id)) {
            self.record_retention(change);
        }
    }

    /// Hands a change to the recorder, if there is one and it follows the file.
    fn record_retention(&self, change: &RecordedChange) {
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

    /// Hands the followed files that a new commit of the user changed to the recorder.
    pub(super) fn record_commit(&self, before: &HeadState, head: &HeadState) {
        let Some(recorder) = &self.recorder else {
            return;
        };
        let followed = recorder.followed(self.root());
        if followed.is_empty() {
            return;
        }
        let files_of = |commit: &str| {
            let files = self.base.files_of(commit);
            let files =
                files.inspect_err(|error| log::warn!("cannot read commit {commit}: {error}"));
            files.ok()
        };
        let (Some(old), Some(files)) = (files_of(&before.commit), files_of(&head.commit)) else {
            return;
        };
        let committed = followed.into_iter().filter_map(|path| {
            // A commit without changes of a file does not contain it, and neither one of a repository without the file.
            let version = files
                .get(&path)
                .filter(|version| old.get(&path) != Some(*version))?;
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
