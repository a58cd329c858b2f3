//! Instruction files such as AGENTS.md, and rules with globs.
//!
//! Invariant: nothing is read from an untrusted project. Limitations: rules with globs are read
//! from `.cursor/rules` of the root only, not from folders below it.

use std::collections::BTreeSet;

use base::AbsPath;
use host::{FileKind, Files};

use super::front_matter::FrontMatter;
use super::mentions::{MentionKind, mentions};
use super::reading::{display_path, read_inside, truncate};
use crate::globs::PathGlob;

/// The instructions and rules found at the start of a session, already limited in size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Global instructions, the user's first, then the project's: path and text.
    pub texts: Vec<(String, String)>,
    /// Rules with their conditions.
    pub rules: Vec<ProjectRule>,
    /// Messages about files that were skipped, with the reason.
    pub problems: Vec<String>,
}

/// A rule and the condition for its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRule {
    /// Name of the rule: its file's name without the extension.
    pub name: String,
    /// Path of its file.
    pub path: String,
    /// Condition under which it is added to the prompt.
    pub usage: RuleUse,
    /// The compiled globs of `RuleUse::Globs`; an invalid one matches nothing.
    globs: Vec<PathGlob>,
    /// Text of the rule.
    pub text: String,
}

/// The condition under which a rule is added to the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleUse {
    /// Added to every session.
    Always,
    /// Added when a matching file is read or changed.
    Globs(Vec<String>),
    /// Described to the model, which reads it on demand.
    Offered(String),
    /// Added when the user mentions it.
    Mentioned,
}

/// Size limits of instructions, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstructionLimits {
    pub(crate) file: usize,
    pub(crate) all: usize,
}

/// Instruction file names, in the order of adding.
pub(super) const FILE_NAMES: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules"];
/// The folder with a project's rules.
pub(super) const RULES_FOLDER: &str = ".cursor/rules";
/// Maximum depth of nested imports.
const MAX_IMPORT_DEPTH: usize = 4;

impl InstructionLimits {
    /// Returns the limits for a model: a large share of a small context, a small share of a large
    /// one.
    pub(crate) fn of(context_tokens: u64) -> Self {
        let bytes = context_tokens.saturating_mul(3) as usize;
        Self {
            file: (bytes / 16).clamp(2_000, 32_000),
            all: (bytes / 8).clamp(4_000, 96_000),
        }
    }
}

impl Instructions {
    /// Reads the instructions of a session's start: the user's own files, and those of the root if
    /// it is trusted.
    pub(crate) fn find(
        files: &dyn Files,
        root: &AbsPath,
        is_trusted: bool,
        config: Option<&AbsPath>,
        limits: InstructionLimits,
    ) -> Self {
        let mut reader = InstructionReader::new(files, limits);
        if let Some(config) = config {
            reader.read_folder(config, config, root);
            reader.read_rules(&config.join("rules"), config, root);
        }
        if is_trusted {
            reader.read_folder(root, root, root);
            reader.read_rules(&root.join(RULES_FOLDER), root, root);
        } else if FILE_NAMES.iter().any(|name| files.exists(&root.join(name))) {
            reader.found.problems.push(format!(
                "the instructions in {root} were not read: the folder is not trusted"
            ));
        }
        reader.found
    }

    /// Returns the instructions of the folders between the root and a file, outermost first,
    /// without the root's. `seen` holds the paths already added, which are skipped.
    pub(crate) fn nested(
        files: &dyn Files,
        root: &AbsPath,
        path: &AbsPath,
        limits: InstructionLimits,
        seen: &BTreeSet<String>,
    ) -> Self {
        let mut reader = InstructionReader::new(files, limits);
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

    /// Reads what applies to work on one file, each text between tags that name its origin: the user's
    /// own instructions and, if the root is trusted, those of the root and of the folders down to the
    /// file, and the rules with matching globs. Rules on demand are left out. `context_tokens` is the
    /// context of the model. Blocks on the disk.
    pub fn for_file(
        files: &dyn Files,
        root: &AbsPath,
        path: &AbsPath,
        is_trusted: bool,
        config: Option<&AbsPath>,
        context_tokens: u64,
    ) -> Vec<String> {
        let limits = InstructionLimits::of(context_tokens);
        let found = Self::find(files, root, is_trusted, config, limits);
        let shown_path = display_path(path, root);
        let applies =
            |rule: &&ProjectRule| rule.usage == RuleUse::Always || rule.matches(&shown_path);
        let rules = found.rules.iter().filter(applies);
        let rules = rules.map(|rule| (rule.path.clone(), rule.text.clone()));
        let mut texts: Vec<(String, String)> = found.texts.iter().cloned().chain(rules).collect();
        if is_trusted {
            let seen = texts.iter().map(|(path, _)| path.clone()).collect();
            texts.extend(Self::nested(files, root, path, limits, &seen).texts);
        }
        texts
            .iter()
            .map(|(path, text)| framed(path, text))
            .collect()
    }

    /// Lists the rules that the model may read on demand, for the system prompt; `None` if there
    /// are none.
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
                "# Rules to read on demand\nRead the file before you do what its description is about.\n{offers}"
            )
        })
    }

    /// Returns the rule with exactly this name, whatever its condition.
    pub(crate) fn rule(&self, name: &str) -> Option<&ProjectRule> {
        self.rules.iter().find(|rule| rule.name == name)
    }
}

