//! Saves in place that a crash cut short, as sentences.

use base::AbsPath;
use host::{Files, InterruptedState};

/// Looks after the saves that died and left their records in `folder`, see `Files::interrupted`.
/// Answers a sentence about each that was finished here or that the user has to look at. Blocks.
pub fn finish_saves(files: &dyn Files, folder: &AbsPath) -> Vec<String> {
    let (interrupted, problems) = files.interrupted(folder);
    let mut sentences: Vec<_> = problems.iter().map(ToString::to_string).collect();
    sentences.extend(interrupted.iter().map(|save| match &save.state {
        InterruptedState::Finished => {
            format!(
                "the save of {} was cut short, and is finished now",
                save.target
            )
        }
        InterruptedState::Torn(error) => {
            format!("{error}; both versions are kept in {}", save.record)
        }
        InterruptedState::ChangedSince => format!(
            "the save of {} was cut short, and the file was changed since; both versions are \
             kept in {}",
            save.target, save.record
        ),
        InterruptedState::Gone => format!(
            "the save of {} was cut short, and the file is gone; both versions are kept in {}",
            save.target, save.record
        ),
    }));
    sentences
}
