//! The project to which a file with tests belongs, and the runner of its tests.
//!
//! Start at `TestProject::of_file`; `names` maps tests to the names in reports, and `crate::command` builds commands.

mod manifests;
mod names;
mod titles;

use base::AbsPath;
use project::{ManifestReader, PackageManager, PythonEnvironment};

use crate::framework::TestFramework;

pub(crate) use self::names::go_name;
pub(crate) use self::titles::{is_expansion, title_parts};

/// A part of a folder whose tests one runner runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestProject {
    /// The runner.
    pub framework: TestFramework,
    /// The folder in which commands for single tests run: that of the package.
    pub folder: AbsPath,
    /// The folder in which the command for all tests runs, such as that of a workspace. Relative paths in the output begin
    /// there.
    pub base: AbsPath,
    /// The program that is run, and its first arguments.
    pub(crate) launcher: Vec<String>,
    /// Name of the package (Cargo) or path of the module (Go); may be empty.
    pub(crate) name: String,
    /// The default targets of a package of Cargo.
    pub(crate) targets: CargoTargets,
}

/// The targets of a package of Cargo with its modules below `src`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CargoTargets {
    pub(crate) has_library: bool,
    pub(crate) has_program: bool,
}

impl CargoTargets {
    /// Returns the arguments that select the targets to which a module may belong.
    fn arguments(self) -> &'static [&'static str] {
        if self.has_library && self.has_program {
            &["--lib", "--bins"]
        } else if self.has_library {
            &["--lib"]
        } else {
            &["--bins"]
        }
    }
}

/// A search from the folder of a file up to the root.
struct ProjectSearch<'a> {
    file: &'a AbsPath,
    root: &'a AbsPath,
    reader: &'a dyn ManifestReader,
}

impl TestProject {
    /// Returns the project of a file below `root`, by the manifests in its folder and those above, up to `root`. `None` if
    /// no runner is known for the file. Blocks on the reader.
    pub fn of_file(
        file: &AbsPath,
        root: &AbsPath,
        reader: &dyn ManifestReader,
    ) -> Option<TestProject> {
        let search = ProjectSearch { file, root, reader };
        let extension = file.as_path().extension()?.to_str()?;
        match extension {
            "rs" => search.cargo(),
            "py" => Some(search.pytest()),
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" => search.javascript(),
            "go" => search.go(),
            _ => None,
        }
    }
}

impl TestProject {
    /// Returns the project of a folder: that of the files of Rust, Go or JavaScript in it, else that of Python if a file
    /// says so. `None` if no runner is known for it. Blocks on the reader.
    pub fn of_folder(
        folder: &AbsPath,
        root: &AbsPath,
        reader: &dyn ManifestReader,
    ) -> Option<TestProject> {
        let others = ["a.rs", "a.go", "a.js"].into_iter();
        let mut others = others.filter_map(|name| Self::of_file(&folder.join(name), root, reader));
        others.next().or_else(|| {
            let file = folder.join("a.py");
            let search = ProjectSearch {
                file: &file,
                root,
                reader,
            };
            let manifests = [
                "pyproject.toml",
                "pytest.ini",
                "setup.cfg",
                "setup.py",
                "tox.ini",
            ];
            let is_python = search.folders().any(|folder| {
                let mut manifests = manifests.iter().chain(&["conftest.py", "requirements.txt"]);
                manifests.any(|name| search.has(&folder, name))
            });
            is_python.then(|| search.pytest())
        })
    }
}

