//! Every file of a folder that ignore rules leave over.
//!
//! On disk this is the walk of ripgrep's `ignore` library, on several threads; over any other
//! `host::Files` it is a plain recursion with the same rule files. Links are not followed, so loops
//! of links cannot hang it. Start at `walk`; what an index has to know of a folder is a `Layout`.

mod globs;
mod layout;
mod named;
mod rules;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::AbsPath;
use host::{Entry, FileKind, Files};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{WalkBuilder, WalkState};

pub(crate) use globs::Globs;
pub use layout::{LaidOut, Layout, lay_out, lay_out_folder};
pub use named::NamedFiles;
pub use rules::Rules;

/// What the walk goes over.
#[derive(Clone)]
pub enum Ground {
    /// The machine's own disk.
    Disk,
    /// Whatever this gives access to.
    Listed(Arc<dyn Files>),
}

/// Which files count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkOptions {
    /// Globs of which a file must match one, unless there are none. A plain name matches in any
    /// folder; a folder that matches stands for everything beneath it.
    pub include: Vec<String>,
    /// Globs that take files and folders out.
    pub exclude: Vec<String>,
    /// Whether names that start with a dot count. `.git` never does.
    pub hidden: Hidden,
    /// Whether ignore files are heeded.
    pub ignored: Ignored,
}

/// What to do with names that start with a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hidden {
    /// Leave them out.
    #[default]
    Skip,
    /// Take them along.
    Visit,
}

/// What to do with what ignore files name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// Leave it out.
    #[default]
    Skip,
    /// Take it along.
    Visit,
}

/// Something the walk could not look at, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkProblem(pub String);

/// A glob that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the glob \"{glob}\": {reason}")]
pub struct BadGlob {
    /// As written.
    pub glob: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Calls `visit` with every file, from several threads at once, until `cancel` is set.
pub fn walk(
    ground: &Ground,
    root: &AbsPath,
    options: &WalkOptions,
    cancel: &AtomicBool,
    visit: &(dyn Fn(Result<AbsPath, WalkProblem>) + Sync),
) -> Result<(), BadGlob> {
    walk_with(ground, root, options, cancel, &|| Box::new(visit))
}

/// Takes one found file or problem; one per thread, so it may keep what it needs between calls.
pub(crate) type Visitor<'a> = Box<dyn FnMut(Result<AbsPath, WalkProblem>) + Send + 'a>;

/// As `walk`, with a visitor made anew for each thread.
pub(crate) fn walk_with<'a>(
    ground: &Ground,
    root: &AbsPath,
    options: &WalkOptions,
    cancel: &AtomicBool,
    visitor: &(dyn Fn() -> Visitor<'a> + Sync),
) -> Result<(), BadGlob> {
    let overrides = overrides(root, options)?;
    match ground {
        Ground::Disk => walk_disk(root, options, overrides, cancel, visitor),
        Ground::Listed(files) => {
            let walk = ListedWalk {
                files: files.as_ref(),
                root,
                options,
                overrides,
                cancel,
            };
            walk.folder(root, &mut Vec::new(), &mut visitor());
        }
    }
    Ok(())
}

/// The files as paths relative to `root`, sorted; what could not be read beside them.
pub fn file_list(
    ground: &Ground,
    root: &AbsPath,
    options: &WalkOptions,
    cancel: &AtomicBool,
) -> Result<(Vec<PathBuf>, Vec<WalkProblem>), BadGlob> {
    let found = std::sync::Mutex::new((Vec::new(), Vec::new()));
    walk(ground, root, options, cancel, &|result| {
        let mut found = found.lock().unwrap_or_else(|poison| poison.into_inner());
        match result {
            Ok(path) => found
                .0
                .extend(path.relative_to(root).map(Path::to_path_buf)),
            Err(problem) => found.1.push(problem),
        }
    })?;
    let (mut paths, problems) = found
        .into_inner()
        .unwrap_or_else(|poison| poison.into_inner());
    paths.sort_unstable();
    Ok((paths, problems))
}

fn overrides(root: &AbsPath, options: &WalkOptions) -> Result<Override, BadGlob> {
    let mut builder = OverrideBuilder::new(root.as_path());
    let included = options.include.iter().map(|glob| ("", glob.trim()));
    let excluded = options.exclude.iter().map(|glob| ("!", glob.trim()));
    for (sign, glob) in included.chain(excluded) {
        if glob.is_empty() {
            continue;
        }
        let bad = |error: ignore::Error| BadGlob {
            glob: glob.to_owned(),
            reason: error.to_string(),
        };
        builder.add(&format!("{sign}{glob}")).map_err(bad)?;
        // `src`, `src/`, `src/*` and `{src,app}` mean everything beneath, as people write it.
        let folder = glob.trim_end_matches('/');
        if !folder.ends_with("**") {
            let beneath = format!("{sign}{folder}/**");
            builder.add(&beneath).map_err(bad)?;
        }
    }
    builder.build().map_err(|error| BadGlob {
        glob: options.include.join(", "),
        reason: error.to_string(),
    })
}

fn walk_disk<'a>(
    root: &AbsPath,
    options: &WalkOptions,
    overrides: Override,
    cancel: &AtomicBool,
    visitor: &(dyn Fn() -> Visitor<'a> + Sync),
) {
    let walker = walker(root, options.hidden, options.ignored)
        .overrides(overrides)
        .build_parallel();
    walker.run(|| {
        let mut visit = visitor();
        Box::new(move |entry| {
            if cancel.load(Ordering::Relaxed) {
                return WalkState::Quit;
            }
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    if let Some(path) = AbsPath::new(entry.path()) {
                        visit(Ok(path));
                    }
                }
                Ok(_) => {}
                Err(error) => visit(Err(WalkProblem(format!("cannot look at {error}")))),
            }
            WalkState::Continue
        })
    });
}

