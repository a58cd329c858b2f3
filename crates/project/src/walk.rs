//! Walks the files of a folder that ignore rules do not exclude.
//!
//! On disk this uses ripgrep's `ignore` library on several threads; for other `host::Files` it is a
//! plain recursion with the same rules. Links are not followed, so cycles cannot hang it. Start at
//! `walk`; an index uses a `WalkListing`.

mod globs;
mod listing;
mod named;
mod rules;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::AbsPath;
use base::names::{apple_double_of, is_system_litter};
use host::{FileKind, Files, ListedEntry, RealFiles};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{WalkBuilder, WalkState};

pub(crate) use globs::Globs;
pub use listing::{ListedPath, WalkListing, list_below, list_directly_in};
pub use named::NamedFiles;
pub use rules::IgnoreRules;

/// The file system to walk.
#[derive(Clone)]
pub enum WalkBackend {
    /// The real disk of the machine.
    Disk,
    /// Files behind this trait object.
    Listed(Arc<dyn Files>),
}

/// The selection of files to visit: globs, dot files and ignored files. The default skips both
/// kinds and has no globs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkOptions {
    /// Globs of which a file must match one, unless there are none. A plain name matches in any
    /// folder; a matching folder includes everything below it.
    pub include: Vec<String>,
    /// Globs that exclude files and folders.
    pub exclude: Vec<String>,
    /// Treatment of dot files. `.git` is never visited.
    pub hidden: HiddenFiles,
    /// Treatment of ignored files.
    pub ignored: IgnoredFiles,
}

/// The treatment of names that start with a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HiddenFiles {
    /// Skip these files and folders.
    #[default]
    Skip,
    /// Visit these files and folders.
    Visit,
}

/// The treatment of files that ignore rules exclude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoredFiles {
    /// Skip these files and folders.
    #[default]
    Skip,
    /// Visit these files and folders.
    Visit,
}

/// A message about a file or folder that could not be visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkProblem(pub String);

/// A glob that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the glob \"{glob}\": {reason}")]
pub struct BadGlob {
    /// Glob as written by the user.
    pub glob: String,
    /// Description of the syntax error.
    pub reason: String,
}

/// Calls `visit` with every file below `root` that the options select, and every problem, from
/// several threads at once and in no order, until `cancel` is set. Folders are not passed. Blocks.
///
/// # Errors
///
/// Fails before the walk if a glob is invalid.
pub fn walk(
    backend: &WalkBackend,
    root: &AbsPath,
    options: &WalkOptions,
    cancel: &AtomicBool,
    visit: &(dyn Fn(Result<AbsPath, WalkProblem>) + Sync),
) -> Result<(), BadGlob> {
    walk_with(backend, root, options, cancel, &|| Box::new(visit))
}

/// Receives one file or problem; one per thread, so it may keep state between calls.
pub(crate) type Visitor<'a> = Box<dyn FnMut(Result<AbsPath, WalkProblem>) + Send + 'a>;

