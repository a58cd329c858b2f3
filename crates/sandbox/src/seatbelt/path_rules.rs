//! The rules on files, from the root of the disk down.

use std::collections::BTreeSet;
use std::path::Path;

use base::AbsPath;

use super::base_rules::{DEVICES, SHARED};
use super::spelling::{MAX_PATTERN_BYTES, any_spelling, folder_pattern, plain, quoted};
use super::{ProfileContext, ProfilePaths};
use crate::SandboxError;
use crate::names::folded;

/// The other way to every path of the user's volume.
const DATA: &str = "/System/Volumes/Data";

/// The meaning of a rule. Of two rules on the same path the later variant decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RuleKind {
    Hidden,
    Readable,
    /// Protected names in a folder.
    Names,
    Writable,
    Fixed,
    Open,
}

/// A rule, sorted by the depth of its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PathRule {
    depth: usize,
    kind: RuleKind,
    path: AbsPath,
    names: Vec<String>,
}

impl PathRule {
    fn of(kind: RuleKind, path: &AbsPath) -> Self {
        Self {
            depth: depth(path),
            kind,
            path: path.clone(),
            names: Vec::new(),
        }
    }

    fn names(folder: &AbsPath, names: &[String]) -> Self {
        Self {
            // The names are one level deeper than their folder.
            depth: depth(folder) + 1,
            kind: RuleKind::Names,
            path: folder.clone(),
            names: names.to_vec(),
        }
    }

    /// Returns whether the rule is about a path or a folder above it. A grant may cover a path in
    /// another spelling, which a volume may take for the same.
    fn covers(&self, path: &AbsPath) -> bool {
        match self.kind {
            RuleKind::Names => {
                let inner = path.relative_to(&self.path).unwrap_or(Path::new(""));
                self.names
                    .iter()
                    .any(|name| is_within_spelled(inner, Path::new(name)))
            }
            RuleKind::Writable | RuleKind::Open => {
                is_within_spelled(path.as_path(), self.path.as_path())
            }
            RuleKind::Hidden | RuleKind::Readable | RuleKind::Fixed => path.is_within(&self.path),
        }
    }

    fn text(&self) -> Result<String, SandboxError> {
        let path = quoted(&self.path)?;
        let rule = match self.kind {
            RuleKind::Hidden => hide(&self.path)?,
            RuleKind::Readable => {
                format!("(allow file-read* (literal {path}) (subpath {path}))\n")
            }
            RuleKind::Names => forbid_names(&self.path, &self.names)?,
            RuleKind::Writable | RuleKind::Open => {
                format!("(allow file-read* file-write* (literal {path}) (subpath {path}))\n")
            }
            RuleKind::Fixed => {
                let pattern = bounded(&self.path, leaf_pattern(&self.path)?)?;
                format!(
                    "(deny file-write* (literal {path}) (subpath {path}) (regex #\"^{pattern}\"))\n"
                )
            }
        };
        Ok(rule)
    }
}

/// Appends the rules.
pub(super) fn write(
    paths: &ProfilePaths,
    context: &ProfileContext,
    text: &mut String,
) -> Result<(), SandboxError> {
    text.push_str(
        "\n; Reading: the disk, except what all programs share and what is hidden.\n\
         (allow file-read* file-test-existence)\n\
         (allow file-map-executable)\n",
    );
    for path in SHARED {
        text.push_str(&format!(
            "(deny file-read* file-write* (subpath \"{path}\") (subpath \"{DATA}{path}\"))\n"
        ));
    }
    text.push_str(DEVICES);
    text.push_str("\n; The paths of the policy, from the root down.\n");
    let rules = rules(paths, context);
    for rule in &rules {
        text.push_str(&rule.text()?);
    }
    ancestors(paths, context, text)?;
    pins(paths, context, &rules, text)
}

fn rules(paths: &ProfilePaths, context: &ProfileContext) -> BTreeSet<PathRule> {
    let of = |kind: RuleKind, paths: &[AbsPath]| -> Vec<PathRule> {
        paths.iter().map(|path| PathRule::of(kind, path)).collect()
    };
    let mut rules: BTreeSet<PathRule> = BTreeSet::new();
    rules.extend(of(RuleKind::Hidden, &paths.hidden));
    for path in &paths.readable {
        // Others are visible anyway.
        let mut hidden = paths.hidden.iter().map(AbsPath::as_path);
        let mut shared = SHARED.iter().map(Path::new);
        let is_covered = |above: &Path| is_within_spelled(path.as_path(), above);
        if hidden.any(is_covered) || shared.any(is_covered) {
            rules.insert(PathRule::of(RuleKind::Readable, path));
        }
    }
    rules.extend(of(RuleKind::Writable, &paths.writable));
    rules.extend(of(
        RuleKind::Writable,
        std::slice::from_ref(&context.private),
    ));
    rules.extend(of(RuleKind::Open, &paths.open));
    let names = paths.names.iter();
    rules.extend(names.map(|(folder, names)| PathRule::names(folder, names)));
    for path in paths.fixed.iter().chain(&paths.readable) {
        // Others cannot be written anyway.
        if is_writable(&rules, path) {
            rules.insert(PathRule::of(RuleKind::Fixed, path));
        }
    }
    rules
}

