//! Tests random policies on a real disk with links: however a path leads to a file, no profile
//! allows an operation that the policy does not grant there.
//!
//! The kernel resolves the links in the paths of the policy and in the tested paths. The oracle
//! knows the lists of the policy; it neither reads a profile nor uses the lookups that build
//! profiles. `BURIN_ROUNDS`, which the soak sets to 34, is the number of disks in steps of 100; 40
//! paths are asked about on each.
#![expect(
    clippy::disallowed_methods,
    reason = "where a link leads is what the kernel says of a real disk"
)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use base::AbsPath;
use base::names::widest_key;

use super::evaluator::{Question, may_be_allowed};
use super::{context, reader};
use crate::seatbelt::{ProfilePaths, profile};
use crate::{Policy, UserEnvironment};

/// Names of entries: quotation marks, patterns, newlines, other scripts, protected names.
const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    "x\"y",
    "[a-z]*",
    "a b",
    "a\nb",
    "con\u{fb01}g",
    "\u{914d}",
    ".vscode",
    ".VSCode",
    ".envrc",
    "caf\u{e9}",
];

/// The protected names, as the policy spells them.
const PROTECTED: [&str; 3] = [".vscode", ".envrc", "caf\u{e9}"];

const PATHS: usize = 40;

/// The greatest number of links that the tests follow from one to the next.
const MAX_LINKS: usize = 12;

fn pick<'a, T>(random: &mut StdRng, all: &'a [T]) -> &'a T {
    &all[random.random_range(0..all.len())]
}

fn chance(random: &mut StdRng, in_ten: u32) -> bool {
    random.random_range(0..10) < in_ten
}

/// Folders with entries and links at random, and a policy for them.
struct Scene {
    _folder: tempfile::TempDir,
    top: PathBuf,
    /// Folders, and links that may lead to one.
    places: Vec<PathBuf>,
    policy: Policy,
}

impl Scene {
    fn new(random: &mut StdRng) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let top = fs::canonicalize(folder.path()).expect("a real path");
        let mut places = ["work", "other", "far"].map(|name| top.join(name)).to_vec();
        for place in &places {
            fs::create_dir(place).expect("a folder");
        }
        for _ in 0..16 {
            let at = pick(random, &places).join(pick(random, NAMES));
            // A place may be a link that leads nowhere, to a file, or out of the scene.
            let is_inside = entry(&at).is_some_and(|at| at.starts_with(&top));
            let is_folder = at.parent().is_some_and(Path::is_dir);
            if at.symlink_metadata().is_ok() || !is_inside || !is_folder {
                continue;
            }
            match random.random_range(0..5) {
                0 => fs::write(&at, "x").expect("a file"),
                1 | 2 => {
                    fs::create_dir(&at).expect("a folder");
                    places.push(at);
                }
                _ => {
                    symlink(target(random, &places), &at).expect("a link");
                    places.push(at);
                }
            }
        }
        let policy = policy(random, &top, &places);
        Self {
            _folder: folder,
            top,
            places,
            policy,
        }
    }

    /// Returns a path that may lead through links, and may not exist.
    fn path(&self, random: &mut StdRng) -> PathBuf {
        let mut path = pick(random, &self.places).clone();
        for _ in 0..random.random_range(0..3) {
            path.push(match random.random_range(0..20) {
                0 | 1 => "..",
                2 => ".git",
                _ => *pick(random, NAMES),
            });
        }
        path
    }
}

/// Returns the target of a link: absolute or relative, to an entry, to nothing or in a circle.
fn target(random: &mut StdRng, places: &[PathBuf]) -> PathBuf {
    let name = *pick(random, NAMES);
    match random.random_range(0..6) {
        0 => PathBuf::from(name),
        1 => Path::new("..").join(name),
        2 => PathBuf::from(*pick(random, &[".", "..", "../..", "../../other"])),
        3 => pick(random, places).clone(),
        _ => pick(random, places).join(name),
    }
}

