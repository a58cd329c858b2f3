//! Decides operations as a profile does, by our reading of its language.
//!
//! Rules, with the sources of each reading:
//! - The last rule decides that names the operation, or a family of it, and whose filters match
//!   (Bazel, `DarwinSandboxedSpawnRunner.java`; empathic/clash#295).
//! - Several filters of one rule are alternatives; `require-all` joins them (openai/codex,
//!   `seatbelt.rs`).
//! - `literal` is one path, `subpath` a path and all below it, `regex` is unanchored
//!   (anthropic-experimental/sandbox-runtime, `macos-sandbox-utils.ts`).
//! - Paths are those of the vnode: links are followed and the spelling is that of the disk, except
//!   for a name that is created (phuetz/code-buddy#88, nono#393).
//! - `localhost` is 127.0.0.1 and ::1, no other address (sandbox-runtime, the same file).
//!
//! Limits: this is our reading, not the kernel's, and nothing here was compared with a Mac. Where
//! sources disagree or are silent, `READINGS` lists the possible ones, and an answer counts only if
//! all give the same:
//! - whether `subpath` and `literal` fold case (constellation-works/orbit#494 reports that they do
//!   and that `regex` does not);
//! - whether `file-write*` includes links and clones (silent);
//! - whether `subpath` covers the path itself while it does not exist (codex, `seatbelt.rs`, and
//!   KiroCrew#7743 report that it does not).

use std::collections::BTreeSet;

use regex::Regex;

use base::NameRules;

/// One rule of a profile.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) allows: bool,
    pub(crate) operations: Vec<String>,
    /// Alternatives; without any the rule always matches.
    pub(crate) filters: Vec<Filter>,
}

#[derive(Debug)]
pub(crate) enum Filter {
    Literal(SpelledPath),
    Subpath(SpelledPath),
    Regex(Regex),
    Extension(String),
    GlobalName(String),
    LocalName(String),
    Name(String),
    NameRegex(Regex),
    NamePrefix(String),
    SameSandbox,
    Domain(String),
    Protocol(String),
    RemoteAddress(String, String),
    LocalSocket(Box<Filter>),
    RemoteSocket(Box<Filter>),
    All(Vec<Filter>),
}

/// A path, and its key on a volume that folds names.
#[derive(Debug)]
pub(crate) struct SpelledPath {
    pub(crate) text: String,
    key: String,
}

impl SpelledPath {
    pub(super) fn new(text: &str) -> Self {
        let key = NameRules::FOLDING.key(text.as_bytes());
        Self {
            text: text.to_owned(),
            key: String::from_utf8_lossy(&key).into_owned(),
        }
    }
}

/// The object of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Nothing,
    Path(String),
    /// A terminal that the sandbox opened itself.
    OwnTerminal(String),
    Address(String, u16),
    LocalSocket(String),
    RemoteSocket(String),
    Socket(String, String),
    GlobalName(String),
    LocalName(String),
    Name(String),
    OwnProcess,
    OtherProcess,
}

/// An operation and its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) operation: &'static str,
    pub(super) object: Object,
}

impl Question {
    pub(super) fn path(operation: &'static str, path: &str) -> Self {
        let object = Object::Path(path.to_owned());
        Self { operation, object }
    }

    /// Returns the path of the object, if it has one.
    fn spelled(&self) -> Option<SpelledPath> {
        match &self.object {
            Object::Path(path)
            | Object::OwnTerminal(path)
            | Object::LocalSocket(path)
            | Object::RemoteSocket(path) => Some(SpelledPath::new(path)),
            _ => None,
        }
    }
}

/// A possible reading of the language by the kernel.
#[derive(Clone, Copy, Debug)]
struct Reading {
    folds_paths: bool,
    writes_include_links: bool,
    subpath_covers_itself: bool,
}

const READINGS: [Reading; 8] = [
    Reading::new(false, false, false),
    Reading::new(false, false, true),
    Reading::new(false, true, false),
    Reading::new(false, true, true),
    Reading::new(true, false, false),
    Reading::new(true, false, true),
    Reading::new(true, true, false),
    Reading::new(true, true, true),
];

/// Returns whether a profile allows an operation in every reading.
pub(super) fn is_allowed(rules: &[Rule], question: &Question) -> bool {
    let path = question.spelled();
    READINGS
        .iter()
        .all(|reading| reading.allows(rules, question, path.as_ref()))
}

/// Returns whether a profile denies an operation in every reading.
pub(super) fn is_denied(rules: &[Rule], question: &Question) -> bool {
    [false, true]
        .iter()
        .all(|folds| !may_be_allowed(rules, question, *folds))
}

/// Returns whether a profile allows an operation in a reading that folds paths, or does not.
pub(super) fn may_be_allowed(rules: &[Rule], question: &Question, folds: bool) -> bool {
    let path = question.spelled();
    let mut readings = READINGS
        .iter()
        .filter(|reading| reading.folds_paths == folds);
    readings.any(|reading| reading.allows(rules, question, path.as_ref()))
}

