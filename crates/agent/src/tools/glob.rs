//! `glob`: files by name.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use host::FileKind;
use model::{Profile, ToolSpec};
use project::{Hidden, Ignored, WalkOptions};

use crate::globs::Glob;
use crate::outcome::Detail;
use crate::tool::{Access, Answer, Call, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::place::{Place, missing, place, shown};
use super::read::sentence;
use super::{Ground, Options, blocking, invalid, of, spec, unexpected};

/// Paths that are shown.
const PATHS: usize = 500;

/// Finds files by name.
pub(super) struct FindFiles {
    options: Arc<Options>,
}

impl FindFiles {
    pub(super) fn new(options: &Arc<Options>) -> Self {
        Self {
            options: Arc::clone(options),
        }
    }
}

impl Tool for FindFiles {
    fn name(&self) -> &str {
        "glob"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Finds files by name: `*.rs` in any folder, `src/**/*.rs` below src. What ignore files name is left out. To search in what files hold use grep.";
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
                        "The folder to look in; the project folder if left out",
                    ),
                ),
                ("ignored", of("boolean", "Also what ignore files name")),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let arguments = Arguments::of(call)?;
        let pattern = arguments.needed("pattern")?;
        arguments.flag("ignored")?;
        let place = place(context, arguments.text("path")?.unwrap_or("."))?;
        Ok(Access {
            reads: vec![place.tree()],
            title: format!("find {pattern} in {}", place.name()),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let (owned, context, options) = (call.clone(), context.clone(), Arc::clone(&self.options));
        let cancel = Cancel::new();
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

/// Tells work on another thread that nobody waits for it any more.
pub(super) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn find(
    call: &Call,
    context: &ToolContext,
    options: &Options,
    cancel: &AtomicBool,
) -> Result<Answer, Answer> {
    let arguments = Arguments::of(call)?;
    let pattern = arguments.needed("pattern")?.trim();
    if pattern.is_empty() {
        return Err(invalid("glob: `pattern` is empty; give one such as `*.rs`"));
    }
    let place = folder(context, arguments.text("path")?.unwrap_or("."))?;
    let glob = Glob::new(&within(context, &place, pattern));
    let glob = glob.map_err(|error| invalid(format!("glob: {error}")))?;
    let walk = WalkOptions {
        include: Vec::new(),
        exclude: Vec::new(),
        hidden: Hidden::Visit,
        ignored: match arguments.flag("ignored")? {
            true => Ignored::Visit,
            false => Ignored::Skip,
        },
    };
    let ground = ground(context, options);
    let found = project::file_list(&ground, &place.path, &walk, cancel);
    let (mut paths, problems) = found.map_err(|error| invalid(format!("glob: {error}")))?;
    // Not by the walk: what it is told to include counts for it even where it is ignored.
    paths.retain(|path| glob.matches(path));
    if paths.is_empty() {
        if let Some(problem) = problems.first() {
            return Err(unexpected(sentence(&problem.0)));
        }
        let text = format!("No file in {} matches {pattern}.", place.name());
        return Ok(Answer::ok(text));
    }
    let mut text = String::new();
    for path in paths.iter().take(PATHS) {
        text.push_str(&shown(context, &place.path.join(path)));
        text.push('\n');
    }
    match paths.len().saturating_sub(PATHS) {
        0 => Ok(Answer::ok(text)),
        beyond => {
            text.push_str(&format!("(and {beyond} more; narrow the pattern)\n"));
            Ok(Answer::ok(text).with_detail(Detail::OutputTruncated))
        }
    }
}

/// An absolute pattern below the folder is meant from the folder on.
fn within(context: &ToolContext, place: &Place, pattern: &str) -> String {
    let folders = [&place.path, &context.root];
    let inner = folders.iter().find_map(|folder| {
        let rest = pattern.strip_prefix(&folder.to_string())?;
        Some(rest.strip_prefix('/')?.to_owned())
    });
    inner.unwrap_or_else(|| pattern.to_owned())
}

/// A folder to look in.
pub(super) fn folder(context: &ToolContext, path: &str) -> Result<Place, Answer> {
    let place = place(context, path)?;
    match context.sources.files.stat(&place.path) {
        Ok(stat) if stat.kind == FileKind::Folder => Ok(place),
        Ok(_) => Err(unexpected(format!(
            "{} is no folder; name the folder it lies in.",
            place.name()
        ))),
        Err(error) if error.is_not_found() => Err(missing(context, &place)),
        Err(error) => Err(unexpected(sentence(&error.to_string()))),
    }
}

pub(super) fn ground(context: &ToolContext, options: &Options) -> project::Ground {
    match options.ground {
        Ground::Disk => project::Ground::Disk,
        Ground::Files => project::Ground::Listed(Arc::clone(&context.sources.files)),
    }
}
