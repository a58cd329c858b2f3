//! Detection of the tools that wrote a log, from the command line and from lines that only that
//! tool writes.

/// The tools whose output a log contains, as detected from the command that was run and from the
/// log's lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DetectedTools {
    pub(crate) cargo: bool,
    pub(crate) pytest: bool,
    pub(crate) unittest: bool,
    pub(crate) jest: bool,
    pub(crate) go: bool,
    pub(crate) maven: bool,
    pub(crate) gradle: bool,
    pub(crate) native: bool,
    pub(crate) lint: bool,
    pub(crate) packages: bool,
    pub(crate) git_log: bool,
    pub(crate) git_diff: bool,
    pub(crate) git_status: bool,
    pub(crate) listing: bool,
    pub(crate) grep: bool,
    /// A command that prints a text unchanged.
    pub(crate) shows: bool,
}

/// Words that may precede the name of a program.
const WRAPPERS: [&str; 14] = [
    "sudo", "time", "nice", "env", "timeout", "npx", "pnpx", "bunx", "exec", "command", "poetry",
    "uv", "nohup", "xvfb-run",
];

impl DetectedTools {
    /// Detects tools by the name of the agent's tool, by the shell command if there was one, and by
    /// typical lines of the output.
    pub(crate) fn of(tool: &str, command: Option<&str>, lines: &[&str]) -> Self {
        let mut programs = Self::default();
        match tool {
            "grep" => programs.grep = true,
            "git_log" => programs.git_log = true,
            "git_diff" => programs.git_diff = true,
            "git_status" => programs.git_status = true,
            "list" | "glob" => programs.listing = true,
            _ => {}
        }
        for simple in command.map(simple_commands).unwrap_or_default() {
            programs.add(&simple);
        }
        programs.add_seen(lines);
        programs
    }

    /// Returns whether the command only prints a text that the model chose to read, so that the
    /// output must be kept in full.
    pub(crate) fn only_shows(&self) -> bool {
        let shows = Self {
            shows: true,
            ..Self::default()
        };
        *self == shows
    }

    fn add(&mut self, words: &[String]) {
        let word = |ix: usize| words.get(ix).map_or("", String::as_str);
        let program = word(0).rsplit('/').next().unwrap_or_default();
        let first = words[1..].iter().find(|word| !word.starts_with(['-', '+']));
        let first = first.map_or("", String::as_str);
        match program {
            "cargo" | "rustc" | "cross" => self.cargo = true,
            "pytest" | "py.test" | "tox" | "nox" => self.pytest = true,
            _ if program.starts_with("python") => match (word(1), word(2)) {
                ("-m", "pytest") => self.pytest = true,
                ("-m", "unittest") => self.unittest = true,
                ("-m", "pip") => self.packages = true,
                _ => {}
            },
            "jest" | "vitest" | "mocha" | "node" | "deno" | "bun" => self.jest = true,
            "tsc" | "vue-tsc" | "eslint" | "mypy" | "ruff" | "flake8" | "pylint" | "pyright" => {
                self.lint = true
            }
            "npm" | "yarn" | "pnpm" | "pip" | "pip3" | "docker" | "podman" | "buildah" => {
                self.packages = true
            }
            "go" | "gotestsum" | "golangci-lint" => self.go = true,
            "make" | "gmake" | "ninja" | "cmake" | "ctest" | "gcc" | "g++" | "cc" | "c++"
            | "clang" | "clang++" => {
                self.native = true;
            }
            "mvn" | "mvnw" => self.maven = true,
            "gradle" | "gradlew" => self.gradle = true,
            "git" => match first {
                "log" => self.git_log = true,
                "show" | "diff" => self.git_diff = true,
                "status" => self.git_status = true,
                _ => {}
            },
            "cat" | "sed" | "head" | "tail" | "less" | "more" | "nl" | "bat" | "awk" | "jq"
            | "xxd" => {
                self.shows = true;
            }
            "ls" | "find" | "fd" | "tree" => self.listing = true,
            "grep" | "rg" | "ag" | "ack" | "egrep" | "fgrep" => {
                let lists = words.iter().any(|word| {
                    let is_short = word.starts_with('-') && !word.starts_with("--");
                    word == "--files-with-matches"
                        || word == "--files"
                        || (is_short && word.contains('l'))
                });
                if lists {
                    self.listing = true
                } else {
                    self.grep = true
                }
            }
            _ => {}
        }
        // The output of a command that prints patches is treated as a diff as well.
        let has_patch = words.iter().any(|word| word == "-p" || word == "--patch");
        if program == "git" && first == "log" && has_patch {
            self.git_diff = true;
        }
    }