fn walker(root: &AbsPath, hidden: Hidden, ignored: Ignored) -> WalkBuilder {
    let heed = ignored == Ignored::Skip;
    let mut builder = WalkBuilder::new(root.as_path());
    builder
        .hidden(hidden == Hidden::Skip)
        .ignore(heed)
        .git_ignore(heed)
        .git_global(heed)
        .git_exclude(heed)
        .parents(heed)
        .filter_entry(|entry| entry.file_name() != ".git");
    builder
}

/// The walk over anything that can list folders: slower, but with the same rules.
struct ListedWalk<'a> {
    files: &'a dyn Files,
    root: &'a AbsPath,
    options: &'a WalkOptions,
    overrides: Override,
    cancel: &'a AtomicBool,
}

impl ListedWalk<'_> {
    fn folder(&self, folder: &AbsPath, rules: &mut Vec<Gitignore>, visit: &mut Visitor<'_>) {
        let listing = match self.files.list(folder) {
            Ok(listing) => listing,
            Err(error) => return visit(Err(WalkProblem(error.to_string()))),
        };
        let own = (self.options.ignored == Ignored::Skip)
            .then(|| folder_rules(self.files, folder))
            .flatten();
        let depth = rules.len();
        rules.extend(own);
        for problem in listing.problems {
            visit(Err(WalkProblem(problem.to_string())));
        }
        for entry in listing.entries {
            if self.cancel.load(Ordering::Relaxed) {
                break;
            }
            if entry.is_link || self.leaves_out(&entry, rules) {
                continue;
            }
            match entry.kind {
                FileKind::Folder => self.folder(&entry.path, rules, visit),
                FileKind::File => visit(Ok(entry.path)),
                FileKind::BrokenLink | FileKind::Other => {}
            }
        }
        rules.truncate(depth);
    }

    fn leaves_out(&self, entry: &Entry, rules: &[Gitignore]) -> bool {
        let name = entry.path.name();
        let is_folder = entry.kind == FileKind::Folder;
        if name == ".git" {
            return true;
        }
        let overridden = self.overrides.matched(entry.path.as_path(), is_folder);
        if overridden.is_ignore() {
            return true;
        }
        if overridden.is_whitelist() {
            return false;
        }
        if self.options.hidden == Hidden::Skip && name.starts_with('.') {
            return true;
        }
        debug_assert!(entry.path.is_within(self.root));
        is_ignored_by(rules, &entry.path, is_folder)
    }
}

/// Whether the nearest rule that speaks of `path` ignores it. `rules` go from the outermost folder
/// to the innermost.
pub(crate) fn is_ignored_by(rules: &[Gitignore], path: &AbsPath, is_folder: bool) -> bool {
    for rules in rules.iter().rev() {
        let matched = rules.matched(path.as_path(), is_folder);
        if !matched.is_none() {
            return matched.is_ignore();
        }
    }
    false
}

/// The rules of one folder's `.gitignore` and `.ignore`, and of a repository's `info/exclude`.
pub(crate) fn folder_rules(files: &dyn Files, folder: &AbsPath) -> Option<Gitignore> {
    /// An ignore file beyond this is not one.
    const LIMIT: u64 = 1 << 20;
    let mut builder = GitignoreBuilder::new(folder.as_path());
    let mut any = false;
    for name in [".git/info/exclude", ".gitignore", ".ignore"] {
        let path = folder.join(name);
        let Ok(on_disk) = files.read(&path, LIMIT) else {
            continue;
        };
        for line in String::from_utf8_lossy(&on_disk).lines() {
            // A line that is no glob is skipped, as git does.
            any |= builder.add_line(None, line).is_ok();
        }
    }
    if any { builder.build().ok() } else { None }
}

#[cfg(test)]
mod tests;
