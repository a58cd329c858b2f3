//! `grep`: what files hold, unsaved texts of the editor included.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use futures::future::BoxFuture;
use host::FileKind;
use model::{Profile, ToolSpec};
use project::search::{
    Case, FileMatches, Includes, SearchEvent, SearchQuery, SearchScope, SearchSummary, Syntax,
    search,
};
use project::{Hidden, Ignored, SECRETS, WalkOptions};
use text::{Buffer, Snapshot};

use crate::outcome::Detail;
use crate::tool::{Access, Answer, Call, Shown, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::glob::{Cancel, ground};
use super::place::{Place, escape, missing, place, shown};
use super::read::sentence;
use super::{Options, blocking, cut, invalid, of, spec, unexpected};

/// Matches that are looked for where the call does not say how many.
const MATCHES: u64 = 200;
/// Matches that are looked for at most.
const MOST: u64 = 5000;
/// Bytes of a row that are shown.
const ROW: usize = 400;

/// Searches in files.
pub(super) struct Grep {
    options: Arc<Options>,
}

impl Grep {
    pub(super) fn new(options: &Arc<Options>) -> Self {
        Self {
            options: Arc::clone(options),
        }
    }
}

impl Tool for Grep {
    fn name(&self) -> &str {
        "grep"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Searches in the project's files, as `path:line:text` per match. What ignore files name is left out. The pattern is a regular expression as ripgrep has it.";
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
                        "The folder or file to search; the project folder if left out",
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
                        "Take the pattern as it stands, not as an expression",
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
                        "Matches after which the search ends; 200 if left out",
                    ),
                ),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let arguments = Arguments::of(call)?;
        let asked = query(&arguments)?;
        let place = place(context, arguments.text("path")?.unwrap_or("."))?;
        Ok(Access {
            reads: vec![place.tree()],
            title: format!("search {} in {}", asked.pattern, place.name()),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let (owned, context, options) = (call.clone(), context.clone(), Arc::clone(&self.options));
        let cancel = Cancel::new();
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

fn query(arguments: &Arguments<'_>) -> Result<SearchQuery, Answer> {
    let pattern = arguments.needed("pattern")?;
    if pattern.is_empty() {
        return Err(invalid("grep: `pattern` is empty; give what to look for"));
    }
    let flag = |name| arguments.flag(name);
    let context_rows = arguments.number("context")?.unwrap_or(0).min(50);
    let limit = arguments.number("limit")?.unwrap_or(MATCHES).clamp(1, MOST);
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
            Case::Insensitive
        } else {
            Case::Sensitive
        },
        whole_word: false,
        files: WalkOptions {
            include,
            // What holds secrets is looked into only when it is named, and then rules have a say.
            exclude: SECRETS.iter().map(|glob| (*glob).to_owned()).collect(),
            hidden: Hidden::Visit,
            ignored: Ignored::Skip,
        },
        context_rows: usize::try_from(context_rows).unwrap_or(0),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        only_rows: false,
    })
}

fn grep(
    call: &Call,
    context: &ToolContext,
    options: &Options,
    cancel: &AtomicBool,
) -> Result<Answer, Answer> {
    let arguments = Arguments::of(call)?;
    let mut query = query(&arguments)?;
    let place = place(context, arguments.text("path")?.unwrap_or("."))?;
    let root = root(context, &place, &mut query)?;
    // A file that is asked for by name is looked into whatever rules say; a glob only narrows.
    let includes = match query.files.ignored {
        Ignored::Visit => Includes::Widen,
        Ignored::Skip => Includes::Narrow,
    };
    let sieve = context.sources.search.as_ref();
    let sieve = sieve.and_then(|search| search.sieve(&context.root));
    let scope = SearchScope::new(ground(context, options), root)
        .with_unsaved(unsaved(context))
        .with_includes(includes)
        .with_sieve(sieve);
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
            place.name(),
            summary.files_searched
        );
        return Ok(Answer::ok(text));
    }
    found.sort_by(|one, two| one.path.cmp(&two.path));
    let mut text = match arguments.flag("files_only")? {
        true => found
            .iter()
            .map(|file| shown(context, &file.path) + "\n")
            .collect(),
        false => rows(context, &found, query.context_rows),
    };
    if summary.is_cut {
        let more = format!(
            "(the search ended after {} matches; narrow it, or give a higher `limit`)\n",
            summary.matches
        );
        text.push_str(&more);
    }
    let answer = cut::answer(context, &options.rooms.of(context), text);
    let answer = match summary.is_cut {
        true => answer.with_detail(Detail::OutputTruncated),
        false => answer,
    };
    Ok(answer.showing(Shown::Places(places(context, &found))))
}

/// The folder to search. A file is searched as the only one of its folder.
fn root(context: &ToolContext, place: &Place, query: &mut SearchQuery) -> Result<AbsPath, Answer> {
    match context.sources.files.stat(&place.path) {
        Ok(stat) if stat.kind == FileKind::Folder => Ok(place.path.clone()),
        Ok(stat) if stat.kind == FileKind::File => {
            query.files.include = vec![format!("/{}", escape(&place.path.name()))];
            query.files.exclude.clear();
            query.files.ignored = Ignored::Visit;
            Ok(place.path.parent().unwrap_or_else(|| place.path.clone()))
        }
        Ok(_) => Err(unexpected(format!(
            "{} is neither a file nor a folder; name one of these.",
            place.name()
        ))),
        Err(error) if error.is_not_found() => Err(missing(context, place)),
        Err(error) => Err(unexpected(sentence(&error.to_string()))),
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

fn collect(
    query: &SearchQuery,
    scope: &SearchScope,
    cancel: &AtomicBool,
) -> Result<Collected, Answer> {
    /// Files of results that may wait while the ones before are put down.
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
            Ok(Err(error)) => Err(invalid(format!("grep: {error}"))),
            Err(_) => Err(unexpected("The search broke off; try a simpler pattern.")),
        }
    })
}

fn rows(context: &ToolContext, found: &[FileMatches], around: usize) -> String {
    let mut text = String::new();
    for file in found {
        let path = shown(context, &file.path);
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
    match line.len() > ROW {
        true => format!("{}…", &line[..cut::floor(line, ROW)]),
        false => line.to_owned(),
    }
}

/// For a person's eyes; no more than a card shows.
fn places(context: &ToolContext, found: &[FileMatches]) -> Vec<(String, u32, String)> {
    let all = found.iter().flat_map(|file| {
        let path = shown(context, &file.path);
        let rows = file.rows.iter();
        rows.map(move |row| (path.clone(), row.row.0 + 1, short(&row.text)))
    });
    all.take(MATCHES as usize).collect()
}