    fn add_seen(&mut self, lines: &[&str]) {
        for line in lines {
            match line {
                _ if line.starts_with("test result: ") || line.starts_with("error[E") => {
                    self.cargo = true
                }
                _ if line.starts_with("   Compiling ") || line.starts_with("    Checking ") => {
                    self.cargo = true
                }
                _ if line.starts_with("=====") && line.contains("test session starts") => {
                    self.pytest = true
                }
                _ if line.starts_with("=====") && line.contains("short test summary") => {
                    self.pytest = true
                }
                _ if line.starts_with("Ran ") && line.contains(" tests in ") => {
                    self.unittest = true
                }
                _ if line.starts_with("Test Suites: ") || line.starts_with(" Test Files  ") => {
                    self.jest = true
                }
                _ if line.ends_with("ms)") && line.contains(" passing (") => self.jest = true,
                _ if line.ends_with("s)") && line.trim_start().contains(" passing (") => {
                    self.jest = true
                }
                _ if line.starts_with("# tests ") || line.starts_with("ℹ tests ") => {
                    self.jest = true
                }
                _ if line.starts_with("TAP version ") => self.jest = true,
                _ if line.starts_with("--- FAIL: ") || line.starts_with("--- PASS: ") => {
                    self.go = true
                }
                _ if line.starts_with("ok  \t") || line.starts_with("FAIL\t") => self.go = true,
                _ if line.starts_with("[INFO] Scanning for projects") => self.maven = true,
                _ if line.starts_with("[INFO] BUILD ")
                    || line.starts_with("[ERROR] COMPILATION") =>
                {
                    self.maven = true
                }
                _ if line.starts_with(":compileJava") || line.starts_with("BUILD FAILED in ") => {
                    self.gradle = true;
                }
                _ if line.starts_with("> Task :") => self.gradle = true,
                _ if line.starts_with("make: ") || line.starts_with("make[") => self.native = true,
                _ if line.ends_with(" error generated.")
                    || line.ends_with(" errors generated.") =>
                {
                    self.native = true;
                }
                _ if line.contains(": In function ‘")
                    || line.ends_with("   required from here") =>
                {
                    self.native = true;
                }
                _ if line.starts_with("-- Detecting ") || line.starts_with("CMake Error") => {
                    self.native = true
                }
                _ if line.contains(": error TS") || line.contains(" - error TS") => {
                    self.lint = true
                }
                _ if line.starts_with("Found ") && line.contains(" error") => self.lint = true,
                _ if line.starts_with("✖ ") && line.contains(" problem") => self.lint = true,
                _ if line.starts_with("npm error") || line.starts_with("npm ERR!") => {
                    self.packages = true
                }
                _ if line.starts_with("npm warn deprecated") || line.starts_with("npm http ") => {
                    self.packages = true
                }
                _ if line.starts_with("Collecting ") || line.starts_with("#1 [internal]") => {
                    self.packages = true
                }
                _ if line.starts_with("diff --git ") => self.git_diff = true,
                _ => {}
            }
        }
    }
}

/// Splits a line into simple commands, each as words. Handles quotes but no other shell syntax,
/// since this only guesses which tool wrote the log.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.push(letter),
            (None, '"' | '\'') => quote = Some(letter),
            (None, ';' | '&' | '|' | '\n' | '(' | ')') => {
                words.push(std::mem::take(&mut word));
                commands.push(std::mem::take(&mut words));
            }
            (None, ' ' | '\t') => words.push(std::mem::take(&mut word)),
            (None, _) => word.push(letter),
        }
    }
    words.push(word);
    commands.push(words);
    let commands = commands.into_iter().map(strip);
    commands.filter(|words| !words.is_empty()).collect()
}

/// Removes variables, wrappers and their options before the program's name.
fn strip(words: Vec<String>) -> Vec<String> {
    let mut words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let mut is_wrapped = false;
    while let Some(first) = words.first() {
        let is_variable = first.split('=').next().is_some_and(|name| {
            name.len() < first.len()
                && name
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || letter == '_')
        });
        let is_wrapper = WRAPPERS.contains(&first.as_str());
        let is_option = is_wrapped
            && (first.starts_with('-') || first == "run" || first.parse::<f64>().is_ok());
        if !is_variable && !is_wrapper && !is_option {
            break;
        }
        is_wrapped |= is_wrapper;
        words.remove(0);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_command_lines() {
        let check = |command: &str, expected: DetectedTools| {
            assert_eq!(
                DetectedTools::of("exec_command", Some(command), &[]),
                expected,
                "{command}"
            );
        };
        let none = DetectedTools::default;
        check(
            "cargo test",
            DetectedTools {
                cargo: true,
                ..none()
            },
        );
        check(
            "cd x && RUST_LOG=1 nice -n 12 cargo test 2>&1 | tail",
            DetectedTools {
                cargo: true,
                shows: true,
                ..none()
            },
        );
        check(
            "python3 -m pytest -q",
            DetectedTools {
                pytest: true,
                ..none()
            },
        );
        check(
            "./venv/bin/pytest",
            DetectedTools {
                pytest: true,
                ..none()
            },
        );
        check(
            "uv run pytest",
            DetectedTools {
                pytest: true,
                ..none()
            },
        );
        check(
            "npx jest --ci",
            DetectedTools {
                jest: true,
                ..none()
            },
        );
        check("git -c x=y log -p", none());
        check(
            "git log -p",
            DetectedTools {
                git_log: true,
                git_diff: true,
                ..none()
            },
        );
        check(
            "git --no-pager diff",
            DetectedTools {
                git_diff: true,
                ..none()
            },
        );
        check(
            "grep -rn x .",
            DetectedTools {
                grep: true,
                ..none()
            },
        );
        check(
            "grep -rl x .",
            DetectedTools {
                listing: true,
                ..none()
            },
        );
        check(
            "find . -name '*.rs; cargo'",
            DetectedTools {
                listing: true,
                ..none()
            },
        );
        check("echo cargo", none());
        check("", none());
    }
}
