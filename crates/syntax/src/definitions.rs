//! The languages themselves, as tables.
//!
//! To add one: a definition here, its queries in `queries/<name>`, a sample in the tests.

mod c_family;
mod documents;
mod native;
mod scripts;

use crate::definition::Definition;

/// Every language, those with many users first: where two claim a file, the first one gets it.
pub(crate) static DEFINITIONS: &[&Definition] = &[
    &native::RUST,
    &scripts::PYTHON,
    &c_family::TYPESCRIPT,
    &c_family::TSX,
    &c_family::JAVASCRIPT,
    &documents::JSON,
    &documents::JSONC,
    &documents::TOML,
    &documents::YAML,
    &documents::MARKDOWN,
    &documents::HTML,
    &documents::CSS,
    &scripts::BASH,
    &native::C,
    &native::CPP,
    &native::GO,
    &c_family::JAVA,
    &scripts::RUBY,
    &scripts::LUA,
    &scripts::SQL,
    &scripts::MAKE,
    &documents::DIFF,
];

/// Languages that appear only inside others, so that users cannot choose them.
pub(crate) static HIDDEN: &[&Definition] = &[&documents::MARKDOWN_INLINE];

/// The queries of a language, from its folder.
macro_rules! query {
    ($folder:literal, $file:literal) => {
        include_str!(concat!("../../queries/", $folder, "/", $file, ".scm"))
    };
}
pub(crate) use query;
