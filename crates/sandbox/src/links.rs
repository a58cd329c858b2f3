//! Resolves the links of a path one component at a time.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The kernel's own limit on followed links.
const MAX_LINKS: usize = 40;

/// The resolution of a path below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkTrace {
    /// The links on the way that lie below the folder, in order.
    pub(crate) links: Vec<PathBuf>,
    /// The path without links; the file may not exist. `None` if the path leaves the folder or the
    /// links form a cycle.
    pub(crate) target: Option<PathBuf>,
}

/// Resolves `path` below `root`, which must be free of links. Missing components are kept as they
/// are.
pub(crate) fn trace(root: &Path, path: &Path) -> LinkTrace {
    let mut trace = LinkTrace {
        links: Vec::new(),
        target: None,
    };
    let Some(mut rest) = names_below(root, path) else {
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
        if trace.links.len() > MAX_LINKS {
            return trace;
        }
        let (base, names) = if target.is_absolute() {
            match names_below(root, &target) {
                Some(names) => (root.to_owned(), names),
                None => return trace,
            }
        } else {
            (at, names(&target))
        };
        at = base;
        for name in names.into_iter().rev() {
            rest.push_front(name);
        }
    }
    trace.target = Some(at);
    trace
}

/// Returns the components of a path relative to `root`; `None` for an absolute path outside it.
fn names_below(root: &Path, path: &Path) -> Option<VecDeque<OsString>> {
    if path.is_absolute() {
        path.strip_prefix(root).ok().map(names)
    } else {
        Some(names(path))
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
            assert_eq!(trace.target, end.map(|end| root.join(end)), "{path}");
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
