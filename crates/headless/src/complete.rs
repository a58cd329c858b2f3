//! A suggestion for one place of one file, as Tab would make it.

mod history;
pub(crate) mod remote;
mod shown;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use autocomplete::{Scene, Suggestion};
use clap::Args;
use host::{Clock, Dirs, Files, RealClock};
use model::FailureClass;

use crate::{Streams, folder, tell, unwritten};
use history::Past;
use text::{Place, Project};

/// Print what Tab would suggest at a position in a file
///
/// Exit codes: 0 something is suggested; 1 it cannot be told, for a reason on this machine; 2 wrong arguments; 3 a
/// budget forbids asking; 4 nothing is suggested; 97 the model could not be reached or failed.
#[derive(Args)]
pub(crate) struct Complete {
    /// The folder of the project
    #[arg(long)]
    root: Option<PathBuf>,
    /// The file, relative to the folder
    #[arg(long)]
    file: PathBuf,
    /// The position of the caret: line and column, both from 1, the column in characters
    #[arg(long)]
    at: Place,
    /// What was edited before, the oldest first: a JSON array of {file, at: [line, column], old, new}, each placed in
    /// the text that it led to
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

/// What came of asking.
pub(super) struct Found {
    /// Who was asked.
    provider: String,
    suggestions: Vec<Suggestion>,
    /// A sentence.
    status: String,
    /// Why a model did not answer.
    failure: Option<FailureClass>,
}

/// The place that is asked about, with everything around it.
pub(super) struct Question<'a> {
    project: Project<'a>,
    past: Past,
    scene: Scene,
}

impl Complete {
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let question = self.question(files)?;
        let clock = RealClock::default();
        let found = match self.provider.as_str() {
            "local" => local(&question),
            name => remote::ask(name, &question, (files, dirs), streams)?,
        };
        let ms = clock.elapsed().as_secs_f64() * 1_000.0;
        let answer = match self.json {
            true => format!("{:#}\n", shown::json(&question, &found, ms)),
            false => shown::text(&question, &found),
        };
        let written = streams.output.write_all(answer.as_bytes());
        written.map_err(unwritten)?;
        if found.suggestions.is_empty() {
            tell(streams, &found.status);
        }
        Ok(match (&found.failure, found.suggestions.is_empty()) {
            (_, false) => ExitCode::SUCCESS,
            (Some(FailureClass::Budget), true) => ExitCode::from(3),
            (Some(_), true) => ExitCode::from(97),
            (None, true) => ExitCode::from(4),
        })
    }

    fn question<'a>(&self, files: &'a dyn Files) -> Result<Question<'a>, String> {
        let root = folder(self.root.as_deref(), files)?;
        let project = Project::new(root, files);
        let file = project.path(&self.file)?;
        let past = match &self.history {
            Some(path) => Past::read(path, &project)?,
            None => Past::default(),
        };
        let buffer = project.open(&file)?;
        let scene = text::scene(&file, &buffer.snapshot(), self.at)?;
        Ok(Question {
            project,
            past,
            scene,
        })
    }
}

/// What the files of the project and the edits before say.
fn local(question: &Question<'_>) -> Found {
    let suggestions = question.past.local(&question.project, &question.scene);
    let status = match suggestions.is_empty() {
        true => "Nothing is suggested here without a model.",
        false => "Suggested without a model.",
    };
    Found {
        provider: "local".to_owned(),
        suggestions,
        status: status.to_owned(),
        failure: None,
    }
}

#[cfg(test)]
mod tests;
