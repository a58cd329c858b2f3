//! Decides operations as a profile does, by our reading of its language.
//!
//! Rules: the last rule that names the operation, or a family of it, and whose filters match
//! decides (Bazel's DarwinSandboxedSpawnRunner states this). Several filters of one rule are
//! alternatives; `require-all` joins them. `literal` is one path, `subpath` a path and all below it,
//! `regex` is unanchored. Paths are those of the vnode: links are followed and the spelling is that
//! of the disk, except for a name that is created.
//! Limits: this is our reading, not the kernel's. Where sources disagree or are silent, `KERNELS`
//! lists the possible readings, and an answer counts only if all give the same: whether `subpath`
//! and `literal` fold case (a report says so), and whether `file-write*` includes links and clones.

use regex::Regex;

use base::NameRules;

/// One rule of a profile.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) allows: bool,
    pub(crate) operations: Vec<String>,
    /// Alternatives; without any the rule always matches.
    pub(crate) filters: Vec<Filter>,
}

#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Literal(String),
    Subpath(String),
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
}

/// A possible reading of the language by the kernel.
#[derive(Clone, Copy, Debug)]
struct Kernel {
    folds_paths: bool,
    writes_include_links: bool,
}

const KERNELS: [Kernel; 4] = [
    Kernel {
        folds_paths: false,
        writes_include_links: false,
    },
    Kernel {
        folds_paths: false,
        writes_include_links: true,
    },
    Kernel {
        folds_paths: true,
        writes_include_links: false,
    },
    Kernel {
        folds_paths: true,
        writes_include_links: true,
    },
];

/// Returns whether a profile allows an operation in every reading.
pub(super) fn is_allowed(rules: &[Rule], question: &Question) -> bool {
    KERNELS.iter().all(|kernel| kernel.allows(rules, question))
}

/// Returns whether a profile denies an operation in every reading.
pub(super) fn is_denied(rules: &[Rule], question: &Question) -> bool {
    [false, true]
        .iter()
        .all(|folds| !may_be_allowed(rules, question, *folds))
}

/// Returns whether a profile allows an operation in a reading that folds paths, or does not.
pub(super) fn may_be_allowed(rules: &[Rule], question: &Question, folds: bool) -> bool {
    let mut kernels = KERNELS.iter().filter(|kernel| kernel.folds_paths == folds);
    kernels.any(|kernel| kernel.allows(rules, question))
}

impl Kernel {
    fn allows(self, rules: &[Rule], question: &Question) -> bool {
        let covers = |rule: &&Rule| {
            let mut operations = rule.operations.iter();
            let names = operations.any(|operation| self.covers(operation, question.operation));
            let matches = |filter: &Filter| self.matches(filter, &question.object);
            names && (rule.filters.is_empty() || rule.filters.iter().any(matches))
        };
        // Without a rule on everything, nothing is denied.
        rules.iter().rfind(covers).is_none_or(|rule| rule.allows)
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

    fn matches(self, filter: &Filter, object: &Object) -> bool {
        let inner = |path: &String| Object::Path(path.clone());
        match (filter, object) {
            (Filter::All(all), _) => all.iter().all(|filter| self.matches(filter, object)),
            (Filter::Literal(ours), Object::Path(path) | Object::OwnTerminal(path)) => {
                self.fold(ours) == self.fold(path)
            }
            (Filter::Subpath(ours), Object::Path(path) | Object::OwnTerminal(path)) => {
                let (ours, path) = (self.fold(ours), self.fold(path));
                let rest = path.strip_prefix(ours.trim_end_matches('/'));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            (Filter::Regex(pattern), Object::Path(path) | Object::OwnTerminal(path)) => {
                pattern.is_match(path)
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
            (Filter::LocalSocket(filter), Object::LocalSocket(path))
            | (Filter::RemoteSocket(filter), Object::RemoteSocket(path)) => {
                self.matches(filter, &inner(path))
            }
            _ => false,
        }
    }

    fn fold(self, path: &str) -> String {
        let rules = match self.folds_paths {
            true => NameRules::FOLDING,
            false => NameRules::EXACT,
        };
        String::from_utf8_lossy(&rules.key(path.as_bytes())).into_owned()
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
