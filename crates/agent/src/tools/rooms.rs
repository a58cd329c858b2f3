//! What a session leaves behind between two calls: what it read, outputs kept whole, commands that still run.
//!
//! Held in memory alone, but for the outputs: after a restart nothing counts as read and no command runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{AbsPath, Row};
use patch::{FileText, ReadMark};

use crate::tool::ToolContext;
use crate::whole::Whole;

use super::terminal::Terminal;

/// Files of which a session's reading is remembered; then the memory begins anew.
const MOST_MARKS: usize = 4096;
/// Commands that may run beside a session.
pub(super) const MOST_TERMINALS: usize = 32;

/// The rooms of all sessions.
#[derive(Default)]
pub struct Rooms {
    rooms: Mutex<HashMap<Arc<str>, Arc<Room>>>,
}

impl Rooms {
    /// Ends what a session left running and forgets the rest. Its outputs stay.
    pub fn leave(&self, session: &str) {
        let room = lock(&self.rooms).remove(session);
        if let Some(room) = room {
            let terminals = std::mem::take(&mut *lock(&room.terminals));
            drop(terminals);
        }
    }

    /// The commands of a session that still run: their number and what was typed.
    pub fn running(&self, session: &str) -> Vec<(u64, String)> {
        let room = lock(&self.rooms).get(session).cloned();
        let Some(room) = room else {
            return Vec::new();
        };
        let terminals = lock(&room.terminals);
        let running = terminals
            .iter()
            .filter(|(_, terminal)| terminal.end().is_none());
        running
            .map(|(number, terminal)| (*number, terminal.command.clone()))
            .collect()
    }

    /// The room of a call's session.
    pub(super) fn of(&self, context: &ToolContext) -> Arc<Room> {
        let mut rooms = lock(&self.rooms);
        let room = rooms
            .entry(Arc::clone(&context.session))
            .or_insert_with(|| {
                Arc::new(Room {
                    whole: Whole::new(&context.sources.state, &context.session),
                    marks: Mutex::default(),
                    terminals: Mutex::default(),
                    next_terminal: Mutex::new(1),
                })
            });
        Arc::clone(room)
    }
}

impl Drop for Rooms {
    fn drop(&mut self) {
        // A command that runs holds its room; here the two let go of each other.
        for room in lock(&self.rooms).values() {
            drop(std::mem::take(&mut *lock(&room.terminals)));
        }
    }
}

/// What one session leaves behind between two calls.
pub(super) struct Room {
    pub(super) whole: Whole,
    marks: Mutex<HashMap<AbsPath, ReadMark>>,
    terminals: Mutex<BTreeMap<u64, Arc<Terminal>>>,
    next_terminal: Mutex<u64>,
}

impl Room {
    /// Remembers which rows of a file were shown.
    pub(super) fn read(&self, path: &AbsPath, file: &FileText<'_>, rows: std::ops::Range<Row>) {
        let mut marks = lock(&self.marks);
        if marks.len() >= MOST_MARKS {
            marks.clear();
        }
        let fresh = ReadMark::partial(file, rows.clone());
        match marks.get_mut(path) {
            // The rows shown before still count, unless the text is another one by now.
            Some(mark) if mark.is_same_text(&fresh) => mark.show(rows),
            _ => {
                marks.insert(path.clone(), fresh);
            }
        }
    }

    /// Remembers that the session itself wrote a file.
    pub(super) fn wrote(&self, path: &AbsPath, text: &str) {
        let file = FileText::new(text);
        lock(&self.marks).insert(path.clone(), ReadMark::new(&file));
    }

    /// Forgets a file that is gone.
    pub(super) fn forget(&self, path: &AbsPath) {
        lock(&self.marks).remove(path);
    }

    /// What was read of a file.
    pub(super) fn mark(&self, path: &AbsPath) -> Option<ReadMark> {
        lock(&self.marks).get(path).cloned()
    }

    /// Gives a running command a number. `None` where too many run already.
    pub(super) fn take_in(&self, terminal: Arc<Terminal>) -> Option<u64> {
        let mut terminals = lock(&self.terminals);
        terminals.retain(|_, terminal| !terminal.is_told());
        if terminals.len() >= MOST_TERMINALS {
            return None;
        }
        let mut next = lock(&self.next_terminal);
        let number = *next;
        *next += 1;
        terminals.insert(number, terminal);
        Some(number)
    }

    /// A running command.
    pub(super) fn terminal(&self, number: u64) -> Option<Arc<Terminal>> {
        lock(&self.terminals).get(&number).cloned()
    }

    /// The numbers of all commands that can be asked about.
    pub(super) fn terminals(&self) -> Vec<u64> {
        lock(&self.terminals).keys().copied().collect()
    }

    /// Lets go of a command.
    pub(super) fn let_go(&self, number: u64) {
        lock(&self.terminals).remove(&number);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