/// Returns the rules, by their index, without which some reading would give another answer.
pub(super) fn needed_rules(rules: &[Rule], question: &Question) -> BTreeSet<usize> {
    let path = question.spelled();
    let needed = READINGS.iter().filter_map(|reading| {
        let decides = |ix: usize| reading.decides(&rules[ix], question, path.as_ref());
        let last = (0..rules.len()).rfind(|ix| decides(*ix))?;
        let next = (0..last).rfind(|ix| decides(*ix));
        let answer = |ix: Option<usize>| ix.is_none_or(|ix| rules[ix].allows);
        (answer(Some(last)) != answer(next)).then_some(last)
    });
    needed.collect()
}

impl Reading {
    const fn new(
        folds_paths: bool,
        writes_include_links: bool,
        subpath_covers_itself: bool,
    ) -> Self {
        Self {
            folds_paths,
            writes_include_links,
            subpath_covers_itself,
        }
    }

    fn allows(self, rules: &[Rule], question: &Question, path: Option<&SpelledPath>) -> bool {
        let decides = |rule: &&Rule| self.decides(rule, question, path);
        // Without a rule on everything, nothing is denied.
        rules.iter().rfind(decides).is_none_or(|rule| rule.allows)
    }

    fn decides(self, rule: &Rule, question: &Question, path: Option<&SpelledPath>) -> bool {
        let mut operations = rule.operations.iter();
        let matches = |filter: &Filter| self.matches(filter, &question.object, path);
        operations.any(|operation| self.covers(operation, question.operation))
            && (rule.filters.is_empty() || rule.filters.iter().any(matches))
    }

    fn covers(self, rule: &str, operation: &str) -> bool {
        if rule == "default" || rule == operation {
            return true;
        }
        if rule == "file-write*" && ["file-link", "file-clone"].contains(&operation) {
            return self.writes_include_links;
        }
        let family = rule.strip_suffix('*');
        family.is_some_and(|family| {
            operation
                .strip_prefix(family)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    }

    fn matches(self, filter: &Filter, object: &Object, path: Option<&SpelledPath>) -> bool {
        match (filter, object) {
            (Filter::All(all), _) => all.iter().all(|filter| self.matches(filter, object, path)),
            (
                Filter::Literal(_) | Filter::Subpath(_) | Filter::Regex(_),
                Object::Path(_) | Object::OwnTerminal(_),
            ) => path.is_some_and(|path| self.matches_path(filter, path)),
            (Filter::LocalSocket(filter), Object::LocalSocket(_))
            | (Filter::RemoteSocket(filter), Object::RemoteSocket(_)) => {
                path.is_some_and(|path| self.matches_path(filter, path))
            }
            (Filter::Extension(name), Object::OwnTerminal(_)) => name == "com.apple.sandbox.pty",
            (Filter::GlobalName(ours), Object::GlobalName(name))
            | (Filter::LocalName(ours), Object::LocalName(name))
            | (Filter::Name(ours), Object::Name(name)) => ours == name,
            (Filter::NameRegex(pattern), Object::Name(name)) => pattern.is_match(name),
            (Filter::NamePrefix(prefix), Object::Name(name)) => name.starts_with(prefix.as_str()),
            (Filter::SameSandbox, Object::OwnProcess) => true,
            (Filter::Domain(ours), Object::Socket(domain, _)) => ours == domain,
            (Filter::Protocol(ours), Object::Socket(_, protocol)) => ours == protocol,
            (Filter::RemoteAddress(host, port), Object::Address(address, number)) => {
                let is_own = ["127.0.0.1", "::1"].contains(&address.as_str());
                (host == "*" || is_own) && (port == "*" || *port == number.to_string())
            }
            _ => false,
        }
    }

    fn matches_path(self, filter: &Filter, path: &SpelledPath) -> bool {
        match filter {
            Filter::Literal(ours) => self.compared(ours) == self.compared(path),
            Filter::Subpath(ours) => {
                let ours = self.compared(ours).trim_end_matches('/');
                let rest = self.compared(path).strip_prefix(ours);
                rest.is_some_and(|rest| {
                    if rest.is_empty() {
                        self.subpath_covers_itself
                    } else {
                        rest.starts_with('/')
                    }
                })
            }
            Filter::Regex(pattern) => pattern.is_match(&path.text),
            _ => false,
        }
    }

    /// Returns the text of a path by which this reading compares it.
    fn compared(self, path: &SpelledPath) -> &str {
        if self.folds_paths {
            &path.key
        } else {
            &path.text
        }
    }
}

#[test]
fn the_last_matching_rule_decides() {
    let rules = super::reader::read(
        "(version 1)(deny default)(allow file-read*)(deny file-read* (subpath \"/a\"))\
         (allow file-read-data (literal \"/a/b\"))",
    );
    let rules = rules.expect("a profile");
    let allowed = |operation, path| is_allowed(&rules, &Question::path(operation, path));
    assert!(allowed("file-read-data", "/"));
    assert!(!allowed("file-read-data", "/a"));
    assert!(allowed("file-read-data", "/ab"));
    assert!(allowed("file-read-data", "/a/b"));
    assert!(!allowed("file-read-metadata", "/a/b"));
    assert!(!allowed("file-read-data", "/a/b/c"));
    assert!(!allowed("file-write-data", "/"));
    // One reading folds case: neither allowed for sure nor denied for sure.
    assert!(
        !allowed("file-read-data", "/A")
            && !is_denied(&rules, &Question::path("file-read-data", "/A"))
    );
}
