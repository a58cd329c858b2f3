//! Files of instructions: AGENTS.md and its kin, and rules with globs.
//!
//! Invariant: of a project that is not trusted, nothing is read here.
//! Limitations: rules with globs are looked for in `.cursor/rules` of the root alone, not in folders below it.

use std::collections::BTreeSet;

use base::AbsPath;
use host::{FileKind, Files};

use super::front::Front;
use super::globs;
use super::mentions::{MentionKind, mentions};
use super::reading::{cut, read_inside, shown};

/// Instructions that were found at the beginning of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Those that hold everywhere, the person's first, then the project's: where they lie and what they say.
    pub texts: Vec<(String, String)>,
    /// Rules, each with its own use.
    pub rules: Vec<Rule>,
    /// What was left out and why, in sentences.
    pub problems: Vec<String>,
}

/// A rule with its own use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it is called: its file's name without the ending.
    pub name: String,
    /// Where it lies.
    pub path: String,
    /// When it joins the prompt.
    pub usage: RuleUse,
    /// What it says.
    pub text: String,
}

/// When a rule joins the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleUse {
    /// Always.
    Always,
    /// When a file that fits is read or changed.
    Globs(Vec<String>),
    /// When the model finds that its description fits, and reads it.
    Offered(String),
    /// When the person mentions it.
    Mentioned,
}

/// How long instructions may be, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) file: usize,
    pub(crate) all: usize,
}

/// Names of files with instructions, in the order in which they are given.
pub(super) const NAMES: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules"];
/// The folder with a project's rules.
pub(super) const RULES: &str = ".cursor/rules";
/// How many files deep a file may bring in others.
const IMPORT_DEPTH: usize = 4;

impl Limits {
    /// What fits a model: a large share of a small context, little of a large one.
    pub(crate) fn of(context_tokens: u64) -> Self {
        let bytes = context_tokens.saturating_mul(3) as usize;
        Self {
            file: (bytes / 16).clamp(2_000, 32_000),
            all: (bytes / 8).clamp(4_000, 96_000),
        }
    }
}

impl Instructions {
    /// What holds from the beginning: the person's own files, and those of the root where it is trusted.
    pub(crate) fn find(
        files: &dyn Files,
        root: &AbsPath,
        is_trusted: bool,
        config: Option<&AbsPath>,
        limits: Limits,
    ) -> Self {
        let mut reader = Reader::new(files, limits);
        if let Some(config) = config {
            reader.read_folder(config, config, root);
            reader.read_rules(&config.join("rules"), config, root);
        }
        if is_trusted {
            reader.read_folder(root, root, root);
            reader.read_rules(&root.join(RULES), root, root);
        } else if NAMES.iter().any(|name| files.exists(&root.join(name))) {
            reader.found.problems.push(format!(
                "the instructions in {root} were not read: the folder is not trusted"
            ));
        }
        reader.found
    }

    /// The instructions of the folders between the root and a file, the outermost first; the root's are not among
    /// them. `seen` are the paths that are known already.
    pub(crate) fn nested(
        files: &dyn Files,
        root: &AbsPath,
        path: &AbsPath,
        limits: Limits,
        seen: &BTreeSet<String>,
    ) -> Self {
        let mut reader = Reader::new(files, limits);
        reader.seen.clone_from(seen);
        let mut folders = Vec::new();
        let mut folder = path.parent();
        while let Some(inner) = folder.filter(|folder| folder != root && folder.is_within(root)) {
            folder = inner.parent();
            folders.push(inner);
        }
        for folder in folders.iter().rev() {
            reader.read_folder(folder, root, root);
        }
        reader.found
    }

    /// The rules that the model is to know of, for the system prompt; `None` where there are none.
    pub(crate) fn offers(&self) -> Option<String> {
        let offers = self.rules.iter().filter_map(|rule| match &rule.usage {
            RuleUse::Offered(description) => {
                let description = description.replace('\n', " ");
                Some(format!("- {}: {description}\n", rule.path))
            }
            _ => None,
        });
        let offers: String = offers.collect();
        (!offers.is_empty()).then(|| {
            format!(
                "# Rules to read when they fit\nRead the file before you do what its description speaks of.\n{offers}"
            )
        })
    }

    /// A rule by its name.
    pub(crate) fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }
}

impl Rule {
    /// Whether a file, relative to the root, makes it join.
    pub(crate) fn fits(&self, path: &str) -> bool {
        match &self.usage {
            RuleUse::Globs(globs) => globs.iter().any(|glob| globs::fits(glob, path)),
            _ => false,
        }
    }
}

/// A text of instructions as the model reads it.
pub(crate) fn framed(path: &str, text: &str) -> String {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("<instructions path=\"{path}\">\n{text}{newline}</instructions>\n")
}

struct Reader<'a> {
    files: &'a dyn Files,
    limits: Limits,
    /// Bytes that were taken so far.
    taken: usize,
    seen: BTreeSet<String>,
    found: Instructions,
}

