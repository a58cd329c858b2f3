//! Recipes: the packages that contain a language server.
//!
//! Must not know: processes. Invariant: every word of a recipe is one argument of a command, and none begins
//! with a dash.

use serde::Deserialize;

/// Packages from which a language server is installed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InstallRecipe {
    /// Packages of npm, written `name` or `name@version`. The first one contains the server.
    Npm(Vec<String>),
    /// Packages of PyPI, written `name` or `name==version`. The first one contains the server.
    Pypi(Vec<String>),
    /// A crate with a program.
    Crate {
        /// Name of the crate.
        name: String,
        /// Version of the crate; `None` for the newest.
        version: Option<String>,
    },
    /// Components of the project's Rust toolchain.
    Rustup(Vec<String>),
}

impl InstallRecipe {
    /// Returns the version that it installs; `None` for the newest, or if the toolchain decides.
    pub(crate) fn version(&self) -> Option<&str> {
        match self {
            Self::Npm(packages) => npm_parts(packages.first()?).1,
            Self::Pypi(packages) => Some(packages.first()?.split_once("==")?.1),
            Self::Crate { version, .. } => version.as_deref(),
            Self::Rustup(_) => None,
        }
    }

    /// Returns a sentence if it is not well formed.
    pub(crate) fn problem(&self) -> Option<String> {
        let (words, is_valid): (Vec<&str>, fn(&str) -> bool) = match self {
            Self::Npm(packages) => (texts(packages), is_npm_package),
            Self::Pypi(packages) => (texts(packages), is_pypi_package),
            Self::Crate { name, version } => {
                let words = [name].into_iter().chain(version).map(String::as_str);
                (words.collect(), is_word)
            }
            Self::Rustup(components) => (texts(components), is_word),
        };
        if words.is_empty() {
            return Some("a recipe needs a package".to_owned());
        }
        let wrong = words.into_iter().find(|word| !is_valid(word))?;
        Some(format!("\"{wrong}\" is not the name of a package"))
    }
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// Splits `@scope/name@version` into the name and the version.
fn npm_parts(package: &str) -> (&str, Option<&str>) {
    let start = usize::from(package.starts_with('@'));
    match package[start..].find('@') {
        Some(at) => (&package[..start + at], Some(&package[start + at + 1..])),
        None => (package, None),
    }
}

fn is_npm_package(package: &str) -> bool {
    let (name, version) = npm_parts(package);
    let is_name = match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| is_word(scope) && is_word(name)),
        None => is_word(name),
    };
    is_name && version.is_none_or(is_word)
}

fn is_pypi_package(package: &str) -> bool {
    match package.split_once("==") {
        Some((name, version)) => is_word(name) && is_word(version),
        None => is_word(package),
    }
}

/// Returns whether a text is a name or a version: no path, no option, no range.
fn is_word(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_.+".contains(letter);
    text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && text.chars().all(is_part)
        && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use super::InstallRecipe;

    fn npm(package: &str) -> InstallRecipe {
        InstallRecipe::Npm(vec![package.to_owned()])
    }

    #[test]
    fn a_recipe_knows_its_version() {
        assert_eq!(npm("pyright@1.1.414").version(), Some("1.1.414"));
        assert_eq!(npm("@vtsls/language-server@0.3.0").version(), Some("0.3.0"));
        assert_eq!(npm("@vtsls/language-server").version(), None);
        let ruff = InstallRecipe::Pypi(vec!["ruff==0.17.5".to_owned()]);
        assert_eq!(ruff.version(), Some("0.17.5"));
    }

    #[test]
    fn only_names_and_versions_are_packages() {
        for wrong in [
            "",
            "-g",
            "a b",
            "a@^1",
            "../a",
            "https://a",
            "@a",
            "a@",
            "a;b",
        ] {
            assert!(npm(wrong).problem().is_some(), "{wrong}");
        }
        for right in ["a", "@a/b", "@a/b@1.2.3-beta.1", "a.b@1"] {
            assert_eq!(npm(right).problem(), None, "{right}");
        }
        let pypi = InstallRecipe::Pypi(vec!["ruff>=1".to_owned()]);
        assert!(pypi.problem().is_some());
    }
}