fn policy(random: &mut StdRng, top: &Path, places: &[PathBuf]) -> Policy {
    let absolute = |path: PathBuf| AbsPath::new(path).expect("absolute");
    let user = UserEnvironment {
        home: absolute(top.join("far/home")),
        own: Vec::new(),
        environment: Vec::new(),
    };
    let some = |random: &mut StdRng, most: usize| -> Vec<AbsPath> {
        let count = random.random_range(0..=most);
        let paths = (0..count).map(|_| pick(random, places).join(pick(random, NAMES)));
        paths.map(absolute).collect()
    };
    let mut policy = Policy::usual(absolute(top.join("work")), &user, &PROTECTED);
    policy.scratch.clear();
    policy.hidden = some(random, 3);
    policy.protected.paths = some(random, 3);
    for root in ["work", "other"] {
        if chance(random, 1) {
            policy.protected.paths.push(absolute(top.join(root)));
        }
    }
    if chance(random, 5) {
        policy.writable.push(absolute(top.join("other")));
    }
    // A command could have replaced it by a link, so it grants nothing.
    if chance(random, 5) {
        let planted = top.join("work").join(pick(random, NAMES));
        policy.writable.push(absolute(planted));
    }
    if chance(random, 3) {
        let is_real = |place: &&PathBuf| fs::canonicalize(place).is_ok_and(|real| real == **place);
        let real: Vec<&PathBuf> = places[3..].iter().filter(is_real).collect();
        if !real.is_empty() {
            policy
                .readable
                .push(absolute((*pick(random, &real)).clone()));
        }
    }
    policy
}

/// Returns the path of an entry itself, with the links to its folder followed.
fn entry(path: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(path.parent()?).ok()?;
    Some(folder.join(path.file_name()?))
}

/// Returns the path where opening a path would find or create a file.
fn leads_to(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(real) = fs::canonicalize(&path) {
            return Some(real);
        }
        let at = entry(&path)?;
        match fs::read_link(&at) {
            Ok(target) => path = at.parent()?.join(target),
            Err(_) => return Some(at),
        }
    }
    None
}

/// Adds every link that is followed on the way of a path.
fn add_links(path: &Path, links: &mut BTreeSet<PathBuf>) {
    let mut prefixes: Vec<&Path> = path.ancestors().collect();
    prefixes.reverse();
    for at in prefixes.into_iter().filter_map(entry) {
        if let (Ok(target), Some(folder)) = (fs::read_link(&at), at.parent())
            && links.insert(at.clone())
        {
            add_links(&folder.join(target), links);
        }
    }
}

fn key(path: &Path) -> Vec<u8> {
    widest_key(path.as_os_str().as_bytes()).into_owned()
}

fn depth(path: &Path) -> usize {
    path.components().count()
}

/// Decides as the policy does.
struct Oracle {
    roots: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    /// Protected entries, what they lead to, and the links on the way; some may not exist.
    protected: BTreeSet<PathBuf>,
}

impl Oracle {
    fn new(scene: &Scene) -> Self {
        let policy = &scene.policy;
        let other = scene.top.join("other");
        let is_given = policy.writable.iter().any(|path| path.as_path() == other);
        let mut roots = vec![scene.top.join("work")];
        roots.extend(is_given.then_some(other));
        let real = |paths: &[AbsPath]| -> Vec<PathBuf> {
            let paths = paths.iter();
            paths
                .filter_map(|path| fs::canonicalize(path).ok())
                .collect()
        };
        let is_protected = |root: &PathBuf| {
            let mut paths = policy.protected.paths.iter();
            paths.any(|path| path.as_path() == root)
        };
        let (read_only, roots): (Vec<PathBuf>, Vec<PathBuf>) =
            roots.into_iter().partition(is_protected);
        let mut oracle = Self {
            roots,
            readable: [real(&policy.readable), read_only].concat(),
            hidden: real(&policy.hidden),
            protected: BTreeSet::new(),
        };
        for root in oracle.roots.clone() {
            for name in fs::read_dir(&root).expect("a folder").flatten() {
                if is_protected_name(Path::new(&name.file_name())) {
                    oracle.protect(&name.path());
                }
            }
        }
        for path in &policy.protected.paths {
            let path = path.as_path();
            if oracle.root_of(path).is_some() {
                oracle.protect(path);
            } else if let Some(at) = entry(path).filter(|at| oracle.root_of(at).is_some()) {
                oracle.protect(&at);
            }
        }
        oracle
    }

    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let mut roots = self.roots.iter();
        roots.find(|root| path.starts_with(root)).cloned()
    }

    /// Protects an entry, the links on the way and the path to which they lead; in a folder, the
    /// same for every link in it.
    fn protect(&mut self, path: &Path) {
        let mut links = BTreeSet::new();
        add_links(path, &mut links);
        let ends = [entry(path), leads_to(path)];
        // A link may lead to the whole folder, which stays writable.
        let inside = |path: &PathBuf| self.root_of(path).is_some_and(|root| root != *path);
        let found: Vec<PathBuf> = links
            .into_iter()
            .chain(ends.into_iter().flatten())
            .filter(inside)
            .collect();
        for at in found {
            if self.protected.insert(at.clone()) {
                self.protect_links(&at);
            }
        }
    }

    /// Protects what the links in a folder lead to; does nothing for a file.
    fn protect_links(&mut self, folder: &Path) {
        if !folder.symlink_metadata().is_ok_and(|facts| facts.is_dir()) {
            return;
        }
        for inner in fs::read_dir(folder).expect("a folder").flatten() {
            let inner = inner.path();
            if inner.is_symlink() {
                self.protect(&inner);
            } else {
                self.protect_links(&inner);
            }
        }
    }

    /// Returns the depth of the deepest of `paths` that contains a path; 0 if none does.
    fn deepest(paths: &[PathBuf], path: &Path) -> usize {
        let above = paths.iter().filter(|above| path.starts_with(above));
        above.map(|above| depth(above)).max().unwrap_or(0)
    }

    fn may_read(&self, path: &Path) -> bool {
        let given = Self::deepest(&self.roots, path).max(Self::deepest(&self.readable, path));
        Self::deepest(&self.hidden, path) <= given
    }

    fn may_write(&self, path: &Path) -> bool {
        let Some(root) = self.root_of(path) else {
            return false;
        };
        let inner = path.strip_prefix(&root).unwrap_or(path);
        let is_named = inner
            .iter()
            .next()
            .is_some_and(|name| is_protected_name(Path::new(name)));
        let is_same = |above: &Path| {
            let mut protected = self.protected.iter();
            protected.any(|one| one.parent() == above.parent() && key(one) == key(above))
        };
        let given = depth(&root);
        !is_named
            && !path.ancestors().any(is_same)
            && Self::deepest(&self.hidden, path) <= given
            && Self::deepest(&self.readable, path) < given
    }

    fn may_remove(&self, path: &Path) -> bool {
        let kept = self.roots.iter().chain(&self.readable);
        let kept = kept.chain(&self.hidden).chain(&self.protected);
        let mut kept = kept.filter(|kept| self.root_of(kept).is_some());
        self.may_write(path) && !kept.any(|kept| kept.starts_with(path))
    }
}

