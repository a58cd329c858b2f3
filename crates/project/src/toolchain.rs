//! The package manager and the Python environment of a folder, by the files in it and above it.
//!
//! Must not know: the commands that tasks and tests run with them.
//! Invariant: the nearest folder with a fact decides, and no folder above the root is looked at.
//! Start at `PackageManager::of_folder` and `PythonEnvironment::of_folder`.

use base::AbsPath;
use serde_json::Value;

/// Reads the files that describe projects.
pub trait ManifestReader {
    /// Returns the text of a file; `None` if it does not exist, is too large or is not a text.
    fn read(&self, path: &AbsPath) -> Option<String>;

    /// Returns whether there is a file.
    fn exists(&self, path: &AbsPath) -> bool;
}

/// A package manager of JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageManager {
    /// npm.
    Npm,
    /// pnpm.
    Pnpm,
    /// Yarn.
    Yarn,
    /// Bun.
    Bun,
}

/// The way in which programs of Python find the packages of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PythonEnvironment {
    /// uv creates and updates the environment.
    Uv,
    /// Poetry knows the environment, which is outside the project.
    Poetry,
    /// Pipenv knows the environment, which is outside the project.
    Pipenv,
    /// The interpreter of a virtual environment in the project.
    Interpreter(AbsPath),
    /// The Python of the user.
    System,
}

/// Lock files with their package managers.
const LOCKS: [(&str, PackageManager); 6] = [
    ("pnpm-lock.yaml", PackageManager::Pnpm),
    ("yarn.lock", PackageManager::Yarn),
    ("bun.lock", PackageManager::Bun),
    ("bun.lockb", PackageManager::Bun),
    ("package-lock.json", PackageManager::Npm),
    ("npm-shrinkwrap.json", PackageManager::Npm),
];

/// Interpreters of virtual environments, relative to the project.
const INTERPRETERS: [&str; 2] = [".venv/bin/python", "venv/bin/python"];

impl PackageManager {
    /// Returns the package manager that the nearest `package.json` names or whose lock file is nearest; npm if there is
    /// none. Blocks on the reader.
    pub fn of_folder(folder: &AbsPath, root: &AbsPath, reader: &dyn ManifestReader) -> Self {
        let mut found = folders(folder, root).filter_map(|folder| {
            Self::named(&folder, reader).or_else(|| Self::locked(&folder, reader))
        });
        found.next().unwrap_or(Self::Npm)
    }

    /// Returns the name of the program.
    pub fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    /// Returns the words before the name of an installed program, which they run.
    pub fn launcher(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &["npx", "--no-install"],
            Self::Pnpm => &["pnpm", "exec"],
            Self::Yarn => &["yarn"],
            Self::Bun => &["bunx"],
        }
    }

    /// Returns the package manager that a manifest names, such as `pnpm@9.1.0`.
    fn named(folder: &AbsPath, reader: &dyn ManifestReader) -> Option<Self> {
        let text = reader.read(&folder.join("package.json"))?;
        let manifest: Value = serde_json::from_str(&text).ok()?;
        let name = manifest
            .get("packageManager")?
            .as_str()?
            .split('@')
            .next()?;
        let known = [Self::Npm, Self::Pnpm, Self::Yarn, Self::Bun];
        known.into_iter().find(|known| known.program() == name)
    }

    fn locked(folder: &AbsPath, reader: &dyn ManifestReader) -> Option<Self> {
        let mut locks = LOCKS.into_iter();
        let lock = locks.find(|(lock, _)| reader.exists(&folder.join(lock)))?;
        Some(lock.1)
    }
}

impl PythonEnvironment {
    /// Returns the nearest environment. uv comes before a virtual environment, which it may have created and keeps
    /// current; Poetry and Pipenv come after it, since it needs no program. Blocks on the reader.
    pub fn of_folder(folder: &AbsPath, root: &AbsPath, reader: &dyn ManifestReader) -> Self {
        let mut found =
            folders(folder, root).filter_map(|folder| Self::directly_in(&folder, reader));
        found.next().unwrap_or(Self::System)
    }

    /// Returns the command that runs a module with the packages of the project.
    pub fn module_command(&self, module: &str) -> Vec<String> {
        let (program, argument) = match self {
            Self::Uv => ("uv".to_owned(), "run"),
            Self::Poetry => ("poetry".to_owned(), "run"),
            Self::Pipenv => ("pipenv".to_owned(), "run"),
            Self::Interpreter(python) => (python.as_path().to_string_lossy().into_owned(), "-m"),
            Self::System => ("python3".to_owned(), "-m"),
        };
        vec![program, argument.to_owned(), module.to_owned()]
    }

    fn directly_in(folder: &AbsPath, reader: &dyn ManifestReader) -> Option<Self> {
        let has = |name: &str| reader.exists(&folder.join(name));
        let interpreter = || INTERPRETERS.into_iter().find(|name| has(name));
        if has("uv.lock") {
            Some(Self::Uv)
        } else if let Some(python) = interpreter() {
            Some(Self::Interpreter(folder.join(python)))
        } else if has("poetry.lock") {
            Some(Self::Poetry)
        } else if has("Pipfile.lock") || has("Pipfile") {
            Some(Self::Pipenv)
        } else {
            None
        }
    }
}

/// Iterates over the folders from `folder` up to `root`.
fn folders(folder: &AbsPath, root: &AbsPath) -> impl Iterator<Item = AbsPath> {
    let first = Some(folder.clone());
    std::iter::successors(first, AbsPath::parent).take_while(move |it| it.is_within(root))
}

#[cfg(test)]
mod tests;