/// Like `walk`, with a visitor for each thread, made by `visitor`.
pub(crate) fn walk_with<'a>(
    backend: &WalkBackend,
    root: &AbsPath,
    options: &WalkOptions,
    cancel: &AtomicBool,
    visitor: &(dyn Fn() -> Visitor<'a> + Sync),
) -> Result<(), BadGlob> {
    let overrides = overrides(root, options)?;
    match backend {
        WalkBackend::Disk => walk_disk(root, options, overrides, cancel, visitor),
        WalkBackend::Listed(files) => {
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

/// Walks the folder and returns the files as sorted paths relative to `root`, and the problems.
/// Blocks; incomplete if `cancel` is set.
///
/// # Errors
///
/// Fails if a glob is invalid.
pub fn file_list(
    backend: &WalkBackend,
    root: &AbsPath,
    options: &WalkOptions,
    cancel: &AtomicBool,
) -> Result<(Vec<PathBuf>, Vec<WalkProblem>), BadGlob> {
    let found = std::sync::Mutex::new((Vec::new(), Vec::new()));
    walk(backend, root, options, cancel, &|result| {
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

/// Compiles the include and exclude globs, relative to `root`; an excluded path stays excluded even
/// if it is included. Empty globs are skipped. Returns an error for an invalid glob.
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
        // `src`, `src/`, `src/*` and `{src,app}` include everything below, as users expect.
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

fn walker(root: &AbsPath, hidden: HiddenFiles, ignored: IgnoredFiles) -> WalkBuilder {
    let heed = ignored == IgnoredFiles::Skip;
    let mut builder = WalkBuilder::new(root.as_path());
    builder
        .hidden(hidden == HiddenFiles::Skip)
        .ignore(heed)
        .git_ignore(heed)
        .git_global(heed)
        .git_exclude(heed)
        .parents(heed)
        .filter_entry(|entry| {
            let exists = |name: &OsStr| {
                let path = AbsPath::new(entry.path().with_file_name(name));
                path.is_some_and(|path| RealFiles.exists(&path))
            };
            let name = entry.file_name();
            name != ".git" && (entry.depth() == 0 || !is_litter(name, exists))
        });
    builder
}

/// A walk over any `Files`: slower, but with the same rules.
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
        let own = (self.options.ignored == IgnoredFiles::Skip)
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

    /// Whether an entry is not visited: `.git`, or excluded by a glob, hidden, or ignored by
    /// `rules`. A matching include glob takes precedence over the last two.
    fn leaves_out(&self, entry: &ListedEntry, rules: &[Gitignore]) -> bool {
        let name = entry.path.name();
        let is_folder = entry.kind == FileKind::Folder;
        if name == ".git" || is_litter_in(self.files, &entry.path) {
            return true;
        }
        let overridden = self.overrides.matched(entry.path.as_path(), is_folder);
        if overridden.is_ignore() {
            return true;
        }
        if overridden.is_whitelist() {
            return false;
        }
        if self.options.hidden == HiddenFiles::Skip && name.starts_with('.') {
            return true;
        }
        debug_assert!(entry.path.is_within(self.root));
        is_ignored_by(rules, &entry.path, is_folder)
    }
}

/// Returns whether macOS made an entry for itself; such an entry is not part of a project. A name
/// such as `._a` counts only if `a` exists in its folder, whose attributes it then holds.
fn is_litter(name: &OsStr, exists: impl FnOnce(&OsStr) -> bool) -> bool {
    let name = name.as_bytes();
    is_system_litter(name)
        || apple_double_of(name).is_some_and(|first| exists(OsStr::from_bytes(first)))
}

/// Returns the same as `is_litter`, for an entry of any files.
pub(crate) fn is_litter_in(files: &dyn Files, path: &AbsPath) -> bool {
    is_litter(path.file_name(), |name| {
        let folder = path.parent();
        folder.is_some_and(|folder| files.exists(&folder.join(Path::new(name))))
    })
}

/// Returns whether the nearest rule that matches `path` ignores it; `false` if none matches.
/// `rules` go from the outermost folder to the innermost; folders above `path` are not considered.
pub(crate) fn is_ignored_by(rules: &[Gitignore], path: &AbsPath, is_folder: bool) -> bool {
    for rules in rules.iter().rev() {
        let matched = rules.matched(path.as_path(), is_folder);
        if !matched.is_none() {
            return matched.is_ignore();
        }
    }
    false
}

/// Reads the rules of one folder's `.gitignore` and `.ignore`, and of a repository's
/// `info/exclude`; invalid lines are skipped. `None` if there are none. Blocks on the disk.
pub(crate) fn folder_rules(files: &dyn Files, folder: &AbsPath) -> Option<Gitignore> {
    /// A larger file is not a real ignore file.
    const LIMIT: u64 = 1 << 20;
    let mut builder = GitignoreBuilder::new(folder.as_path());
    let mut any = false;
    for name in [".git/info/exclude", ".gitignore", ".ignore"] {
        let path = folder.join(name);
        let Ok(on_disk) = files.read(&path, LIMIT) else {
            continue;
        };
        for line in String::from_utf8_lossy(&on_disk).lines() {
            // An invalid line is skipped, as in git.
            any |= builder.add_line(None, line).is_ok();
        }
    }
    if any { builder.build().ok() } else { None }
}

#[cfg(test)]
mod tests;
