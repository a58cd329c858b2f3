//! Trees taken back to how a turn found them, and that again. Beside the seat's task.

use composer::board::{Line, Place};
use composer::checkpoint::{Selection, Stuck, Undone};

use super::Seat;
use crate::compose::past::place_of;
use crate::compose::trees::lock_of;

/// Paths that a sentence names at most.
const NAMED: usize = 3;

/// A restore that can be taken back.
pub(super) struct Restored {
    job: String,
    title: String,
    operation: u64,
}

/// What went back.
pub(super) struct Went {
    text: String,
    restored: Option<Restored>,
}

impl Seat {
    pub(super) fn restore(&mut self, agent: &str, turn: u64) -> Result<(), String> {
        self.refuse_another()?;
        let line = self.resting(agent)?.clone();
        let place = place_of(&line)?.clone();
        self.go_back(&place, move |authored| {
            let title = line.task.title.clone();
            match authored.restore(&line.sessions(), turn) {
                Ok(undone) => Ok(restored(&line, turn, &undone)),
                Err(Stuck::Nothing) => Ok(Went {
                    text: format!(
                        "\u{201c}{title}\u{201d} is as its turn {turn} found it already."
                    ),
                    restored: None,
                }),
                Err(stuck) => Err(format!("Cannot restore \u{201c}{title}\u{201d}: {stuck}.")),
            }
        });
        Ok(())
    }

    pub(super) fn undo_restore(&mut self) -> Result<(), String> {
        self.refuse_another()?;
        let latest = self.restored.as_ref();
        let latest = latest.ok_or("There is no restore to be taken back.")?;
        let place = place_of(self.resting(&latest.job)?)?.clone();
        let (title, operation) = (latest.title.clone(), latest.operation);
        self.go_back(&place, move |authored| {
            match authored.undo(&Selection::of_operation(operation)) {
                Ok(undone) => Ok(Went {
                    text: format!(
                        "\u{201c}{title}\u{201d} is as it was before: {}.",
                        files(&undone)
                    ),
                    restored: None,
                }),
                Err(stuck) => Err(format!(
                    "Cannot take back the restore of \u{201c}{title}\u{201d}: {stuck}."
                )),
            }
        });
        Ok(())
    }

    fn refuse_another(&self) -> Result<(), String> {
        match self.going_back.is_some() {
            true => Err("Files are being restored already: wait until they are.".to_owned()),
            false => Ok(()),
        }
    }

    fn go_back(
        &mut self,
        place: &Place,
        act: impl FnOnce(&mut composer::authored::Authored) -> Result<Went, String> + Send + 'static,
    ) {
        self.table.told = None;
        let (trees, place) = (self.fleet.trees.clone(), place.clone());
        self.going_back = Some(tokio::task::spawn_blocking(move || {
            let authored = trees.authored(&place)?;
            act(&mut lock_of(&authored))
        }));
    }

    pub(super) fn went_back(&mut self, went: Result<Result<Went, String>, String>) {
        self.is_dirty = true;
        match went.and_then(|went| went) {
            Ok(went) => {
                self.tell(went.text, went.restored.is_some());
                self.restored = went.restored;
            }
            Err(sentence) => self.table.trouble = Some(sentence),
        }
    }
}

fn restored(line: &Line, turn: u64, undone: &Undone) -> Went {
    let title = line.task.title.clone();
    Went {
        text: format!(
            "\u{201c}{title}\u{201d} is as its turn {turn} found it: {}.",
            files(undone)
        ),
        restored: Some(Restored {
            job: line.job.clone(),
            title,
            operation: undone.operation,
        }),
    }
}

/// `2 files went back (a.rs, b.rs)`.
fn files(undone: &Undone) -> String {
    let count = undone.paths.len();
    let named = undone.paths.iter().take(NAMED).map(String::as_str);
    let mut named: Vec<&str> = named.collect();
    let more = format!("{} more", count.saturating_sub(NAMED));
    if count > NAMED {
        named.push(&more);
    }
    let files = if count == 1 { "file" } else { "files" };
    format!("{count} {files} went back ({})", named.join(", "))
}
