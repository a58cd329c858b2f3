//! Targets of Make.

use super::{DetectedProject, MAX_NAMES, matchers};
use crate::definition::{TaskDefinition, TaskGroup};

const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

pub(super) fn detect(project: &DetectedProject<'_>, tasks: &mut Vec<TaskDefinition>) {
    for folder in &project.folders {
        let Some(file) = FILES.into_iter().find(|file| folder.has(file)) else {
            continue;
        };
        let Some(text) = project.read(&folder.path.join(file)) else {
            continue;
        };
        for target in targets(&text) {
            let label = format!("make {target}");
            let mut task = folder.task("make", file, &label, &["make", target]);
            task.group = match target {
                "all" | "build" => Some(TaskGroup::Build),
                "test" | "check" => Some(TaskGroup::Test),
                _ => None,
            };
            task.matchers = matchers(&["$gcc"]);
            tasks.push(task);
        }
    }
}

/// Returns the targets of rules, without patterns, variables and special targets.
fn targets(text: &str) -> Vec<&str> {
    let mut targets: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.starts_with(['\t', ' ', '#']) {
            continue;
        }
        let Some((names, rest)) = line.split_once(':') else {
            continue;
        };
        // `a := b` and `a ::= b` are variables, as is `a = b:c`; parentheses are of conditions and references.
        if rest.starts_with('=') || rest.starts_with(":=") || names.contains(['=', '(']) {
            continue;
        }
        for name in names.split_whitespace() {
            if is_target(name) && !targets.contains(&name) && targets.len() < MAX_NAMES {
                targets.push(name);
            }
        }
    }
    targets
}

fn is_target(name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-./+@".contains(letter);
    name.starts_with(char::is_alphanumeric) && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn rules_name_targets() {
        let text = ".PHONY: all\nCC := gcc\nX = a:b\nall build: main.o\n\tcc: no\n%.o: %.c\n# doc: no\n\
                    $(OUT): x\ntest::\n\tsh\nall: again\nfoo/bar.txt: x # c\nVAR ::= 1\nifeq ($(A),b:c)\n";
        assert_eq!(targets(text), ["all", "build", "test", "foo/bar.txt"]);
    }
}
