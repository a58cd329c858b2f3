//! `grep`: searches file contents, including unsaved texts of the editor.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use futures::future::BoxFuture;
use host::FileKind;
use model::{Profile, ToolSpec};
use project::search::{
    BadQuery, CaseSensitivity, FileMatches, Includes, SearchEvent, SearchQuery, SearchScope,
    SearchSummary, Syntax, search,
};
use project::{HiddenFiles, IgnoredFiles, SECRETS, WalkOptions};
use text::{Buffer, Snapshot};

use crate::error::sentence;
use crate::outcome::Detail;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolDisplay, ToolResult};

use super::arguments::CallArguments;
use super::glob::{SearchCancel, walk_backend};
use super::paths::{ToolPath, display_path, escape, missing, resolve};
use super::{ToolOptions, blocking, invalid, of, spec, truncate, unexpected};

/// Default number of matches.
const MATCHES: u64 = 200;
/// Maximum number of matches.
const MAX_MATCHES: u64 = 5000;
/// Maximum length of a row shown, in bytes.
const ROW: usize = 400;

/// The tool that searches file contents.
pub(super) struct GrepTool {
    pub(super) options: Arc<ToolOptions>,
}

impl Tool for GrepTool {
    fn name(&self) -> &str {
        "grep"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Searches in the project's files, as `path:line:text` per match. Files excluded by ignore files are skipped. The pattern is a regular expression in ripgrep's syntax.";
        Some(spec(
            "grep",
            profile,
            description,
            1,
            &[
                ("pattern", of("string", "The regular expression")),
                (
                    "path",
                    of(
                        "string",
                        "The folder or file to search; the project folder if omitted",
                    ),
                ),
                (
                    "include",
                    of("string", "Only files that match this glob, such as `*.rs`"),
                ),
                (
                    "literal",
                    of(
                        "boolean",
                        "Match the pattern literally, not as a regular expression",
                    ),
                ),
                ("ignore_case", of("boolean", "Whether `a` matches `A`")),
                (
                    "context",
                    of("integer", "Rows to show before and after each match"),
                ),
                (
                    "files_only",
                    of("boolean", "Only the paths of files with a match"),
                ),
                (
                    "limit",
                    of(
                        "integer",
                        "Matches after which the search ends; 200 if omitted",
                    ),
                ),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let asked = query(&arguments)?;
        let tool_path = resolve(context, arguments.text("path")?.unwrap_or("."))?;
        Ok(ToolAccess {
            reads: vec![tool_path.tree()],
            title: format!("search {} in {}", asked.pattern, tool_path.name()),
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
            grep(&owned, &context, &options, &flag).unwrap_or_else(|answer| answer)
        });
        Box::pin(async move {
            let answer = work.await;
            drop(cancel);
            answer
        })
    }
}

/// Builds the query from the arguments. Fails with the result of the call if one is invalid or the
/// pattern is empty.
fn query(arguments: &CallArguments<'_>) -> Result<SearchQuery, ToolResult> {
    let pattern = arguments.needed("pattern")?;
    if pattern.is_empty() {
        return Err(invalid("grep: `pattern` is empty; give what to look for"));
    }
    let flag = |name| arguments.flag(name);
    let context_rows = arguments.number("context")?.unwrap_or(0).min(50);
    let limit = arguments
        .number("limit")?
        .unwrap_or(MATCHES)
        .clamp(1, MAX_MATCHES);
    flag("files_only")?;
    let include = arguments.texts("include")?;
    Ok(SearchQuery {
        pattern: pattern.to_owned(),
        syntax: if flag("literal")? {
            Syntax::Literal
        } else {
            Syntax::Regex
        },
        case: if flag("ignore_case")? {
            CaseSensitivity::Insensitive
        } else {
            CaseSensitivity::Sensitive
        },
        whole_word: false,
        files: WalkOptions {
            include,
            // Secret files are searched only if the call names them, and then the rules decide.
            exclude: SECRETS.iter().map(|glob| (*glob).to_owned()).collect(),
            hidden: HiddenFiles::Visit,
            ignored: IgnoredFiles::Skip,
        },
        context_rows: usize::try_from(context_rows).unwrap_or(0),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        only_rows: false,
    })
}

/// Searches and formats the matches by path. `Ok` even if there are none; `Err` is the result of an
/// invalid call, or of one in which every file that was searched had a problem. Setting `cancel`
/// ends the search early.
fn grep(
    call: &ToolCall,
    context: &ToolContext,
    options: &ToolOptions,
    cancel: &AtomicBool,
) -> Result<ToolResult, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let mut query = query(&arguments)?;
    let tool_path = resolve(context, arguments.text("path")?.unwrap_or("."))?;
    let root = root(context, &tool_path, &mut query)?;
    // A file the call names is searched even if it is ignored; a glob only narrows the search.
    let includes = match query.files.ignored {
        IgnoredFiles::Visit => Includes::Widen,
        IgnoredFiles::Skip => Includes::Narrow,
    };
    let sieve = context.sources.search.as_ref();
    let sieve = sieve.and_then(|search| search.prefilter(&context.root));
    let scope = SearchScope::new(walk_backend(context, options), root)
        .with_unsaved(unsaved(context))
        .with_includes(includes)
        .with_prefilter(sieve);
    let (mut found, problems, summary) = collect(&query, &scope, cancel)?;
    if found.is_empty() {
        if let Some(problem) = problems
            .first()
            .filter(|_| summary.files_searched <= problems.len())
        {
            return Err(unexpected(sentence(problem)));
        }
        let text = format!(
            "No match for {} in {} ({} files searched).",
            query.pattern,
            tool_path.name(),
            summary.files_searched
        );
        return Ok(ToolResult::ok(text));
    }
    found.sort_by(|one, two| one.path.cmp(&two.path));
    let mut text = if arguments.flag("files_only")? {
        found
            .iter()
            .map(|file| display_path(context, &file.path) + "\n")
            .collect()
    } else {
        rows(context, &found, query.context_rows)
    };
    if summary.is_cut {
        let more = format!(
            "(the search ended after {} matches; narrow it, or give a higher `limit`)\n",
            summary.matches
        );
        text.push_str(&more);
    }
    let answer = truncate::answer(context, &options.states.of(context), text);
    let answer = if summary.is_cut {
        answer.with_detail(Detail::OutputTruncated)
    } else {
        answer
    };
    Ok(answer.with_display(ToolDisplay::Places(match_locations(context, &found))))
}

/// Returns the folder to search. A single file is searched as the only included file of its folder.
fn root(
    context: &ToolContext,
    tool_path: &ToolPath,
    query: &mut SearchQuery,
) -> Result<AbsPath, ToolResult> {
    match context.sources.files.stat(&tool_path.path) {
        Ok(stat) if stat.kind == FileKind::Folder => Ok(tool_path.path.clone()),
        Ok(stat) if stat.kind == FileKind::File => {
            query.files.include = vec![format!("/{}", escape(&tool_path.path.name()))];
            query.files.exclude.clear();
            query.files.ignored = IgnoredFiles::Visit;
            Ok(tool_path
                .path
                .parent()
                .unwrap_or_else(|| tool_path.path.clone()))
        }
        Ok(_) => Err(unexpected(format!(
            "{} is neither a file nor a folder; name one of these.",
            tool_path.name()
        ))),
        Err(error) if error.is_not_found() => Err(missing(context, tool_path)),
        Err(error) => Err(unexpected(sentence(&error))),
    }
}

fn unsaved(context: &ToolContext) -> HashMap<AbsPath, Snapshot> {
    let Some(buffers) = &context.sources.buffers else {
        return HashMap::new();
    };
    let paths = buffers.unsaved().into_iter();
    paths
        .filter_map(|path| {
            let text = buffers.text(&path)?;
            Some((path, Buffer::new(&text).snapshot()))
        })
        .collect()
}

type Collected = (Vec<FileMatches>, Vec<String>, SearchSummary);

/// Runs the search on another thread and collects its matches, its problems and its summary. Fails
/// with the result of the call if the query is invalid or the search panics.
fn collect(
    query: &SearchQuery,
    scope: &SearchScope,
    cancel: &AtomicBool,
) -> Result<Collected, ToolResult> {
    /// Capacity of the channel of results, in files; the search waits when it is full.
    const AHEAD: usize = 256;
    let (sender, events) = async_channel::bounded(AHEAD);
    std::thread::scope(|threads| {
        let searching = threads.spawn(move || search(query, scope, cancel, &sender));
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        while let Ok(event) = events.recv_blocking() {
            match event {
                SearchEvent::File(file) => found.push(file),
                SearchEvent::Problem(problem) => problems.push(problem.0),
                SearchEvent::Done(_) => {}
            }
        }
        match searching.join() {
            Ok(Ok(summary)) => Ok((found, problems, summary)),
            Ok(Err(error @ BadQuery::Pattern(_))) => {
                Err(invalid(format!("grep: {error}; fix it, or set `literal`")))
            }
            Ok(Err(error)) => Err(invalid(format!("grep: {error}"))),
            Err(_) => Err(unexpected(
                "The search stopped early; try a simpler pattern.",
            )),
        }
    })
}

fn rows(context: &ToolContext, found: &[FileMatches], around: usize) -> String {
    let mut text = String::new();
    for file in found {
        let path = display_path(context, &file.path);
        for row in &file.rows {
            let number = u64::from(row.row.0) + 1;
            let first = number.saturating_sub(row.before.len() as u64);
            for (ix, line) in (first..).zip(&row.before) {
                text.push_str(&format!("{path}-{ix}-{}\n", short(line)));
            }
            text.push_str(&format!("{path}:{number}:{}\n", short(&row.text)));
            for (ix, line) in (number + 1..).zip(&row.after) {
                text.push_str(&format!("{path}-{ix}-{}\n", short(line)));
            }
            if around > 0 {
                text.push_str("--\n");
            }
        }
    }
    text
}

fn short(line: &str) -> String {
    if line.len() > ROW {
        format!("{}…", &line[..truncate::floor(line, ROW)])
    } else {
        line.to_owned()
    }
}

/// Returns the matches for the user, as many as a card shows.
fn match_locations(context: &ToolContext, found: &[FileMatches]) -> Vec<(String, u32, String)> {
    let all = found.iter().flat_map(|file| {
        let path = display_path(context, &file.path);
        let rows = file.rows.iter();
        rows.map(move |row| (path.clone(), row.row.0 + 1, short(&row.text)))
    });
    all.take(MATCHES as usize).collect()
}