impl ProjectRule {
    /// Returns whether a file, with a path relative to the root, matches one of the rule's globs;
    /// false for rules without globs.
    pub(crate) fn matches(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(path))
    }
}

/// Wraps instruction text in the tags that the model sees.
pub(crate) fn framed(path: &str, text: &str) -> String {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("<instructions path=\"{path}\">\n{text}{newline}</instructions>\n")
}

struct InstructionReader<'a> {
    files: &'a dyn Files,
    limits: InstructionLimits,
    /// Bytes added so far.
    taken: usize,
    seen: BTreeSet<String>,
    found: Instructions,
}

impl<'a> InstructionReader<'a> {
    fn new(files: &'a dyn Files, limits: InstructionLimits) -> Self {
        Self {
            files,
            limits,
            taken: 0,
            seen: BTreeSet::new(),
            found: Instructions::default(),
        }
    }

    /// Reads the instruction files of a folder. Nothing outside `fence` is read; paths are shown
    /// relative to `root`.
    fn read_folder(&mut self, folder: &AbsPath, fence: &AbsPath, root: &AbsPath) {
        for name in FILE_NAMES {
            let path = folder.join(name);
            self.read_file(&path, fence, root, 0);
        }
    }

    fn read_file(&mut self, path: &AbsPath, fence: &AbsPath, root: &AbsPath, depth: usize) {
        let shown_path = display_path(path, root);
        if self.seen.contains(&shown_path) {
            return;
        }
        let text = match read_inside(self.files, path, fence) {
            Ok(Some(text)) => text.text,
            Ok(None) => return,
            Err(error) => return self.found.problems.push(error.to_string()),
        };
        self.seen.insert(shown_path.clone());
        // Many projects keep the same text under two names, as a link or a copy.
        let is_known = |known: &(String, String)| known.1.trim() == text.trim();
        if text.trim().is_empty() || self.found.texts.iter().any(is_known) {
            return;
        }
        let cut = self.take_within_limit(&shown_path, &text);
        self.found.texts.push((shown_path, cut));
        if path.name() != "AGENTS.md" && path.name() != ".cursorrules" {
            self.read_imports(path, &text, fence, root, depth);
        }
    }

    /// Reads the files that a text imports with `@path`, each as a separate text after it.
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
                let path = display_path(path, root);
                self.found.problems.push(format!(
                    "{path} imports {name}, which is outside the folder and was not read"
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
            if depth + 1 >= MAX_IMPORT_DEPTH {
                let path = display_path(path, root);
                self.found.problems.push(format!(
                    "{path} imports {name}, which was not read: imports may be nested at most {MAX_IMPORT_DEPTH} deep"
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
                    // A link could lead into a cycle.
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
                Err(error) => self.found.problems.push(error.to_string()),
            }
        }
    }

    fn add_rule(&mut self, path: &AbsPath, text: &str, root: &AbsPath) {
        let (front, body) = FrontMatter::split(text);
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
        let shown_path = display_path(path, root);
        let name = path.name();
        let name = name
            .rsplit_once('.')
            .map_or(name.as_str(), |(name, _)| name);
        let text = match usage {
            RuleUse::Always => self.take_within_limit(&shown_path, body.trim_start()),
            // The other kinds count when they are added.
            _ => truncate(body.trim_start(), self.limits.file, &shown_path),
        };
        let rule = ProjectRule {
            name: name.to_owned(),
            globs: self.compile_globs(&usage, &shown_path),
            path: shown_path,
            usage,
            text,
        };
        self.found.rules.push(rule);
    }

    /// Compiles the globs of a rule, relative to the root. Reports the invalid ones.
    fn compile_globs(&mut self, usage: &RuleUse, path: &str) -> Vec<PathGlob> {
        let RuleUse::Globs(globs) = usage else {
            return Vec::new();
        };
        let mut compiled = Vec::new();
        for glob in globs {
            let glob = glob.trim_start_matches("./").trim_start_matches('/');
            if glob.is_empty() {
                continue;
            }
            match PathGlob::new(glob) {
                Ok(glob) => compiled.push(glob),
                Err(error) => self.found.problems.push(format!("{path}: {error}")),
            }
        }
        compiled
    }

    /// Returns as much of a text as the limit allows.
    fn take_within_limit(&mut self, path: &str, text: &str) -> String {
        let left = self.limits.all.saturating_sub(self.taken);
        let limit = self.limits.file.min(left);
        if text.len() > limit {
            self.found.problems.push(format!(
                "{path} has {} bytes of instructions; the model is given the first {limit}",
                text.len()
            ));
        }
        let text = truncate(text, limit, path);
        self.taken += text.len().min(limit);
        text
    }
}

#[cfg(test)]
mod tests;
