//! The links that a path passes through, looked up one name at a time.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// As many links are followed as the kernel follows.
const MOST: usize = 40;

/// Where a path below a folder leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// The links on the way that lie below the folder, first to last.
    pub(crate) links: Vec<PathBuf>,
    /// The path without links; the file may not exist. `None` where it leaves the folder, or never ends.
    pub(crate) end: Option<PathBuf>,
}

/// Follows `path` below `root`, which is without links itself. Names that do not exist are kept as they are.
pub(crate) fn trace(root: &Path, path: &Path) -> Trace {
    let mut trace = Trace {
        links: Vec::new(),
        end: None,
    };
    let Some(mut rest) = below(root, path) else {
        return trace;
    };
    let mut at = root.to_owned();
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            if at == root || !at.pop() {
                return trace;
            }
            continue;
        }
        at.push(&name);
        let Ok(target) = fs::read_link(&at) else {
            continue;
        };
        trace.links.push(at.clone());
        at.pop();
        if trace.links.len() > MOST {
            return trace;
        }
        let (base, names) = match target.is_absolute() {
            true => match below(root, &target) {
                Some(names) => (root.to_owned(), names),
                None => return trace,
            },
            false => (at, names(&target)),
        };
        at = base;
        for name in names.into_iter().rev() {
            rest.push_front(name);
        }
    }
    trace.end = Some(at);
    trace
}

/// The names of a path, relative to `root`. An absolute path has to begin with it.
fn below(root: &Path, path: &Path) -> Option<VecDeque<OsString>> {
    match path.is_absolute() {
        true => path.strip_prefix(root).ok().map(names),
        false => Some(names(path)),
    }
}

fn names(path: &Path) -> VecDeque<OsString> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_followed_through_every_link_below_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("a real path");
        fs::create_dir_all(root.join("a/b")).expect("folders");
        for (link, target) in [
            ("one", "a"),
            ("a/two", "../one/b"),
            ("out", "../x"),
            ("loop", "loop"),
            ("own", root.join("a").to_str().expect("a path")),
        ] {
            symlink(target, root.join(link)).expect("a link");
        }
        let check = |path: &str, links: &[&str], end: Option<&str>| {
            let trace = trace(&root, Path::new(path));
            let expected: Vec<PathBuf> = links.iter().map(|link| root.join(link)).collect();
            assert_eq!(trace.end, end.map(|end| root.join(end)), "{path}");
            if end.is_some() {
                assert_eq!(trace.links, expected, "{path}");
            }
        };
        check("a/b/new", &[], Some("a/b/new"));
        check("one/x", &["one"], Some("a/x"));
        check("a/two/x/../y", &["a/two", "one"], Some("a/b/y"));
        check("own/b", &["own"], Some("a/b"));
        check("./a/./b", &[], Some("a/b"));
        check("out/x", &["out"], None);
        check("loop", &[], None);
        check("..", &[], None);
        check("/etc", &[], None);
    }
}