fn is_protected_name(name: &Path) -> bool {
    let name = key(name);
    let mut protected = PROTECTED.iter().chain(&[".git"]);
    protected.any(|protected| key(Path::new(protected)) == name)
}

/// Returns the operations that a program can try with a path, each with its real path and whether
/// the policy allows it.
fn trials(oracle: &Oracle, path: &Path) -> Vec<(&'static str, PathBuf, bool)> {
    let mut trials = Vec::new();
    if let Some(end) = leads_to(path) {
        let may_write = oracle.may_write(&end);
        if end.symlink_metadata().is_ok() {
            trials.push(("file-read-data", end.clone(), oracle.may_read(&end)));
            trials.push(("file-write-data", end, may_write));
        } else {
            trials.push(("file-write-create", end, may_write));
        }
    }
    if let Some(at) = entry(path).filter(|at| at.symlink_metadata().is_ok()) {
        let may = oracle.may_remove(&at);
        trials.push(("file-write-unlink", at, may));
    }
    trials
}

#[test]
fn no_link_leads_past_a_policy() {
    let rounds = std::env::var("BURIN_ROUNDS");
    let disks = rounds.map_or(60, |rounds| 100 * rounds.parse::<u64>().expect("a number"));
    let [mut refused, mut allowed, mut denied, mut linked] = [0; 4];
    for seed in 0..disks {
        let mut random = StdRng::seed_from_u64(seed);
        let scene = Scene::new(&mut random);
        let paths = ProfilePaths::find(&scene.policy).expect("paths");
        let text = match profile(&scene.policy, &paths, &context()) {
            Ok(text) => text,
            Err(error) => {
                assert!(error.to_string().contains("cannot be expressed"), "{error}");
                refused += 1;
                continue;
            }
        };
        let rules = reader::read(&text).unwrap_or_else(|problem| panic!("{problem} in {text}"));
        let oracle = Oracle::new(&scene);
        for _ in 0..PATHS {
            let path = scene.path(&mut random);
            for (operation, real, may) in trials(&oracle, &path) {
                let question = Question::path(operation, real.to_str().expect("text"));
                let is_allowed = may_be_allowed(&rules, &question, false);
                allowed += usize::from(is_allowed);
                denied += usize::from(!may);
                linked += usize::from(real != path);
                assert!(
                    may || !is_allowed,
                    "seed {seed}: {path:?} by {question:?} under {:?} in {text}",
                    scene.policy
                );
            }
        }
    }
    // The disks have links, and the profiles do not simply deny everything.
    assert!(
        allowed > 300 && denied > 300 && linked > 300 && refused > 0,
        "{allowed} {denied} {linked} {refused}"
    );
}
