//! A language: detection of its files, editing of its text, and the roles of its grammar's nodes.
//!
//! Must not know: trees, texts. Invariant: a grammar's queries compile once, on the first thread
//! that needs them; call `prepare` on a background thread to avoid doing so on the UI thread.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use crate::definition::{Definition, LanguageConfig};
use crate::grammar::Grammar;
use crate::outliner::Outliner;

/// A supported language, with its configuration and grammar. Cheap to copy. Two languages are equal
/// if their names are equal.
#[derive(Clone, Copy)]
pub struct Language(&'static LanguageEntry);

/// A language and its queries, which are compiled on first use.
pub(crate) struct LanguageEntry {
    definition: &'static Definition,
    grammar: OnceLock<Grammar>,
    /// The compiled queries for `PlainTree`.
    outliner: OnceLock<Outliner>,
}

impl LanguageEntry {
    /// Creates the entry of a definition. The grammar and the queries are compiled later, on first
    /// use.
    pub(crate) fn new(definition: &'static Definition) -> Self {
        Self {
            definition,
            grammar: OnceLock::new(),
            outliner: OnceLock::new(),
        }
    }

    /// Returns the public handle of this entry.
    pub(crate) fn language(&'static self) -> Language {
        Language(self)
    }
}

impl Language {
    /// Returns the display name: `C++`.
    pub fn name(&self) -> &'static str {
        self.0.definition.name
    }

    /// Returns the editing configuration.
    pub fn config(&self) -> &'static LanguageConfig {
        &self.0.definition.config
    }

    /// Returns the file extensions, without the dot, most common first.
    pub fn extensions(&self) -> &'static [&'static str] {
        self.0.definition.extensions
    }

    /// Returns whether its queries are compiled already.
    pub fn is_prepared(&self) -> bool {
        self.0.grammar.get().is_some()
    }

    /// Compiles its queries if necessary: takes some milliseconds, so call it on a background
    /// thread.
    pub fn prepare(&self) {
        self.grammar();
    }

    /// Returns the keywords that begin with `prefix`, in alphabetical order.
    pub fn keywords(&self, prefix: &str) -> impl Iterator<Item = &'static str> {
        let words = &self.grammar().words;
        let start = words.partition_point(|word| *word < prefix);
        let rest = words[start..].iter().copied();
        rest.take_while(move |word| word.starts_with(prefix))
    }

    /// Returns the definition.
    pub(crate) fn definition(&self) -> &'static Definition {
        self.0.definition
    }

    /// Returns the compiled grammar. The first call compiles it, which takes some milliseconds.
    pub(crate) fn grammar(&self) -> &'static Grammar {
        self.0
            .grammar
            .get_or_init(|| Grammar::compile(self.0.definition))
    }

    /// Returns the compiled outline query. The first call compiles it.
    pub(crate) fn outliner(&self) -> &'static Outliner {
        self.0
            .outliner
            .get_or_init(|| Outliner::compile(self.0.definition))
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.0.definition.name == other.0.definition.name
    }
}

impl Eq for Language {}

impl Hash for Language {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.definition.name.hash(state);
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.definition.name)
    }
}
