//! Recovers from a crash: unsaved texts and interrupted saves.

use std::process::ExitCode;

use host::{Dirs, Files};

use crate::{Streams, write_error};

/// Prints the unsaved texts, which remain for the editor. Unless `list` is set, also finishes the
/// saves that were cut short, as the editor does when it starts, and prints the results.
pub(crate) fn run(
    files: &dyn Files,
    dirs: &Dirs,
    list: bool,
    streams: &mut Streams<'_>,
) -> Result<ExitCode, String> {
    let mut lines = unsaved(files, dirs)?;
    if !list {
        lines.extend(project::finish_saves(files, &dirs.recovery()));
    }
    for line in lines {
        writeln!(streams.output, "{line}").map_err(write_error)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a line for each journal with unsaved text; none if the folder of journals is missing.
fn unsaved(files: &dyn Files, dirs: &Dirs) -> Result<Vec<String>, String> {
    match project::list_left_over(files, &dirs.journals()) {
        Ok(journals) => {
            let journals = journals.iter();
            Ok(journals
                .map(|journal| format!("unsaved text: {journal}"))
                .collect())
        }
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}