impl ProjectSearch<'_> {
    /// Returns the folder of the file.
    fn first(&self) -> AbsPath {
        self.file.parent().unwrap_or_else(|| self.root.clone())
    }

    /// Iterates over the folders from that of the file up to the root.
    fn folders(&self) -> impl Iterator<Item = AbsPath> {
        let root = self.root.clone();
        let first = Some(self.first());
        std::iter::successors(first, AbsPath::parent).take_while(move |it| it.is_within(&root))
    }

    /// Returns the nearest folder with a file of this name, and the text of the file.
    fn nearest(&self, name: &str) -> Option<(AbsPath, String)> {
        self.folders().find_map(|folder| {
            let text = self.reader.read(&folder.join(name))?;
            Some((folder, text))
        })
    }

    fn has(&self, folder: &AbsPath, name: &str) -> bool {
        self.reader.exists(&folder.join(name))
    }

    fn cargo(&self) -> Option<TestProject> {
        let (folder, manifest) = self.nearest("Cargo.toml")?;
        let above = self.folders().filter(|it| folder.is_within(it));
        let workspaces = above.filter(|it| {
            let text = self.reader.read(&it.join("Cargo.toml"));
            text.is_some_and(|text| manifests::has_section(&text, "workspace"))
        });
        let base = workspaces.last().unwrap_or_else(|| folder.clone());
        let uses_nextest = self.has(&base, ".config/nextest.toml")
            || self.has(&folder, ".config/nextest.toml")
            || ["Cargo.toml", ".cargo/config.toml", "Makefile", "justfile"]
                .iter()
                .filter_map(|name| self.reader.read(&base.join(name)))
                .any(|text| text.contains("nextest"));
        let framework = if uses_nextest {
            TestFramework::Nextest
        } else {
            TestFramework::CargoTest
        };
        Some(TestProject {
            framework,
            launcher: vec!["cargo".to_owned()],
            name: manifests::package_name(&manifest).unwrap_or_default(),
            targets: CargoTargets {
                has_library: self.has(&folder, "src/lib.rs"),
                has_program: self.has(&folder, "src/main.rs"),
            },
            folder,
            base,
        })
    }

    /// pytest runs in the nearest folder with its configuration, in the environment of the project.
    fn pytest(&self) -> TestProject {
        let configured = self.folders().find(|folder| {
            let is_in = |name: &str, section: &str| {
                let text = self.reader.read(&folder.join(name));
                text.is_some_and(|text| manifests::has_section(&text, section))
            };
            self.has(folder, "pytest.ini")
                || is_in("pyproject.toml", "tool.pytest")
                || is_in("setup.cfg", "tool:pytest")
                || is_in("tox.ini", "pytest")
        });
        let by_file = |name: &str| self.folders().find(|folder| self.has(folder, name));
        let folder = configured
            .or_else(|| by_file("pyproject.toml"))
            .or_else(|| by_file("setup.py"))
            .or_else(|| {
                self.folders()
                    .filter(|it| self.has(it, "conftest.py"))
                    .last()
            })
            .unwrap_or_else(|| self.root.clone());
        let environment = PythonEnvironment::of_folder(&self.first(), self.root, self.reader);
        TestProject {
            framework: TestFramework::Pytest,
            base: folder.clone(),
            folder,
            launcher: environment.module_command("pytest"),
            name: String::new(),
            targets: CargoTargets::default(),
        }
    }

    /// The nearest package that depends on a runner, started by its package manager.
    fn javascript(&self) -> Option<TestProject> {
        let (folder, framework) = self.folders().find_map(|folder| {
            let text = self.reader.read(&folder.join("package.json"))?;
            let framework = manifests::javascript_runner(&text)?;
            Some((folder, framework))
        })?;
        let manager = PackageManager::of_folder(&self.first(), self.root, self.reader);
        let program = match framework {
            TestFramework::Vitest => "vitest",
            _ => "jest",
        };
        let launcher = manager.launcher().iter().copied().chain([program]);
        Some(TestProject {
            framework,
            base: folder.clone(),
            launcher: launcher.map(str::to_owned).collect(),
            folder,
            name: String::new(),
            targets: CargoTargets::default(),
        })
    }

    fn go(&self) -> Option<TestProject> {
        let (folder, text) = self.nearest("go.mod")?;
        Some(TestProject {
            framework: TestFramework::GoTest,
            base: folder.clone(),
            folder,
            launcher: vec!["go".to_owned()],
            name: manifests::go_module(&text).unwrap_or_default(),
            targets: CargoTargets::default(),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
