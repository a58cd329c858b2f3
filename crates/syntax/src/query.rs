//! Compiles queries.

use base::never;
use tree_sitter::Query;

/// Compiles a query of the language `name`. Returns `None` if the source is empty. If the source
/// does not compile, panics in debug builds and returns `None` in release builds.
pub(crate) fn compile_query(
    name: &str,
    language: &tree_sitter::Language,
    source: &str,
) -> Option<Query> {
    if source.trim().is_empty() {
        return None;
    }
    match Query::new(language, source) {
        Ok(query) => Some(query),
        Err(error) => {
            never!("a query of {name} does not compile: {error}");
            None
        }
    }
}
