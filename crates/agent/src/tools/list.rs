//! `list`: the contents of a folder.

use base::AbsPath;
use futures::future::BoxFuture;
use host::{FileKind, Files, ListedEntry};
use model::{Profile, ToolSpec};

use crate::error::sentence;
use crate::outcome::Detail;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::arguments::CallArguments;
use super::paths::{missing, resolve};
use super::{blocking, files_of, of, spec, unexpected};

/// Maximum number of names shown.
const NAMES: usize = 1000;
/// Maximum depth of folders.
const DEPTH: u64 = 8;
/// Folders that are listed without their contents, unless the call names them.
const CLOSED: [&str; 4] = [".git", "node_modules", "target", "__pycache__"];

/// The tool that lists folders.
pub(super) struct ListTool;

impl Tool for ListTool {
    fn name(&self) -> &str {
        "list"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description =
            "Lists the contents of a folder; folders end in /. To find files by name use glob.";
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
                        "The folder, relative to the project folder; the project folder itself if omitted",
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

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = CallArguments::of(call)?;
        arguments.number("depth")?;
        let tool_path = resolve(context, arguments.text("path")?.unwrap_or("."))?;
        let scope = match arguments.number("depth")?.unwrap_or(1) {
            0 | 1 => tool_path.scope(),
            _ => tool_path.tree(),
        };
        Ok(ToolAccess {
            reads: vec![scope],
            title: format!("list {}", tool_path.name()),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let (call, context) = (call.clone(), context.clone());
        blocking(move || list(&call, &context).unwrap_or_else(|answer| answer))
    }
}

/// Lists a folder and its subfolders, `depth` levels in all. `Err` is the result of a call that is
/// invalid, whose path is not a folder, or that could list nothing.
fn list(call: &ToolCall, context: &ToolContext) -> Result<ToolResult, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let depth = arguments.number("depth")?.unwrap_or(1).clamp(1, DEPTH);
    let tool_path = resolve(context, arguments.text("path")?.unwrap_or("."))?;
    match context.sources.files.stat(&tool_path.path) {
        Ok(stat) if stat.kind == FileKind::Folder => {}
        Ok(_) => {
            let text = format!(
                "{} is not a folder; use read to see its contents.",
                tool_path.name()
            );
            return Err(unexpected(text));
        }
        Err(error) if error.is_not_found() => return Err(missing(context, &tool_path)),
        Err(error) => return Err(unexpected(sentence(&error))),
    }
    let mut listed = ListOutput::default();
    listed.folder(files_of(context).as_ref(), &tool_path.path, 0, depth);
    if let Some(problem) = listed.problems.first().filter(|_| listed.text.is_empty()) {
        return Err(unexpected(sentence(problem)));
    }
    Ok(listed.answer(tool_path.name()))
}

#[derive(Default)]
struct ListOutput {
    text: String,
    count: usize,
    beyond: usize,
    problems: Vec<String>,
}

impl ListOutput {
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

    fn answer(mut self, name: &str) -> ToolResult {
        if self.count == 0 {
            self.text = format!("({name} is empty)");
        }
        for problem in self.problems.iter().take(3) {
            self.text.push_str(&format!("({problem})\n"));
        }
        let beyond = self.beyond;
        if beyond == 0 {
            return ToolResult::ok(self.text);
        }
        let more = format!("(and {beyond} more; list a folder below, or use glob)\n");
        self.text.push_str(&more);
        ToolResult::ok(self.text).with_detail(Detail::OutputTruncated)
    }
}

fn mark(entry: &ListedEntry) -> &'static str {
    match (entry.kind, entry.is_link) {
        (FileKind::Folder, false) => "/",
        (FileKind::Folder, true) => "/ (a link)",
        (FileKind::File, false) => "",
        (FileKind::File, true) => " (a link)",
        (FileKind::BrokenLink, _) => " (a broken link)",
        (FileKind::Other, _) => " (no file)",
    }
}
