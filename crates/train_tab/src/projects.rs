//! Packages as projects whose files change.
//!
//! A package of which the list names two versions changes from the older to the newer, like a commit.
//! In a package of one version some rows are taken out, and typing them is the change. The md5 of a
//! package's name, without the version, modulo 8 is its set: 0 is the final one, 1 is for
//! development, the rest is for fitting.

use std::collections::BTreeMap;
use std::path::Path;

use base::AbsPath;
use md5::{Digest, Md5};
use packages::archive;
use packages::sources::{Registry, Source};
use replay::ChangedFile;
use syntax::{Language, language_for};

use super::error::Error;

/// Larger files, in bytes, are generated or bundled.
const MAX_FILE_BYTES: usize = 150_000;

/// Files with a longer mean row, in bytes, were not written by hand.
const MAX_MEAN_ROW_BYTES: usize = 70;

/// Bytes of a package's files that are read.
const MAX_PROJECT_BYTES: usize = 1_200_000;

/// Maximum number of changed files of one package.
const MAX_CHANGED_FILES: usize = 16;

/// Number of files that are changed together.
const FILES_PER_CHANGE: usize = 4;

/// Of the crates with one version, one in so many is used: their changes are only rows taken out.
const THIN_CRATES: u128 = 24;

/// Parts of the names of crates whose code is mostly generated.
const GENERATED_CRATES: [&str; 6] = [
    "windows",
    "objc2",
    "-sys",
    "tree-sitter",
    "icu_",
    "unicode-",
];

/// Projects that benchmarks replay; their packages are not used.
const MEASURED: [&str; 14] = [
    "tokio",
    "ripgrep",
    "flask",
    "requests",
    "gin",
    "axios",
    "vue",
    "hyper",
    "bat",
    "echo",
    "starlette",
    "black",
    "redux",
    "preact",
];

/// Drops packages that are of little use, or that benchmarks measure.
pub(super) fn choose(packages: &mut Vec<Source>) {
    let names: Vec<String> = packages.iter().map(|it| it.name.clone()).collect();
    packages.retain(|it| {
        let versions = names.iter().filter(|name| **name == it.name).count();
        let is_drawn = versions > 1 || (hash_of(&it.name) / 8).is_multiple_of(THIN_CRATES);
        let is_generated = GENERATED_CRATES.iter().any(|part| it.name.contains(part));
        let is_used = it.registry != Registry::Cargo || is_drawn && !is_generated;
        is_used && !MEASURED.contains(&it.name.as_str())
    });
}

/// The use of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProjectSet {
    Fitting,
    Development,
    Final,
}

impl ProjectSet {
    /// Returns the name of the set in the list.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fitting => "fitting",
            Self::Development => "development",
            Self::Final => "final",
        }
    }
}

/// Returns the set of the package `name`.
pub(super) fn set_of(name: &str) -> ProjectSet {
    match hash_of(name) % 8 {
        0 => ProjectSet::Final,
        1 => ProjectSet::Development,
        _ => ProjectSet::Fitting,
    }
}

fn hash_of(name: &str) -> u128 {
    u128::from_be_bytes(Md5::digest(name.as_bytes()).into())
}

/// A package to replay: the archive of each of its versions, the older one first.
pub(super) struct Package<'a> {
    pub(super) name: &'a str,
    versions: Vec<&'a Source>,
}

/// A package before its changes.
pub(super) struct Project {
    /// All of its files that hold code.
    pub(super) files: Vec<(AbsPath, String)>,
    /// Changes of files, each made together, one after the other.
    pub(super) changes: Vec<Vec<ChangedFile>>,
}

/// Returns the packages of a set, by registry and name.
pub(super) fn packages(sources: &[Source], set: ProjectSet) -> Vec<Package<'_>> {
    let mut found: BTreeMap<(Registry, &str), Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|it| set_of(&it.name) == set) {
        let key = (source.registry, source.name.as_str());
        found.entry(key).or_default().push(source);
    }
    let mut packages = Vec::new();
    for ((_, name), mut versions) in found {
        versions.sort_by_key(|it| numbers(&it.version));
        packages.push(Package { name, versions });
    }
    packages
}

/// Returns the numbers in a version, for their order.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|ch: char| !ch.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

impl Package<'_> {
    /// Reads the files of the newest version, by path.
    pub(super) fn texts(&self, inputs: &Path) -> Result<BTreeMap<String, String>, Error> {
        let newest = self.versions.last();
        newest.map_or_else(
            || Ok(BTreeMap::new()),
            |source| files(source, &source.path(inputs)),
        )
    }

    /// Reads the archives. Returns an error if one is missing or damaged.
    pub(super) fn read(&self, inputs: &Path) -> Result<Project, Error> {
        let mut texts = Vec::new();
        for source in &self.versions {
            texts.push(files(source, &source.path(inputs))?);
        }
        let (Some(mut old), Some(new)) = (texts.first().cloned(), texts.last()) else {
            return Ok(Project {
                files: Vec::new(),
                changes: Vec::new(),
            });
        };
        if texts.len() == 1 {
            without_rows(&mut old, self.name);
        }
        let changed = old.iter().filter_map(|(path, text)| {
            let new = new.get(path).filter(|new| *new != text)?;
            Some(ChangedFile {
                path: absolute(path)?,
                language: language(path)?,
                old: text.clone(),
                new: new.clone(),
            })
        });
        let mut changed: Vec<ChangedFile> = changed.collect();
        thin_out(&mut changed, MAX_CHANGED_FILES);
        let mut changes = Vec::new();
        while !changed.is_empty() {
            let rest = changed.split_off(FILES_PER_CHANGE.min(changed.len()));
            changes.push(std::mem::replace(&mut changed, rest));
        }
        let files = old.into_iter();
        Ok(Project {
            files: files
                .filter_map(|(path, text)| Some((absolute(&path)?, text)))
                .collect(),
            changes,
        })
    }
}

