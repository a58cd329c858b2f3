//! Changes for the owner of the servers, gathered until it takes them.
//!
//! Invariant: adding a change never blocks; of messages, the oldest are dropped.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_channel::{Receiver, Sender};
use base::AbsPath;
use lsp::{EditRequest, MessageSeverity};

/// Maximum number of messages that wait.
const MAX_MESSAGES: usize = 32;
/// Maximum number of edits that wait; further ones are refused.
const MAX_EDITS: usize = 16;

/// The changes of a folder's servers since the last look.
#[derive(Debug, Default)]
pub struct LanguageChanges {
    /// Documents whose diagnostics may have changed, open or not, sorted.
    pub diagnostics: BTreeSet<AbsPath>,
    /// Whether the state or the progress of a server changed.
    pub servers: bool,
    /// The kinds of answers that may have become outdated although no text changed.
    pub outdated: OutdatedAnswers,
    /// Messages of servers for the user, the oldest first.
    pub messages: VecDeque<ServerMessage>,
    /// Edits that servers ask for, the oldest first. Dropping one refuses it.
    pub edits: Vec<EditRequest>,
}

/// The requests whose answers servers declared as outdated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutdatedAnswers {
    /// Inlay hints.
    pub inlay_hints: bool,
    /// Semantic tokens.
    pub semantic_tokens: bool,
    /// Code lenses.
    pub code_lenses: bool,
}

impl OutdatedAnswers {
    /// Every answer, such as after the registration of a capability.
    pub const ALL: Self = Self {
        inlay_hints: true,
        semantic_tokens: true,
        code_lenses: true,
    };

    fn add(&mut self, other: Self) {
        self.inlay_hints |= other.inlay_hints;
        self.semantic_tokens |= other.semantic_tokens;
        self.code_lenses |= other.code_lenses;
    }
}

/// A message of a server for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// Id of the server.
    pub server: String,
    /// The severity that the server gave it.
    pub severity: MessageSeverity,
    /// The text as the server wrote it.
    pub text: String,
}

/// Changes that the owner has not taken.
pub(super) struct PendingChanges {
    changes: Mutex<LanguageChanges>,
    /// A channel with room for one message: the owner wakes up once for many changes.
    changed: Sender<()>,
}

impl PendingChanges {
    /// Creates an empty set, and the channel that announces changes.
    pub(super) fn new() -> (Self, Receiver<()>) {
        let (changed, receiver) = async_channel::bounded(1);
        let changes = Mutex::default();
        (Self { changes, changed }, receiver)
    }

    /// Notes that the diagnostics of documents may have changed.
    pub(super) fn note_diagnostics(&self, paths: impl IntoIterator<Item = AbsPath>) {
        self.changes().diagnostics.extend(paths);
        self.announce();
    }

    /// Notes that the state of a server changed.
    pub(super) fn note_servers(&self) {
        self.changes().servers = true;
        self.announce();
    }

    /// Notes that a server may give other answers for the same texts.
    pub(super) fn note_outdated(&self, answers: OutdatedAnswers) {
        self.changes().outdated.add(answers);
        self.announce();
    }

    /// Adds a message for the user, unless an equal one waits.
    pub(super) fn add_message(&self, message: ServerMessage) {
        let mut changes = self.changes();
        if changes.messages.contains(&message) {
            return;
        }
        if changes.messages.len() == MAX_MESSAGES {
            changes.messages.pop_front();
        }
        changes.messages.push_back(message);
        drop(changes);
        self.announce();
    }

    /// Adds an edit that a server asks for, or refuses it.
    pub(super) fn add_edit(&self, edit: EditRequest) {
        let mut changes = self.changes();
        if changes.edits.len() == MAX_EDITS {
            drop(changes);
            return edit.refuse("too many edits wait");
        }
        changes.edits.push(edit);
        drop(changes);
        self.announce();
    }

    /// Takes all changes.
    pub(super) fn take(&self) -> LanguageChanges {
        std::mem::take(&mut *self.changes())
    }

    fn announce(&self) {
        // A message that waits announces this change as well.
        self.changed.try_send(()).ok();
    }

    fn changes(&self) -> MutexGuard<'_, LanguageChanges> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> ServerMessage {
        ServerMessage {
            server: "s".to_owned(),
            severity: MessageSeverity::Info,
            text: text.to_owned(),
        }
    }

    #[test]
    fn many_changes_are_announced_once() {
        let (changes, changed) = PendingChanges::new();
        changes.note_servers();
        let path = AbsPath::new("/a").expect("absolute");
        changes.note_diagnostics([path.clone(), path.clone()]);
        assert!(changed.try_recv().is_ok());
        assert!(changed.try_recv().is_err());
        let taken = changes.take();
        assert!(taken.servers);
        assert_eq!(taken.diagnostics, BTreeSet::from([path]));
        assert!(!changes.take().servers);
    }

    #[test]
    fn outdated_answers_add_up() {
        let (changes, changed) = PendingChanges::new();
        let lenses = OutdatedAnswers {
            code_lenses: true,
            ..OutdatedAnswers::default()
        };
        changes.note_outdated(lenses);
        assert!(changed.try_recv().is_ok());
        assert_eq!(changes.take().outdated, lenses);
        changes.note_outdated(OutdatedAnswers::ALL);
        changes.note_outdated(OutdatedAnswers::default());
        assert_eq!(changes.take().outdated, OutdatedAnswers::ALL);
        assert_eq!(changes.take().outdated, OutdatedAnswers::default());
    }

    #[test]
    fn the_oldest_messages_are_dropped() {
        let (changes, _changed) = PendingChanges::new();
        for number in 0..MAX_MESSAGES + 1 {
            changes.add_message(message(&number.to_string()));
        }
        changes.add_message(message("1"));
        let texts: Vec<String> = changes
            .take()
            .messages
            .into_iter()
            .map(|it| it.text)
            .collect();
        assert_eq!(texts.len(), MAX_MESSAGES);
        assert_eq!(texts[0], "1");
    }
}