impl<'a> Reader<'a> {
    fn new(files: &'a dyn Files, limits: Limits) -> Self {
        Self {
            files,
            limits,
            taken: 0,
            seen: BTreeSet::new(),
            found: Instructions::default(),
        }
    }

    /// Takes the files of a folder. Nothing outside of `fence` is read; paths are shown relative to `root`.
    fn read_folder(&mut self, folder: &AbsPath, fence: &AbsPath, root: &AbsPath) {
        for name in NAMES {
            let path = folder.join(name);
            self.read_file(&path, fence, root, 0);
        }
    }

    fn read_file(&mut self, path: &AbsPath, fence: &AbsPath, root: &AbsPath, depth: usize) {
        let shown_path = shown(path, root);
        if self.seen.contains(&shown_path) {
            return;
        }
        let text = match read_inside(self.files, path, fence) {
            Ok(Some(text)) => text.text,
            Ok(None) => return,
            Err(problem) => return self.found.problems.push(problem),
        };
        self.seen.insert(shown_path.clone());
        // Many projects have the same text under two names, as a link or as a copy.
        let is_known = |known: &(String, String)| known.1.trim() == text.trim();
        if text.trim().is_empty() || self.found.texts.iter().any(is_known) {
            return;
        }
        let cut = self.take(&shown_path, &text);
        self.found.texts.push((shown_path, cut));
        if path.name() != "AGENTS.md" && path.name() != ".cursorrules" {
            self.read_imports(path, &text, fence, root, depth);
        }
    }

    /// The files that a text brings in with `@path`, each as a text of its own behind it.
    fn read_imports(
        &mut self,
        path: &AbsPath,
        text: &str,
        fence: &AbsPath,
        root: &AbsPath,
        depth: usize,
    ) {
        let Some(folder) = path.parent() else {
            return;
        };
        for mention in mentions(text) {
            let MentionKind::Name { name, lines: None } = mention.kind else {
                continue;
            };
            let target = folder.join(&name);
            if name.starts_with('~') || !target.is_within(fence) {
                let path = shown(path, root);
                self.found.problems.push(format!(
                    "{path} brings in {name}, which lies elsewhere and was not read"
                ));
                continue;
            }
            let is_file = self
                .files
                .stat(&target)
                .is_ok_and(|stat| stat.kind == FileKind::File);
            if !is_file {
                continue;
            }
            if depth + 1 >= IMPORT_DEPTH {
                let path = shown(path, root);
                self.found.problems.push(format!(
                    "{path} brings in {name}, which was not read: files may bring in others {IMPORT_DEPTH} deep at most"
                ));
                continue;
            }
            self.read_file(&target, fence, root, depth + 1);
        }
    }

    fn read_rules(&mut self, folder: &AbsPath, fence: &AbsPath, root: &AbsPath) {
        let mut open = vec![folder.clone()];
        let mut paths = Vec::new();
        while let Some(folder) = open.pop() {
            let Ok(listing) = self.files.list(&folder) else {
                continue;
            };
            for entry in listing.entries {
                let name = entry.path.name();
                match entry.kind {
                    // A link could lead in a circle.
                    FileKind::Folder if !entry.is_link => open.push(entry.path),
                    FileKind::File if name.ends_with(".mdc") || name.ends_with(".md") => {
                        paths.push(entry.path);
                    }
                    _ => {}
                }
            }
        }
        paths.sort();
        for path in paths {
            match read_inside(self.files, &path, fence) {
                Ok(Some(text)) => self.add_rule(&path, &text.text, root),
                Ok(None) => {}
                Err(problem) => self.found.problems.push(problem),
            }
        }
    }

    fn add_rule(&mut self, path: &AbsPath, text: &str, root: &AbsPath) {
        let (front, body) = Front::split(text);
        let description = front.text("description").unwrap_or_default();
        let globs = front.list("globs");
        let usage = if front.is_true("alwaysApply") {
            RuleUse::Always
        } else if !globs.is_empty() {
            RuleUse::Globs(globs)
        } else if !description.trim().is_empty() {
            RuleUse::Offered(description)
        } else {
            RuleUse::Mentioned
        };
        let shown_path = shown(path, root);
        let name = path.name();
        let name = name
            .rsplit_once('.')
            .map_or(name.as_str(), |(name, _)| name);
        let text = match usage {
            RuleUse::Always => self.take(&shown_path, body.trim_start()),
            // The others are counted when they join.
            _ => cut(body.trim_start(), self.limits.file, &shown_path),
        };
        self.found.rules.push(Rule {
            name: name.to_owned(),
            path: shown_path,
            usage,
            text,
        });
    }

    /// As much of a text as fits.
    fn take(&mut self, path: &str, text: &str) -> String {
        let left = self.limits.all.saturating_sub(self.taken);
        let limit = self.limits.file.min(left);
        if text.len() > limit {
            self.found.problems.push(format!(
                "{path} has {} bytes of instructions; the model is given the first {limit}",
                text.len()
            ));
        }
        let text = cut(text, limit, path);
        self.taken += text.len().min(limit);
        text
    }
}

#[cfg(test)]
mod tests;
