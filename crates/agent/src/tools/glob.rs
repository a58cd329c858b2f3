//! `glob`: finds files by name.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use host::FileKind;
use model::{Profile, ToolSpec};
use project::{HiddenFiles, IgnoredFiles, WalkOptions};

use crate::error::sentence;
use crate::globs::PathGlob;
use crate::outcome::Detail;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::arguments::CallArguments;
use super::paths::{ToolPath, display_path, missing, resolve};
use super::{SearchBackend, ToolOptions, blocking, invalid, of, spec, unexpected};

/// Maximum number of paths shown.
const PATHS: usize = 500;

/// The tool that finds files by name.
pub(super) struct GlobTool {
    pub(super) options: Arc<ToolOptions>,
}

impl Tool for GlobTool {
    fn name(&self) -> &str {
        "glob"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Finds files by name: `*.rs` in any folder, `src/**/*.rs` below src. Files excluded by ignore files are skipped. To search file contents use grep.";
        Some(spec(
            "glob",
            profile,
            description,
            1,
            &[
                ("pattern", of("string", "The glob")),
                (
                    "path",
                    of(
                        "string",
                        "The folder to look in; the project folder if omitted",
                    ),
                ),
                (
                    "ignored",
                    of("boolean", "Include files excluded by ignore files"),
                ),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let pattern = arguments.needed("pattern")?;
        arguments.flag("ignored")?;
        let tool_path = resolve(context, arguments.text("path")?.unwrap_or("."))?;
        Ok(ToolAccess {
            reads: vec![tool_path.tree()],
            title: format!("find {pattern} in {}", tool_path.name()),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let (owned, context, options) = (call.clone(), context.clone(), Arc::clone(&self.options));
        let cancel = SearchCancel::new();
        let flag = cancel.flag();
        let work = blocking(move || {
            find(&owned, &context, &options, &flag).unwrap_or_else(|answer| answer)
        });
        Box::pin(async move {
            let answer = work.await;
            drop(cancel);
            answer
        })
    }
}

/// Cancels work on another thread when dropped, by setting a flag that the work reads.
pub(super) struct SearchCancel(Arc<AtomicBool>);

impl SearchCancel {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for SearchCancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lists the files that match the pattern, up to `PATHS`. `Ok` even if none does; `Err` is the
/// result of an invalid call, or of one that found nothing and met a problem. Setting `cancel` ends
/// the walk early.
fn find(
    call: &ToolCall,
    context: &ToolContext,
    options: &ToolOptions,
    cancel: &AtomicBool,
) -> Result<ToolResult, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let pattern = arguments.needed("pattern")?.trim();
    if pattern.is_empty() {
        return Err(invalid("glob: `pattern` is empty; give one such as `*.rs`"));
    }
    let tool_path = folder(context, arguments.text("path")?.unwrap_or("."))?;
    let glob = PathGlob::new(&within(context, &tool_path, pattern));
    let glob = glob.map_err(|error| invalid(format!("glob: {error}")))?;
    let walk = WalkOptions {
        include: Vec::new(),
        exclude: Vec::new(),
        hidden: HiddenFiles::Visit,
        ignored: if arguments.flag("ignored")? {
            IgnoredFiles::Visit
        } else {
            IgnoredFiles::Skip
        },
    };
    let backend = walk_backend(context, options);
    let found = project::file_list(&backend, &tool_path.path, &walk, cancel);
    let (mut paths, problems) = found.map_err(|error| invalid(format!("glob: {error}")))?;
    // The walk would find ignored files too if the pattern were passed as an include.
    paths.retain(|path| glob.matches(path));
    if paths.is_empty() {
        if let Some(problem) = problems.first() {
            return Err(unexpected(sentence(&problem.0)));
        }
        let text = format!("No file in {} matches {pattern}.", tool_path.name());
        return Ok(ToolResult::ok(text));
    }
    let mut text = String::new();
    for path in paths.iter().take(PATHS) {
        text.push_str(&display_path(context, &tool_path.path.join(path)));
        text.push('\n');
    }
    match paths.len().saturating_sub(PATHS) {
        0 => Ok(ToolResult::ok(text)),
        beyond => {
            text.push_str(&format!("(and {beyond} more; narrow the pattern)\n"));
            Ok(ToolResult::ok(text).with_detail(Detail::OutputTruncated))
        }
    }
}

/// Makes an absolute pattern below the folder relative to it.
fn within(context: &ToolContext, tool_path: &ToolPath, pattern: &str) -> String {
    let folders = [&tool_path.path, &context.root];
    let inner = folders.iter().find_map(|folder| {
        let rest = pattern.strip_prefix(&folder.to_string())?;
        Some(rest.strip_prefix('/')?.to_owned())
    });
    inner.unwrap_or_else(|| pattern.to_owned())
}

/// Resolves the folder to search, relative to the root. Fails with the result of the call if it is
/// missing or not a folder.
pub(super) fn folder(context: &ToolContext, path: &str) -> Result<ToolPath, ToolResult> {
    let tool_path = resolve(context, path)?;
    match context.sources.files.stat(&tool_path.path) {
        Ok(stat) if stat.kind == FileKind::Folder => Ok(tool_path),
        Ok(_) => Err(unexpected(format!(
            "{} is not a folder; name the folder that contains it.",
            tool_path.name()
        ))),
        Err(error) if error.is_not_found() => Err(missing(context, &tool_path)),
        Err(error) => Err(unexpected(sentence(&error))),
    }
}

/// Returns the file walk that the options select.
pub(super) fn walk_backend(context: &ToolContext, options: &ToolOptions) -> project::WalkBackend {
    match options.search_backend {
        SearchBackend::Disk => project::WalkBackend::Disk,
        SearchBackend::Files => project::WalkBackend::Listed(Arc::clone(&context.sources.files)),
    }
}
