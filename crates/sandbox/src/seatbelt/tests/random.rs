//! Tests random policies and paths: no profile allows an operation that its policy denies.
//!
//! The oracle finds the nearest path of the policy that contains the tested path, as the mounts of
//! Linux do, and never reads a profile. `BURIN_ROUNDS`, which the soak sets to 34, is the number of
//! policies in steps of 3,000. `random_disk` tests links.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use std::os::unix::ffi::OsStrExt as _;

use base::AbsPath;
use base::names::{NameRules, widest_key};

use super::evaluator::{Question, may_be_allowed};
use super::{context, path, reader};
use crate::seatbelt::{ProfilePaths, profile};
use crate::{Policy, UserEnvironment};

/// Components of paths: quotation marks, patterns, spellings, other scripts.
const NAMES: &[&str] = &[
    "a",
    "A",
    "b",
    ".git",
    ".GIT",
    "con\u{fb01}g",
    "config",
    "hooks",
    "x\"y",
    "x!y",
    "(",
    "[a-z]*",
    "caf\u{e9}",
    "cafe\u{301}",
    "STRASSE",
    "stra\u{df}e",
    "\u{914d}\u{7f6e}",
    "a b",
    "\\",
    ".ss\u{212a}",
    ".ssk",
    "\u{17f}t",
    "st",
    "$",
    "^",
    "a|b",
    "\u{1f600}",
    "a\nb",
];

fn name(random: &mut StdRng) -> &'static str {
    NAMES[random.random_range(0..NAMES.len())]
}

fn below(random: &mut StdRng, folder: &AbsPath, depth: usize) -> AbsPath {
    let depth = random.random_range(1..=depth);
    (0..depth).fold(folder.clone(), |at, _| at.join(name(random)))
}

fn random_paths(random: &mut StdRng) -> ProfilePaths {
    let top = path("/Users/ada");
    let some = |random: &mut StdRng, most: usize, folder: &AbsPath| -> Vec<AbsPath> {
        let count = random.random_range(0..=most);
        (0..count).map(|_| below(random, folder, 3)).collect()
    };
    let mut writable = vec![below(random, &top, 2)];
    writable.extend(some(random, 2, &top));
    let root = writable[0].clone();
    let folders = some(random, 2, &root).into_iter().chain([root.clone()]);
    let names = folders.map(|folder| {
        let count = random.random_range(1..4);
        let names = (0..count).map(|_| name(random).to_owned());
        (folder, names.collect())
    });
    let names = names.collect();
    ProfilePaths {
        hidden: [some(random, 2, &root), some(random, 2, &top)].concat(),
        readable: some(random, 1, &top),
        fixed: some(random, 3, &root),
        open: some(random, 1, &root),
        pins: some(random, 2, &root),
        writable,
        names,
    }
}

/// A path with what it is compared by.
struct KeyedPath {
    path: AbsPath,
    parent: Option<AbsPath>,
    /// The same bytes as every spelling on a volume that folds names.
    folded: Vec<u8>,
    /// The same bytes as every spelling on some volume.
    widest: Vec<u8>,
}

impl KeyedPath {
    fn new(path: &AbsPath) -> Self {
        let bytes = path.as_path().as_os_str().as_bytes();
        Self {
            path: path.clone(),
            parent: path.parent(),
            folded: NameRules::FOLDING.key(bytes).into_owned(),
            widest: widest_key(bytes).into_owned(),
        }
    }

    fn all(paths: &[AbsPath]) -> Vec<Self> {
        paths.iter().map(Self::new).collect()
    }
}

/// Decides as the policy does, on a volume that tells spellings apart or not. A path that may denote
/// a protected one is not allowed.
struct Oracle {
    writable: Vec<KeyedPath>,
    readable: Vec<KeyedPath>,
    hidden: Vec<KeyedPath>,
    fixed: Vec<KeyedPath>,
    open: Vec<KeyedPath>,
    names: Vec<KeyedPath>,
}

impl Oracle {
    fn new(paths: &ProfilePaths) -> Self {
        let names = paths.names.iter();
        let names = names.flat_map(|(folder, names)| names.iter().map(|name| folder.join(name)));
        Self {
            writable: KeyedPath::all(&paths.writable),
            readable: KeyedPath::all(&paths.readable),
            hidden: KeyedPath::all(&paths.hidden),
            fixed: KeyedPath::all(&paths.fixed),
            open: KeyedPath::all(&paths.open),
            names: names.map(|name| KeyedPath::new(&name)).collect(),
        }
    }

    fn asked(&self, path: &AbsPath, folds: bool) -> AskedPath<'_> {
        let above = std::iter::successors(Some(path.clone()), AbsPath::parent);
        AskedPath {
            oracle: self,
            above: above.map(|path| KeyedPath::new(&path)).collect(),
            folds,
        }
    }
}