/// Returns whether a path is below another in some spelling.
fn is_within_spelled(path: &Path, above: &Path) -> bool {
    let names = |path: &Path| -> Vec<String> { path.iter().map(folded).collect() };
    let above = names(above);
    !above.is_empty() && names(path).starts_with(&above)
}

/// Returns whether the rules may let a path be written.
fn is_writable(rules: &BTreeSet<PathRule>, path: &AbsPath) -> bool {
    let mut rules = rules.iter().filter(|rule| rule.kind != RuleKind::Readable);
    let last = rules.rfind(|rule| rule.covers(path));
    last.is_some_and(|rule| matches!(rule.kind, RuleKind::Writable | RuleKind::Open))
}

fn hide(path: &AbsPath) -> Result<String, SandboxError> {
    let text = quoted(path)?;
    let other =
        quoted(&AbsPath::new(format!("{DATA}{}", plain(path.as_path())?)).unwrap_or(path.clone()))?;
    let pattern = bounded(path, leaf_pattern(path)?)?;
    Ok(format!(
        "(deny file-read* file-write* (literal {text}) (subpath {text}) (literal {other}) (subpath {other}) \
         (regex #\"^({DATA})?{pattern}\"))\n"
    ))
}

fn forbid_names(folder: &AbsPath, names: &[String]) -> Result<String, SandboxError> {
    let mut spelled = Vec::with_capacity(names.len());
    let mut rule = String::from("(deny file-write*");
    for name in names {
        let path = quoted(&folder.join(name))?;
        rule.push_str(&format!(" (literal {path}) (subpath {path})"));
        spelled.push(any_spelling(name)?);
    }
    let pattern = format!("{}({})(/|$)", folder_pattern(folder)?, spelled.join("|"));
    let pattern = bounded(folder, pattern)?;
    rule.push_str(&format!(" (regex #\"^{pattern}\"))\n"));
    Ok(rule)
}

/// Returns a pattern for a path whose last component is in any spelling, and everything below it.
fn leaf_pattern(path: &AbsPath) -> Result<String, SandboxError> {
    let folder = path.parent().unwrap_or_else(|| path.clone());
    let name = path.as_path().file_name().unwrap_or_default();
    let name = plain(name.as_ref())?;
    Ok(format!(
        "{}{}(/|$)",
        folder_pattern(&folder)?,
        any_spelling(name)?
    ))
}

fn bounded(path: &AbsPath, pattern: String) -> Result<String, SandboxError> {
    if pattern.len() <= MAX_PATTERN_BYTES {
        return Ok(pattern);
    }
    Err(SandboxError::Policy {
        reason: format!(
            "the pattern that protects names in {path} has {} bytes, and macOS accepts {MAX_PATTERN_BYTES}; shorten \
             the list of protected names in permissions.json",
            pattern.len()
        ),
    })
}

/// Allows the folders above everything that is granted to be examined, which resolving a path and
/// finding the current folder need.
fn ancestors(
    paths: &ProfilePaths,
    context: &ProfileContext,
    text: &mut String,
) -> Result<(), SandboxError> {
    let given = paths.writable.iter().chain(&paths.readable);
    let given = given.chain([&context.private]).chain(&paths.open);
    let mut above: BTreeSet<AbsPath> = BTreeSet::new();
    for path in given {
        above.extend(parents(path).filter(|folder| depth(folder) > 0));
    }
    text.push_str("\n; The folders above can be examined, not listed.\n");
    text.push_str("(allow file-read-metadata file-test-existence");
    for folder in above {
        text.push_str(&format!("\n  (literal {})", quoted(&folder)?));
    }
    text.push_str(")\n");
    Ok(())
}

/// Denies moving the folders that lead to a protected or hidden path, and second names for files.
fn pins(
    paths: &ProfilePaths,
    context: &ProfileContext,
    rules: &BTreeSet<PathRule>,
    text: &mut String,
) -> Result<(), SandboxError> {
    let tops = || {
        paths
            .writable
            .iter()
            .chain(&paths.open)
            .chain([&context.private])
    };
    let inner = paths
        .hidden
        .iter()
        .chain(&paths.readable)
        .chain(&paths.fixed);
    let inner = inner.chain(&paths.pins).chain(tops());
    let mut pinned: BTreeSet<AbsPath> = tops().chain(&paths.pins).cloned().collect();
    for path in inner {
        pinned.extend(parents(path));
    }
    for (folder, _) in &paths.names {
        pinned.extend(parents(folder).chain([folder.clone()]));
    }
    pinned.retain(|folder| is_writable(rules, folder));
    text.push_str(
        "\n; Folders that lead to a protected path cannot be renamed, removed or replaced.\n",
    );
    for folder in pinned {
        let folder = quoted(&folder)?;
        text.push_str(&format!(
            "(deny file-write-create file-write-unlink (literal {folder}))\n"
        ));
    }
    text.push_str(
        "\n; A second name would lead past the rules on the first. A set-user-id file would outlive the run.\n\
         (deny file-link file-clone)\n\
         (deny file-write-setugid)\n",
    );
    Ok(())
}

/// Returns the folders above a path, the nearest first.
fn parents(path: &AbsPath) -> impl Iterator<Item = AbsPath> {
    std::iter::successors(path.parent(), AbsPath::parent)
}

fn depth(path: &AbsPath) -> usize {
    path.as_path().components().count() - 1
}
