//! The state of a session between calls: read marks, saved outputs, running commands.
//!
//! Kept in memory except for the outputs: after a restart no file counts as read and no command
//! runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{AbsPath, Row};
use patch::{FileText, ReadMark};

use crate::command_feed::CommandFeeds;
use crate::outputs::SavedOutputs;
use crate::tool::ToolContext;

use super::terminal::CommandTerminal;

/// Maximum number of files with read marks; beyond it all marks are cleared.
const MAX_MARKS: usize = 4096;
/// Maximum number of background commands per session.
pub(super) const MAX_TERMINALS: usize = 32;

/// The tool states of all sessions.
#[derive(Default)]
pub struct ToolStates {
    states: Mutex<HashMap<Arc<str>, Arc<ToolState>>>,
    feeds: Arc<CommandFeeds>,
}

impl ToolStates {
    /// Stops a session's commands and removes its state. Saved outputs stay.
    pub fn close_session(&self, session: &str) {
        let state = lock(&self.states).remove(session);
        if let Some(state) = state {
            let terminals = std::mem::take(&mut *lock(&state.terminals));
            drop(terminals);
        }
    }

    /// Returns the feeds of all running commands.
    pub fn feeds(&self) -> &Arc<CommandFeeds> {
        &self.feeds
    }

    /// Returns the running commands of a session: number and command line.
    pub fn running(&self, session: &str) -> Vec<(u64, String)> {
        let state = lock(&self.states).get(session).cloned();
        let Some(state) = state else {
            return Vec::new();
        };
        let terminals = lock(&state.terminals);
        let running = terminals
            .iter()
            .filter(|(_, terminal)| terminal.exit().is_none());
        running
            .map(|(number, terminal)| (*number, terminal.command.clone()))
            .collect()
    }

    /// Returns the state of a call's session.
    pub(super) fn of(&self, context: &ToolContext) -> Arc<ToolState> {
        let mut states = lock(&self.states);
        let state = states
            .entry(Arc::clone(&context.session))
            .or_insert_with(|| {
                Arc::new(ToolState {
                    whole: SavedOutputs::new(&context.sources.state, &context.session),
                    marks: Mutex::default(),
                    terminals: Mutex::default(),
                    next_terminal: Mutex::new(1),
                })
            });
        Arc::clone(state)
    }
}

impl Drop for ToolStates {
    fn drop(&mut self) {
        // A running command and its state reference each other; this breaks the cycle.
        for state in lock(&self.states).values() {
            drop(std::mem::take(&mut *lock(&state.terminals)));
        }
    }
}

/// The state of one session between calls.
pub(super) struct ToolState {
    pub(super) whole: SavedOutputs,
    marks: Mutex<HashMap<AbsPath, ReadMark>>,
    terminals: Mutex<BTreeMap<u64, Arc<CommandTerminal>>>,
    next_terminal: Mutex<u64>,
}

impl ToolState {
    /// Records that the model saw these rows of a file with this text, so that it may edit them.
    pub(super) fn read(&self, path: &AbsPath, file: &FileText<'_>, rows: std::ops::Range<Row>) {
        let mut marks = lock(&self.marks);
        if marks.len() >= MAX_MARKS {
            marks.clear();
        }
        let fresh = ReadMark::partial(file, rows.clone());
        match marks.get_mut(path) {
            // Rows shown before still count, unless the text has changed.
            Some(mark) if mark.is_same_text(&fresh) => mark.show(rows),
            _ => {
                marks.insert(path.clone(), fresh);
            }
        }
    }

    /// Records that the session itself wrote a file with this text, which counts as read in full.
    pub(super) fn wrote(&self, path: &AbsPath, text: &str) {
        let file = FileText::new(text);
        lock(&self.marks).insert(path.clone(), ReadMark::new(&file));
    }

    /// Removes the read mark of a deleted file.
    pub(super) fn forget(&self, path: &AbsPath) {
        lock(&self.marks).remove(path);
    }

    /// Returns the read mark of a file; `None` if the session has not read it.
    pub(super) fn mark(&self, path: &AbsPath) -> Option<ReadMark> {
        lock(&self.marks).get(path).cloned()
    }

    /// Assigns a number to a background command. Returns `None` if too many are running.
    pub(super) fn take_in(&self, terminal: Arc<CommandTerminal>) -> Option<u64> {
        let mut terminals = lock(&self.terminals);
        terminals.retain(|_, terminal| !terminal.was_reported());
        if terminals.len() >= MAX_TERMINALS {
            return None;
        }
        let mut next = lock(&self.next_terminal);
        let number = *next;
        *next += 1;
        terminals.insert(number, terminal);
        Some(number)
    }

    /// Returns a background command by its number; `None` if there is none, or it was removed.
    pub(super) fn terminal(&self, number: u64) -> Option<Arc<CommandTerminal>> {
        lock(&self.terminals).get(&number).cloned()
    }

    /// Returns the numbers of all background commands.
    pub(super) fn terminals(&self) -> Vec<u64> {
        lock(&self.terminals).keys().copied().collect()
    }

    /// Removes a background command from the table; it goes on if something else holds it.
    pub(super) fn let_go(&self, number: u64) {
        lock(&self.terminals).remove(&number);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
