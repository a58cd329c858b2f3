//! Document selectors: the documents that a registration concerns.
//!
//! A glob pattern is a string, an absolute path, or a pattern relative to a folder, which is a URI or a
//! workspace folder.

use base::AbsPath;
use globset::{Glob, GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

use crate::uri::uri_path;

/// Maximum number of filters in a selector.
const MAX_FILTERS: usize = 256;
/// Maximum length of a glob pattern, in bytes.
const MAX_PATTERN: usize = 4 << 10;

/// The properties of a document that a filter compares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentIdentity<'a> {
    pub(crate) path: &'a AbsPath,
    pub(crate) language_id: &'a str,
}

/// The documents that a registration concerns.
#[derive(Debug)]
pub(crate) enum DocumentSelector {
    /// Every document: the selector is absent or null.
    All,
    /// The documents that one of the filters accepts.
    Filters(Vec<DocumentFilter>),
}

/// A filter, whose absent properties accept everything.
#[derive(Debug)]
pub(crate) struct DocumentFilter {
    language_id: Option<String>,
    pattern: Option<PathPattern>,
}

/// A glob pattern for absolute paths.
#[derive(Debug)]
pub(crate) struct PathPattern {
    /// Folder to which the pattern is relative.
    base: Option<AbsPath>,
    matcher: GlobMatcher,
}

impl DocumentSelector {
    /// Reads a selector. A malformed filter accepts nothing.
    pub(crate) fn of(selector: Option<&Value>) -> Self {
        match selector {
            Some(Value::Array(filters)) => Self::Filters(
                filters
                    .iter()
                    .take(MAX_FILTERS)
                    .filter_map(DocumentFilter::of)
                    .collect(),
            ),
            _ => Self::All,
        }
    }

    /// Returns whether the selector accepts a document.
    pub(crate) fn matches(&self, document: DocumentIdentity<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Filters(filters) => filters.iter().any(|filter| filter.matches(document)),
        }
    }
}

impl DocumentFilter {
    fn of(filter: &Value) -> Option<Self> {
        // A bare string is the old form of a filter by language.
        if let Value::String(language) = filter {
            return Some(Self {
                language_id: Some(language.clone()),
                pattern: None,
            });
        }
        let filter = filter.as_object()?;
        let scheme = filter.get("scheme").and_then(Value::as_str);
        let is_notebook = filter.contains_key("notebook");
        if is_notebook || scheme.is_some_and(|scheme| scheme != "file") {
            return None;
        }
        let pattern = match filter.get("pattern") {
            None | Some(Value::Null) => None,
            Some(pattern) => Some(PathPattern::of(pattern)?),
        };
        let language = filter.get("language").and_then(Value::as_str);
        Some(Self {
            language_id: language.filter(|it| *it != "*").map(str::to_owned),
            pattern,
        })
    }

    fn matches(&self, document: DocumentIdentity<'_>) -> bool {
        let has_language = self
            .language_id
            .as_deref()
            .is_none_or(|language| language == document.language_id);
        has_language
            && self
                .pattern
                .as_ref()
                .is_none_or(|pattern| pattern.matches(document.path))
    }
}

impl PathPattern {
    /// Reads a pattern; `None` if it is malformed.
    pub(crate) fn of(pattern: &Value) -> Option<Self> {
        match pattern {
            Value::String(glob) => Some(Self {
                base: None,
                matcher: matcher(glob)?,
            }),
            Value::Object(relative) => Some(Self {
                base: Some(pattern_base(relative)?),
                matcher: matcher(relative.get("pattern")?.as_str()?)?,
            }),
            _ => None,
        }
    }

    /// Returns whether the pattern accepts a path.
    pub(crate) fn matches(&self, path: &AbsPath) -> bool {
        match &self.base {
            Some(base) => path
                .relative_to(base)
                .is_some_and(|relative| self.matcher.is_match(relative)),
            None => self.matcher.is_match(path),
        }
    }
}

fn matcher(pattern: &str) -> Option<GlobMatcher> {
    Some(glob(pattern)?.compile_matcher())
}

/// Returns the folder of a relative pattern, which is a URI or a workspace folder.
pub(crate) fn pattern_base(pattern: &Map<String, Value>) -> Option<AbsPath> {
    match pattern.get("baseUri")? {
        Value::String(uri) => uri_path(uri),
        folder => uri_path(folder.get("uri")?.as_str()?),
    }
}

/// Parses a glob of the protocol, in which `*` and `?` do not match a slash.
pub(crate) fn glob(pattern: &str) -> Option<Glob> {
    if pattern.len() > MAX_PATTERN {
        return None;
    }
    let mut builder = GlobBuilder::new(pattern);
    builder.literal_separator(true).empty_alternates(true);
    builder.build().ok()
}

#[cfg(test)]
mod tests;