/// Keeps at most `most` items, evenly from all.
fn thin_out<T>(items: &mut Vec<T>, most: usize) {
    let count = items.len();
    let mut ix = 0;
    items.retain(|_| {
        ix += 1;
        count <= most || ix * most / count > (ix - 1) * most / count
    });
}

fn absolute(path: &str) -> Option<AbsPath> {
    Some(AbsPath::new("/project")?.join(path))
}

/// Returns the files of an archive that were written by hand, by their path below its top folder.
fn files(source: &Source, archive: &Path) -> Result<BTreeMap<String, String>, Error> {
    let mut files = BTreeMap::new();
    let mut left = MAX_PROJECT_BYTES;
    let registry = source.registry;
    let wants = |path: &str| language(path).is_some() && is_source(registry, path);
    archive::each_file(archive, &wants, &mut |path, text| {
        let rows = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let is_written = text.len() <= MAX_FILE_BYTES
            && text.len() / rows <= MAX_MEAN_ROW_BYTES
            && !is_generated(&text);
        if is_written && text.len() <= left {
            left -= text.len();
            files.insert(below_top(registry, path).to_owned(), text);
        }
    })?;
    let has_typescript = files.keys().any(|path| path.ends_with(".ts"));
    if has_typescript {
        // The JavaScript beside it is compiled.
        files.retain(|path, _| !path.ends_with(".js") && !path.ends_with(".mjs"));
    }
    Ok(files)
}

/// Removes the folder that is named for the version.
fn below_top(registry: Registry, path: &str) -> &str {
    match registry {
        Registry::Pypi | Registry::Debian => path,
        Registry::Cargo | Registry::Npm => path.split_once('/').map_or(path, |(_, rest)| rest),
    }
}

fn is_source(registry: Registry, path: &str) -> bool {
    const NEVER: [&str; 12] = [
        "/dist/",
        "/vendor/",
        "/node_modules/",
        "/third_party/",
        "/_vendor/",
        "/bundle",
        ".min.",
        ".d.ts",
        ".d.mts",
        "generated",
        "_pb2",
        ".pb.go",
    ];
    let fits = match registry {
        Registry::Cargo => path.ends_with(".rs"),
        Registry::Debian => path.ends_with(".go"),
        Registry::Npm => !path.ends_with(".py"),
        Registry::Pypi => path.ends_with(".py") || path.ends_with(".go"),
    };
    fits && !NEVER.iter().any(|part| path.contains(part))
}

fn is_generated(text: &str) -> bool {
    let start: String = text.lines().take(12).collect();
    [
        "DO NOT EDIT",
        "@generated",
        "__esModule",
        "automatically generated",
    ]
    .iter()
    .any(|mark| start.contains(mark))
        || text.contains("sourceMappingURL=")
}

/// Returns the language of a source file; `None` for documents and data.
fn language(path: &str) -> Option<Language> {
    let language = language_for(Path::new(path), "")?;
    const CODE: [&str; 6] = ["Rust", "Python", "TypeScript", "TSX", "JavaScript", "Go"];
    CODE.contains(&language.name()).then_some(language)
}

/// Takes some rows out of some files: runs of one to nine rows within a block.
fn without_rows(files: &mut BTreeMap<String, String>, name: &str) {
    let mut random = Random::new(name);
    let mut paths: Vec<String> = files.keys().cloned().collect();
    paths.retain(|path| files.get(path).is_some_and(|text| text.len() > 1500));
    thin_out(&mut paths, MAX_CHANGED_FILES / 2);
    for path in paths {
        if let Some(text) = files.get_mut(&path) {
            *text = with_gaps(text, &mut random);
        }
    }
}

/// Returns a text without some runs of rows, about one in 60 rows.
fn with_gaps(text: &str, random: &mut Random) -> String {
    let rows: Vec<&str> = text.split_inclusive('\n').collect();
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while at < rows.len() {
        let is_start = !rows[at].trim().is_empty() && random.below(60) == 0;
        let count = if is_start {
            1 + random.below(9) * random.below(9) / 8
        } else {
            0
        };
        for row in 0..count {
            // A run ends with its block.
            if at < rows.len() && (row == 0 || !rows[at].trim().is_empty()) {
                at += 1;
            }
        }
        if let Some(row) = rows.get(at) {
            kept.push_str(row);
        }
        at += 1;
    }
    kept
}

/// Pseudo-random numbers that depend on a name alone.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(name: &str) -> Self {
        Self((hash_of(name) as u64) | 1)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, numbers, thin_out, with_gaps};

    #[test]
    fn rows_are_taken_out_and_the_others_stay() {
        let text: String = (0..2000).map(|row| format!("row {row}\n")).collect();
        let kept = with_gaps(&text, &mut Random::new("a"));
        assert!(kept.len() < text.len() && kept.len() > text.len() / 2);
        assert!(kept.lines().all(|row| text.contains(row)));
        assert_eq!(kept, with_gaps(&text, &mut Random::new("a")));
        assert_ne!(kept, with_gaps(&text, &mut Random::new("b")));
    }

    #[test]
    fn versions_sort_by_their_numbers() {
        let mut versions = ["1.10.0", "1.9.2", "1.9.10"];
        versions.sort_by_key(|it| numbers(it));
        assert_eq!(versions, ["1.9.2", "1.9.10", "1.10.0"]);
    }

    #[test]
    fn a_thinned_list_is_even() {
        let mut items: Vec<usize> = (0..100).collect();
        thin_out(&mut items, 4);
        assert_eq!(items, [24, 49, 74, 99]);
    }
}