/// A path that is asked about.
struct AskedPath<'a> {
    oracle: &'a Oracle,
    /// The path and the folders above it, the nearest first.
    above: Vec<KeyedPath>,
    folds: bool,
}

impl AskedPath<'_> {
    /// Returns the depth of the deepest of `paths` that contains the path; 0 if none does.
    fn nearest(&self, paths: &[KeyedPath]) -> usize {
        self.deepest(paths, |one, above| {
            if self.folds {
                one.folded == above.folded
            } else {
                one.path == above.path
            }
        })
    }

    /// The same, with the last component of `paths` in any spelling.
    fn nearest_spelled(&self, paths: &[KeyedPath]) -> usize {
        let spelled = self.deepest(paths, |one, above| {
            one.parent == above.parent && one.widest == above.widest
        });
        spelled.max(self.nearest(paths))
    }

    fn deepest(
        &self,
        paths: &[KeyedPath],
        is_same: impl Fn(&KeyedPath, &KeyedPath) -> bool,
    ) -> usize {
        let is_one = |above: &&KeyedPath| paths.iter().any(|one| is_same(one, above));
        self.above
            .iter()
            .find(is_one)
            .map_or(0, |above| above.path.as_path().components().count())
    }

    fn may_read(&self) -> bool {
        let Oracle {
            writable,
            readable,
            hidden,
            open,
            ..
        } = self.oracle;
        let given = [writable, readable, open].map(|paths| self.nearest(paths));
        let hidden = self.nearest_spelled(hidden);
        hidden == 0 || given.iter().any(|given| *given >= hidden)
    }

    fn may_write(&self) -> bool {
        let oracle = self.oracle;
        let names = self.nearest_spelled(&oracle.names);
        let open = self.nearest(&oracle.open);
        let given = open.max(self.nearest(&oracle.writable));
        let fixed = self.nearest_spelled(&oracle.fixed);
        let fixed = fixed.max(self.nearest(&oracle.readable));
        let hidden = self.nearest_spelled(&oracle.hidden);
        let is_over = |denied: usize, wins: bool| denied > given || denied == given && wins;
        given > 0
            && !is_over(hidden, false)
            && !is_over(names, false)
            && !is_over(fixed, open < fixed)
    }
}

fn policy() -> Policy {
    let user = UserEnvironment {
        home: path("/Users/ada"),
        own: Vec::new(),
        environment: Vec::new(),
    };
    Policy::usual(path("/Users/ada/a"), &user, &[])
}

#[test]
fn no_profile_allows_more_than_its_policy() {
    let rounds = std::env::var("BURIN_ROUNDS");
    let policies = rounds.map_or(300, |rounds| {
        3_000 * rounds.parse::<u64>().expect("a number")
    });
    let policy = policy();
    let [mut refused, mut allowed, mut denied] = [0; 3];
    for seed in 0..policies {
        let mut random = StdRng::seed_from_u64(seed);
        let paths = random_paths(&mut random);
        let text = match profile(&policy, &paths, &context()) {
            Ok(text) => text,
            Err(error) => {
                assert!(error.to_string().contains("cannot be expressed"), "{error}");
                refused += 1;
                continue;
            }
        };
        let rules = reader::read(&text).unwrap_or_else(|problem| panic!("{problem} in {text}"));
        let oracle = Oracle::new(&paths);
        let given = [&paths.writable, &paths.hidden, &paths.fixed, &paths.open].map(Vec::as_slice);
        let given: Vec<AbsPath> = given.concat();
        for _ in 0..4 {
            let from = &given[random.random_range(0..given.len())];
            let at = match random.random_range(0..3) {
                0 => from.clone(),
                1 => from
                    .parent()
                    .unwrap_or_else(|| from.clone())
                    .join(name(&mut random)),
                _ => below(&mut random, from, 2),
            };
            let at_text = at.as_path().to_str().expect("text");
            for folds in [false, true] {
                let asked = oracle.asked(&at, folds);
                let (may_read, may_write) = (asked.may_read(), asked.may_write());
                for (operation, may) in [
                    ("file-read-data", may_read),
                    ("file-write-create", may_write),
                    ("file-write-data", may_write),
                ] {
                    let question = Question::path(operation, at_text);
                    let is_allowed = may_be_allowed(&rules, &question, folds);
                    allowed += usize::from(is_allowed);
                    denied += usize::from(!may);
                    let context = || format!("seed {seed}, folds {folds}: {question:?} in {text}");
                    assert!(may || !is_allowed, "{}", context());
                }
            }
        }
    }
    // The profiles do not simply deny everything.
    assert!(
        allowed > 300 && denied > 300 && refused > 10,
        "{allowed} {denied} {refused}"
    );
}
