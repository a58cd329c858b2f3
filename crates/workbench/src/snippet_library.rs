//! The user's snippets, by language.
//!
//! Invariant: a snippet with an unknown language is reported, and offered in no language.

use settings::{ConfigProblem, SnippetDefinition, parse_snippets};
use syntax::{Language, language_named};

/// The snippets of the user's files.
#[derive(Default)]
pub(crate) struct SnippetLibrary {
    snippets: Vec<LibrarySnippet>,
}

/// A snippet with the languages in which it is offered.
#[derive(Clone)]
pub(crate) struct LibrarySnippet {
    pub(crate) definition: SnippetDefinition,
    /// Empty for all languages, unless the definition names some.
    languages: Vec<Language>,
}

impl SnippetLibrary {
    /// Parses files, given by name and text. `rust.json` contains snippets of Rust;
    /// `name.code-snippets` and `global.json` contain snippets that name their languages.
    pub(crate) fn parse(files: &[(String, String)]) -> (Self, Vec<ConfigProblem>) {
        let mut library = Self::default();
        let mut problems = Vec::new();
        for (name, text) in files {
            let language = file_language(name);
            let (snippets, found) = parse_snippets(name, text, language);
            problems.extend(found);
            for definition in snippets {
                let (known, unknown): (Vec<_>, Vec<_>) = definition
                    .languages
                    .iter()
                    .map(|name| (name, language_of_id(name)))
                    .partition(|(_, language)| language.is_some());
                for (unknown, _) in unknown {
                    problems.push(ConfigProblem {
                        source: name.clone(),
                        line: 1,
                        column: 1,
                        message: format!(
                            "the snippet \"{}\" is for the unknown language \"{unknown}\"",
                            definition.name
                        ),
                    });
                }
                let languages = known.into_iter().filter_map(|(_, language)| language);
                library.snippets.push(LibrarySnippet {
                    languages: languages.collect(),
                    definition,
                });
            }
        }
        (library, problems)
    }

    /// Returns the snippets that are offered in a language; `None` is plain text.
    pub(crate) fn of_language(&self, language: Option<Language>) -> Vec<LibrarySnippet> {
        let all = self.snippets.iter();
        all.filter(|snippet| snippet.is_offered_in(language))
            .cloned()
            .collect()
    }
}

impl LibrarySnippet {
    fn is_offered_in(&self, language: Option<Language>) -> bool {
        self.definition.languages.is_empty()
            || language.is_some_and(|language| self.languages.contains(&language))
    }

    /// Returns the longest abbreviation that `before`, the text before the caret, ends with as a
    /// whole word. Returns `None` if it ends with none of them.
    pub(crate) fn typed_prefix(&self, before: &str) -> Option<&str> {
        let prefixes = self.definition.prefixes.iter().map(String::as_str);
        let typed = prefixes.filter(|prefix| is_typed(before, prefix));
        typed.max_by_key(|prefix| prefix.len())
    }
}

/// Returns whether `before` ends with `prefix`, and no word continues to its left.
fn is_typed(before: &str, prefix: &str) -> bool {
    let is_word = |ch: char| ch.is_alphanumeric() || ch == '_';
    let Some(rest) = before.strip_suffix(prefix).filter(|_| !prefix.is_empty()) else {
        return false;
    };
    !(rest.chars().next_back().is_some_and(is_word) && prefix.starts_with(is_word))
}

/// Returns the language in the name of a file: `rust` for `rust.json`.
fn file_language(name: &str) -> Option<&str> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file
        .strip_suffix(".json")
        .or_else(|| file.strip_suffix(".jsonc"))?;
    (stem != "global").then_some(stem)
}

/// Returns the language with this name, alias, or identifier of VS Code.
fn language_of_id(id: &str) -> Option<Language> {
    let name = match id {
        "javascriptreact" => "jsx",
        "typescriptreact" => "tsx",
        "shellscript" => "sh",
        "csharp" => "cs",
        "objective-c" => "m",
        id => id,
    };
    language_named(name)
}

#[cfg(test)]
mod tests {
    use super::SnippetLibrary;
    use syntax::language_named;

    fn library(files: &[(&str, &str)]) -> (SnippetLibrary, Vec<String>) {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let files: Vec<_> = files.iter().map(owned).collect();
        let (library, problems) = SnippetLibrary::parse(&files);
        (library, problems.iter().map(ToString::to_string).collect())
    }

    fn names(library: &SnippetLibrary, language: Option<&str>) -> Vec<String> {
        let snippets = library.of_language(language.and_then(language_named));
        snippets.into_iter().map(|it| it.definition.name).collect()
    }

    #[test]
    fn snippets_are_offered_in_their_languages() {
        let (library, problems) = library(&[
            ("snippets/rust.json", r#"{ "R": { "body": "" } }"#),
            ("snippets/global.json", r#"{ "G": { "body": "" } }"#),
            (
                "snippets/my.code-snippets",
                r#"{ "S": { "body": "", "scope": "python,typescriptreact" } }"#,
            ),
        ]);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(names(&library, Some("rust")), ["R", "G"]);
        assert_eq!(names(&library, Some("python")), ["G", "S"]);
        assert_eq!(names(&library, Some("tsx")), ["G", "S"]);
        assert_eq!(names(&library, None), ["G"]);
    }

    #[test]
    fn unknown_languages_are_reported() {
        let (library, problems) = library(&[("snippets/rst.json", r#"{ "R": { "body": "" } }"#)]);
        assert!(names(&library, Some("rust")).is_empty());
        let problem =
            "snippets/rst.json:1:1: the snippet \"R\" is for the unknown language \"rst\"";
        assert_eq!(problems, [problem]);
    }

    #[test]
    fn the_longest_typed_abbreviation_counts() {
        let text = r#"{ "A": { "prefix": ["for", "afor", "!"], "body": "" } }"#;
        let (library, _) = library(&[("global.json", text)]);
        let snippet = &library.of_language(None)[0];
        assert_eq!(snippet.typed_prefix("x for"), Some("for"));
        assert_eq!(snippet.typed_prefix("x afor"), Some("afor"));
        assert_eq!(snippet.typed_prefix("xfor"), None);
        assert_eq!(snippet.typed_prefix("x!"), Some("!"));
        assert_eq!(snippet.typed_prefix(""), None);
    }
}
