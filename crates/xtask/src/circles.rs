//! Checks that modules of a crate do not import each other in circles.
//!
//! A module is a file directly below `src`, with the folder of the same name. An import is a path that begins with
//! `crate`, or with enough `super` to reach the root of the crate; a name that `lib.rs` re-exports counts for its
//! module.

use std::collections::{BTreeMap, BTreeSet};

use crate::scan::{self, PieceKind};
use crate::tree::{self, Source};

/// List of the existing circles, which are still to be removed.
const ALLOWED: &str = "crates/xtask/src/circles.txt";

/// The modules that each module imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Returns the path of a source below its crate's `src`, without `.rs`; the first component is the
/// module.
fn module_path(source: &Source) -> Option<Vec<&str>> {
    let (_, path) = source.name.split_once("/src/")?;
    Some(path.strip_suffix(".rs")?.split('/').collect())
}

fn is_root(path: &[&str]) -> bool {
    matches!(path, ["lib" | "main"])
}

/// Returns the paths in a `use` tree.
fn use_paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let (prefix, rest) = match tree.find('{') {
        Some(brace) => (&tree[..brace], &tree[brace + 1..]),
        None => (tree, ""),
    };
    let prefix = prefix.split(" as ").next().unwrap_or_default();
    let prefix: Vec<String> = scan::words(prefix).map(str::to_owned).collect();
    if rest.is_empty() {
        return vec![prefix];
    }
    let mut paths = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (ix, letter) in rest.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth > 0 => {}
            ',' | '}' => {
                let branches = use_paths(&rest[start..ix]).into_iter();
                let branches = branches.filter(|branch| !branch.is_empty());
                paths.extend(branches.map(|branch| [prefix.clone(), branch].concat()));
                start = ix + 1;
            }
            _ => {}
        }
    }
    paths
}

/// Returns all paths in `code` that begin with `crate` or `super`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].trim_end();
            if before.ends_with("::") {
                continue;
            }
            let rest = &code[at..];
            if before.ends_with("use") {
                paths.extend(use_paths(rest.split(';').next().unwrap_or_default()));
            } else {
                let is_path =
                    |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':');
                let end = rest.find(|letter| !is_path(letter)).unwrap_or(rest.len());
                paths.push(scan::words(&rest[..end]).map(str::to_owned).collect());
            }
        }
    }
    paths
}

/// Returns the names that the root of a crate re-exports, with the modules that define them.
fn re_exports(code: &str, modules: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (at, _) in code.match_indices("pub use ") {
        let tree = code[at + "pub use ".len()..].split(';').next();
        for path in use_paths(tree.unwrap_or_default()) {
            let path: Vec<_> = path
                .into_iter()
                .filter(|it| it != "crate" && it != "self")
                .collect();
            if let [module, .., name] = &path[..]
                && modules.contains(module.as_str())
            {
                exports.insert(name.clone(), module.clone());
            }
        }
    }
    exports
}

/// Returns the imports among the modules of one crate.
fn imports(sources: &[&Source]) -> Imports {
    let code = |source: &Source| {
        scan::without(source.product(), &[PieceKind::Comment, PieceKind::Literal])
    };
    let files: Vec<(Vec<&str>, String)> = sources
        .iter()
        .filter_map(|source| Some((module_path(source)?, code(source))))
        .collect();
    let inner = files.iter().filter(|(path, _)| !is_root(path));
    let modules: BTreeSet<&str> = inner.clone().map(|(path, _)| path[0]).collect();
    let mut exports = BTreeMap::new();
    for (_, code) in files.iter().filter(|(path, _)| is_root(path)) {
        exports.extend(re_exports(code, &modules));
    }
    let mut imports = Imports::new();
    for (path, code) in inner {
        for mut target in paths(code) {
            let above = target.iter().take_while(|it| *it == "super").count();
            let is_from_root = target[0] == "crate" || above >= path.len();
            target.drain(..above.max(1));
            let Some(name) = target.first().filter(|_| is_from_root) else {
                continue;
            };
            let module = match modules.get(name.as_str()) {
                Some(module) => Some(*module),
                None => exports.get(name).map(String::as_str),
            };
            if let Some(module) = module.filter(|module| *module != path[0]) {
                let targets = imports.entry(path[0].to_owned()).or_default();
                targets.insert(module.to_owned());
            }
        }
    }
    imports
}

/// Returns the modules that can be reached from `start` through one or more imports.
fn reached<'a>(imports: &'a Imports, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        for target in imports.get(module).into_iter().flatten() {
            if reached.insert(target.as_str()) {
                open.push(target);
            }
        }
    }
    reached
}

/// Returns the maximal sets of modules that import each other, directly or through others.
fn circles(imports: &Imports) -> BTreeSet<Vec<&str>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|module| (module.as_str(), reached(imports, module)))
        .collect();
    let mut circles = BTreeSet::new();
    for (module, targets) in &reach {
        let is_back = |target: &&&str| {
            let back = reach.get(**target);
            back.is_some_and(|back| back.contains(module))
        };
        let circle: Vec<&str> = targets.iter().filter(is_back).copied().collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles
}

#[test]
fn modules_do_not_import_each_other_in_circles() {
    let sources = tree::sources();
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        crates.entry(source.crate_name()).or_default().push(source);
    }
    let mut found = BTreeMap::new();
    for (krate, sources) in crates {
        for circle in circles(&imports(&sources)) {
            found.insert(format!("{krate} {}", circle.join(" ")), String::new());
        }
    }
    tree::check_list(ALLOWED, &found, "to be opened");
}

#[test]
fn imports_are_read_from_paths_and_trees() {
    let source = |name: &str, text: &str| Source {
        name: format!("crates/x/src/{name}"),
        text: text.to_owned(),
    };
    let sources = [
        source(
            "lib.rs",
            "mod a; mod b;\npub use b::{Shown, inner::Deep};\n",
        ),
        source("a.rs", "use crate::{b::{self, One}, c};\n// crate::d::no\n"),
        source(
            "a/inner.rs",
            "fn f() { super::super::d::g(); super::own(); }\n",
        ),
        source("b.rs", "fn f(_: crate::c::C) {}\n"),
        source("c.rs", "fn f(_: crate::Deep) {}\n"),
        source("d.rs", "use super::a::inner::f as g;\n"),
    ];
    let imports = imports(&sources.iter().collect::<Vec<_>>());
    let shown: Vec<String> = imports
        .iter()
        .map(|(module, targets)| format!("{module}: {targets:?}"))
        .collect();
    assert_eq!(
        shown,
        [
            "a: {\"b\", \"c\", \"d\"}",
            "b: {\"c\"}",
            "c: {\"b\"}",
            "d: {\"a\"}"
        ]
    );
    let circles: Vec<String> = circles(&imports).iter().map(|it| it.join(" ")).collect();
    assert_eq!(circles, ["a d", "b c"]);
}
