//! Finishes in-place saves that a crash interrupted.

use base::AbsPath;
use host::{Files, InterruptedSaveState};

/// Finishes interrupted saves whose records are in `folder`, see `Files::interrupted`. Returns a
/// message about each save that was finished or that needs the user's attention, and about each
/// record that cannot be read; empty if there are none. Blocks on the disk.
pub fn finish_saves(files: &dyn Files, folder: &AbsPath) -> Vec<String> {
    let (interrupted, problems) = files.interrupted(folder);
    let mut sentences: Vec<_> = problems.iter().map(ToString::to_string).collect();
    sentences.extend(interrupted.iter().map(|save| match &save.state {
        InterruptedSaveState::Finished => {
            format!(
                "the save of {} was interrupted, and has been finished",
                save.target
            )
        }
        InterruptedSaveState::Torn(error) => {
            format!("{error}; both versions are kept in {}", save.record)
        }
        InterruptedSaveState::ChangedSince => format!(
            "the save of {} was interrupted, and the file has changed since; both versions are \
             kept in {}",
            save.target, save.record
        ),
        InterruptedSaveState::Gone => format!(
            "the save of {} was interrupted, and the file is gone; both versions are kept in {}",
            save.target, save.record
        ),
    }));
    sentences
}
