//! `list`: what a folder holds.

use base::AbsPath;
use futures::future::BoxFuture;
use host::{Entry, FileKind, Files};
use model::{Profile, ToolSpec};

use crate::outcome::Detail;
use crate::tool::{Access, Answer, Call, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::place::{missing, place};
use super::read::sentence;
use super::{blocking, files_of, of, spec, unexpected};

/// Names that are shown.
const NAMES: usize = 1000;
/// How deep folders are gone into at most.
const DEPTH: u64 = 8;
/// Folders that are named but not gone into, unless they are asked for themselves.
const CLOSED: [&str; 4] = [".git", "node_modules", "target", "__pycache__"];

/// Lists folders.
pub(super) struct List;

impl Tool for List {
    fn name(&self) -> &str {
        "list"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description =
            "Lists what a folder holds; folders end in /. To find files by name use glob.";
        Some(spec(
            "list",
            profile,
            description,
            0,
            &[
                (
                    "path",
                    of(
                        "string",
                        "The folder, relative to the project folder; the project folder itself if left out",
                    ),
                ),
                (
                    "depth",
                    of("integer", "How many levels deep, from 1, the default, to 8"),
                ),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let arguments = Arguments::of(call)?;
        arguments.number("depth")?;
        let place = place(context, arguments.text("path")?.unwrap_or("."))?;
        let scope = match arguments.number("depth")?.unwrap_or(1) {
            0 | 1 => place.scope(),
            _ => place.tree(),
        };
        Ok(Access {
            reads: vec![scope],
            title: format!("list {}", place.name()),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let (call, context) = (call.clone(), context.clone());
        blocking(move || list(&call, &context).unwrap_or_else(|answer| answer))
    }
}

fn list(call: &Call, context: &ToolContext) -> Result<Answer, Answer> {
    let arguments = Arguments::of(call)?;
    let depth = arguments.number("depth")?.unwrap_or(1).clamp(1, DEPTH);
    let place = place(context, arguments.text("path")?.unwrap_or("."))?;
    match context.sources.files.stat(&place.path) {
        Ok(stat) if stat.kind == FileKind::Folder => {}
        Ok(_) => {
            let text = format!(
                "{} is no folder; use read to see what is in it.",
                place.name()
            );
            return Err(unexpected(text));
        }
        Err(error) if error.is_not_found() => return Err(missing(context, &place)),
        Err(error) => return Err(unexpected(sentence(&error.to_string()))),
    }
    let mut listed = Listed::default();
    listed.folder(files_of(context).as_ref(), &place.path, 0, depth);
    if let Some(problem) = listed.problems.first().filter(|_| listed.text.is_empty()) {
        return Err(unexpected(sentence(problem)));
    }
    Ok(listed.answer(place.name()))
}

#[derive(Default)]
struct Listed {
    text: String,
    count: usize,
    beyond: usize,
    problems: Vec<String>,
}

impl Listed {
    fn folder(&mut self, files: &dyn Files, folder: &AbsPath, level: u64, depth: u64) {
        let listing = match files.list(folder) {
            Ok(listing) => listing,
            Err(error) => return self.problems.push(error.to_string()),
        };
        let problems = listing.problems.iter();
        self.problems.extend(problems.map(ToString::to_string));
        for entry in &listing.entries {
            if self.count >= NAMES {
                self.beyond += 1;
                continue;
            }
            self.count += 1;
            let name = entry.path.name();
            let indent = "  ".repeat(level as usize);
            self.text
                .push_str(&format!("{indent}{name}{}\n", mark(entry)));
            let is_open = entry.kind == FileKind::Folder
                && !entry.is_link
                && !CLOSED.contains(&name.as_str());
            if is_open && level + 1 < depth {
                self.folder(files, &entry.path, level + 1, depth);
            }
        }
    }

    fn answer(mut self, name: &str) -> Answer {
        if self.count == 0 {
            self.text = format!("({name} is empty)");
        }
        for problem in self.problems.iter().take(3) {
            self.text.push_str(&format!("({problem})\n"));
        }
        let beyond = self.beyond;
        if beyond == 0 {
            return Answer::ok(self.text);
        }
        let more = format!("(and {beyond} more; list a folder below, or use glob)\n");
        self.text.push_str(&more);
        Answer::ok(self.text).with_detail(Detail::OutputTruncated)
    }
}

fn mark(entry: &Entry) -> &'static str {
    match (entry.kind, entry.is_link) {
        (FileKind::Folder, false) => "/",
        (FileKind::Folder, true) => "/ (a link)",
        (FileKind::File, false) => "",
        (FileKind::File, true) => " (a link)",
        (FileKind::BrokenLink, _) => " (a link that leads nowhere)",
        (FileKind::Other, _) => " (no file)",
    }
}
