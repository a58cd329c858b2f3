//! Lists the language servers of a folder, as lines or as JSON.

use std::path::PathBuf;
use std::process::ExitCode;

use base::Platform;
use clap::Args;
use language::{FolderServers, ListScope, ListedServer, ProgramOrigin, ServerProgram};
use serde_json::{Value, json};

use crate::{Streams, write_error};

/// List the servers for the folder's languages: which are used, where they are, how to get them
#[derive(Args)]
pub(super) struct ListAction {
    /// Files or folders to list the servers of; the whole folder without any
    paths: Vec<PathBuf>,
    /// List all known servers
    #[arg(long)]
    all: bool,
    /// Print an array of objects
    #[arg(long)]
    json: bool,
}

impl ListAction {
    pub(super) fn run(
        &self,
        servers: &FolderServers,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let documents = super::documents(&self.paths, servers.root())?;
        let scope = if self.all {
            ListScope::All
        } else {
            ListScope::Documents
        };
        let rows = servers.list(&documents, scope);
        let text = if self.json {
            format!("{:#}\n", Value::Array(rows.iter().map(to_json).collect()))
        } else {
            to_lines(&rows)
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        if let Err(error) = servers.ensure_may_start() {
            crate::print_notice(streams, &error.to_string());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns a line for each server, in columns.
fn to_lines(rows: &[ListedServer]) -> String {
    if rows.is_empty() {
        return "There is no language server for these files; --all lists all known ones.\n".into();
    }
    let rows: Vec<[String; 5]> = rows.iter().map(columns).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            text.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(&format!("{}\n", row[4]));
    }
    text
}

/// Returns the cells of a row: id, role, languages, state, and the program or the way to get it.
fn columns(row: &ListedServer) -> [String; 5] {
    const SHOWN: usize = 3;
    let languages = &row.definition.languages;
    let mut names = languages[..languages.len().min(SHOWN)].join(", ");
    if languages.len() > SHOWN {
        names.push_str(", …");
    }
    let detail = match &row.program {
        Some(program) => {
            let version = row.version.iter().map(|it| format!(", {it}"));
            let origin = origin_text(program);
            format!("{}{origin}{}", program.path, version.collect::<String>())
        }
        None => row.definition.install_advice(Platform::CURRENT),
    };
    [
        row.definition.id.clone(),
        row.definition.role.word().to_owned(),
        names,
        state_word(row).to_owned(),
        detail,
    ]
}

fn state_word(row: &ListedServer) -> &'static str {
    match (&row.program, row.is_used) {
        (Some(_), true) => "used",
        (Some(_), false) => "installed",
        (None, _) => "missing",
    }
}

fn origin_text(program: &ServerProgram) -> &'static str {
    match program.origin {
        ProgramOrigin::Settings => " (settings)",
        ProgramOrigin::Project => " (project)",
        ProgramOrigin::Installed(_) => " (Burin)",
        ProgramOrigin::Path => "",
        ProgramOrigin::Toolchain => " (toolchain)",
    }
}

fn to_json(row: &ListedServer) -> Value {
    let program = row.program.as_ref();
    json!({
        "id": row.definition.id,
        "role": row.definition.role.word(),
        "languages": row.definition.languages,
        "state": state_word(row),
        "program": program.map(|it| it.path.to_string()),
        "version": row.version,
        "install": row.definition.install_advice(Platform::CURRENT),
        "runs_project_code": row.definition.runs_project_code,
    })
}
