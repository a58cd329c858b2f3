//! `complete`: the suggestions of Tab for one position of one file.

mod history;
mod output;
pub(crate) mod remote;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use autocomplete::{EditorState, Suggestion};
use clap::Args;
use host::{Clock, Dirs, Files, RealClock};
use model::FailureClass;

use crate::{Streams, folder, print_notice, write_error};
use history::RecordedEdits;
use text::{CharPosition, Project};

/// Print what Tab would suggest at a position in a file
///
/// Exit codes: 0 there is a suggestion; 1 it failed for a reason on this machine; 2 wrong
/// arguments; 3 a budget forbids the request; 4 there is no suggestion; 97 the model could not be
/// reached or failed.
#[derive(Args)]
pub(crate) struct CompleteCommand {
    /// The folder of the project
    #[arg(long)]
    root: Option<PathBuf>,
    /// The file, relative to the folder
    #[arg(long)]
    file: PathBuf,
    /// The position of the caret: line and column, both from 1, the column in characters
    #[arg(long)]
    at: CharPosition,
    /// File with earlier edits, oldest first: a JSON array of {file, at: [line, column], old, new},
    /// each located in the text that it produced
    #[arg(long)]
    history: Option<PathBuf>,
    /// The source of suggestions: `local` (files and your edits, no model), `auto`, `demo`, or provider/model
    #[arg(long, default_value = "local")]
    provider: String,
    /// Print one object {provider, ms, status, suggestions: [{file, source, confidence, shape, edits: [{start, end, old,
    /// new}]}]}
    #[arg(long)]
    json: bool,
}

/// The suggestions for one position.
pub(super) struct CompletionOutcome {
    /// The provider that answered.
    provider: String,
    suggestions: Vec<Suggestion>,
    /// The engine's status, as a sentence.
    status: String,
    /// The failure of the model, if it did not answer.
    failure: Option<FailureClass>,
}

/// The position to complete, with its project and the earlier edits.
pub(super) struct CompletionQuery<'a> {
    project: Project<'a>,
    past: RecordedEdits,
    state: EditorState,
}

impl CompleteCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let query = self.query(files)?;
        let clock = RealClock::default();
        let outcome = match self.provider.as_str() {
            "local" => local(&query),
            name => remote::ask(name, &query, (files, dirs), streams)?,
        };
        let ms = clock.elapsed().as_secs_f64() * 1_000.0;
        let text = if self.json {
            format!("{:#}\n", output::json(&query, &outcome, ms))
        } else {
            output::text(&query, &outcome)
        };
        let written = streams.output.write_all(text.as_bytes());
        written.map_err(write_error)?;
        if outcome.suggestions.is_empty() {
            print_notice(streams, &outcome.status);
        }
        Ok(match (&outcome.failure, outcome.suggestions.is_empty()) {
            (_, false) => ExitCode::SUCCESS,
            (Some(FailureClass::Budget), true) => ExitCode::from(3),
            (Some(_), true) => ExitCode::from(97),
            (None, true) => ExitCode::from(4),
        })
    }

    /// Reads the project, the earlier edits and the text around the position. Fails if one cannot
    /// be read, or if the position is invalid.
    fn query<'a>(&self, files: &'a dyn Files) -> Result<CompletionQuery<'a>, String> {
        let root = folder(self.root.as_deref(), files)?;
        let project = Project::new(root, files);
        let file = project.path(&self.file)?;
        let past = match &self.history {
            Some(path) => RecordedEdits::read(path, &project)?,
            None => RecordedEdits::default(),
        };
        let buffer = project.open(&file)?;
        let state = text::state(&file, &buffer.snapshot(), self.at)?;
        Ok(CompletionQuery {
            project,
            past,
            state,
        })
    }
}

/// Returns the suggestions from the project's files and the earlier edits, without a model.
fn local(query: &CompletionQuery<'_>) -> CompletionOutcome {
    let suggestions = query.past.local(&query.project, &query.state);
    let status = if suggestions.is_empty() {
        "Nothing is suggested here without a model."
    } else {
        "Suggested without a model."
    };
    CompletionOutcome {
        provider: "local".to_owned(),
        suggestions,
        status: status.to_owned(),
        failure: None,
    }
}

#[cfg(test)]
mod tests;
