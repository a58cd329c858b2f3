//! Files of tasks in all forms: what is read, and what is reported with its place.

use std::sync::Arc;

use base::{AbsPath, Platform};
use host::FakeFiles;

use crate::TaskError;
use crate::definition::{DependencyOrder, TaskCommand, TaskDefinition, TaskGroup, TaskReveal};
use crate::launch::{TaskLaunch, resolve};
use crate::matcher::{FileLocation, MatcherSyntax};
use crate::set::TaskSet;
use crate::task_file::InputKind;
use crate::template::tests::context;

fn root() -> AbsPath {
    AbsPath::new("/p").expect("absolute")
}

/// Reads a project whose only files are these.
fn read(files: &[(&str, &str)], platform: Platform) -> TaskSet {
    let disk = FakeFiles::new();
    for (name, text) in files {
        disk.write(&root().join(name), text);
    }
    TaskSet::read(&disk, &root(), platform)
}

fn vscode(tasks: &str) -> TaskSet {
    let text = format!("{{ \"version\": \"2.0.0\", \"tasks\": [{tasks}] }}");
    read(&[(".vscode/tasks.json", &text)], Platform::Linux)
}

fn task<'a>(set: &'a TaskSet, label: &str) -> &'a Arc<TaskDefinition> {
    let task = set.task(label);
    task.unwrap_or_else(|| panic!("{label} of {:?}, {:?}", set.tasks, set.problems))
}

fn problems(set: &TaskSet) -> Vec<String> {
    let problems = set.problems.iter();
    problems.map(|it| it.problem.to_string()).collect()
}

fn launch(set: &TaskSet, label: &str, file: Option<&str>) -> Result<TaskLaunch, TaskError> {
    let launch = resolve(task(set, label), &context(file))?;
    Ok(launch.expect("a command"))
}

/// Checks the program and the arguments of the only task.
#[track_caller]
fn check(tasks: &str, expected: &[&str]) {
    let set = vscode(tasks);
    assert_eq!(problems(&set), [] as [String; 0], "{tasks}");
    let label = set.tasks[0].label.clone();
    let launch = launch(&set, &label, Some("/p/a b; rm -rf ~")).expect("a launch");
    let mut words = vec![launch.program.as_str()];
    words.extend(launch.arguments.iter().map(String::as_str));
    assert_eq!(words, expected, "{tasks}");
}

#[test]
fn commands_of_visual_studio_code_become_programs() {
    let shell = ["/bin/bash", "-c"];
    let line = |line: &'static str| [shell[0], shell[1], line];
    check(
        r#"{ "label": "a", "type": "process", "command": "cc", "args": ["-o", "${file}"] }"#,
        &["cc", "-o", "/p/a b; rm -rf ~"],
    );
    check(r#"{ "label": "a", "command": "cc" }"#, &["cc"]);
    check(
        r#"{ "label": "a", "type": "shell", "command": "cat ${file} | wc" }"#,
        &line("cat '/p/a b; rm -rf ~' | wc"),
    );
    check(
        r#"{ "label": "a", "type": "shell", "command": "ls", "args": ["*.rs", "two words", "$HOME"] }"#,
        &line("ls *.rs 'two words' $HOME"),
    );
    check(
        r#"{ "label": "a", "type": "shell", "command": "x", "args": [
            { "value": "a;b", "quoting": "strong" }, { "value": "$HOME/${fileBasename}", "quoting": "weak" }] }"#,
        &line("x 'a;b' \"$HOME/a b; rm -rf ~\""),
    );
    check(
        r#"{ "label": "a", "type": "shell", "command": { "value": "my tool", "quoting": "strong" }, "args": ["x"] }"#,
        &line("'my tool' x"),
    );
    check(
        r#"{ "label": "a", "type": "shell", "command": "x", "options": { "shell": { "executable": "/bin/dash", "args": ["-e", "-c"] } } }"#,
        &["/bin/dash", "-e", "-c", "x"],
    );
    check(
        r#"{ "type": "npm", "script": "build" }"#,
        &["npm", "run", "build"],
    );
    check(
        r#"{ "label": "a", "type": "cargo", "command": "test", "args": ["--", "x"] }"#,
        &["cargo", "test", "--", "x"],
    );
}

#[test]
fn options_of_visual_studio_code_are_read() {
    let text = r#"{
        // Comments and commas are fine.
        "version": "2.0.0",
        "options": { "env": { "A": "1" } },
        "inputs": [
            { "id": "name", "type": "promptString", "description": "Who?", "default": "me" },
            { "id": "kind", "type": "pickString", "options": ["a", { "label": "Bee", "value": "b" }] },
        ],
        "tasks": [
            {
                "label": "build", "type": "shell", "command": "x ${input:name}", "group": { "kind": "build", "isDefault": true },
                "presentation": { "reveal": "silent" }, "dependsOn": ["one", "two"], "dependsOrder": "sequence",
                "problemMatcher": ["$rustc", "$tsc"], "options": { "cwd": "${workspaceFolder}/sub", "env": { "B": "${file}" } },
                "linux": { "command": "on linux" }, "osx": { "command": "on macos" },
            },
            { "label": "one", "command": "x", "isBackground": true, "hide": true, "problemMatcher": "$tsc-watch" },
            { "label": "two", "dependsOn": "one", "group": "test" },
        ],
    }"#;
    for (platform, line) in [(Platform::Linux, "on linux"), (Platform::MacOs, "on macos")] {
        let set = read(&[(".vscode/tasks.json", text)], platform);
        assert_eq!(problems(&set), [] as [String; 0]);
        let build = task(&set, "build");
        assert_eq!(
            (build.group, build.is_default),
            (Some(TaskGroup::Build), true)
        );
        assert_eq!(
            (build.reveal, build.order),
            (TaskReveal::Silent, DependencyOrder::Sequence)
        );
        assert_eq!(build.dependencies, ["one", "two"]);
        // The panics of Rust, and both forms of TypeScript.
        assert_eq!(build.matchers.len(), 4);
        let launch = launch(&set, "build", Some("/p/a.rs")).expect("a launch");
        assert_eq!(launch.arguments, ["-c", line]);
        assert_eq!(launch.folder, root().join("sub"));
        assert_eq!(launch.variables, [("B".to_owned(), "/p/a.rs".to_owned())]);
        let (one, two) = (task(&set, "one"), task(&set, "two"));
        assert!(one.is_background && one.is_hidden && !two.is_hidden);
        assert_eq!(one.variables, [("A".to_owned(), "1".to_owned())]);
        assert_eq!(two.command, TaskCommand::Nothing);
        assert_eq!(set.group(TaskGroup::Build).len(), 1);
        assert_eq!(set.inputs[0].description, "Who?");
        let choices = [("a", "a"), ("Bee", "b")];
        let choices = choices.map(|(label, value)| (label.to_owned(), value.to_owned()));
        assert_eq!(set.inputs[1].kind, InputKind::Choice(choices.to_vec()));
    }
}

#[test]
fn own_and_zed_files_are_read_beside_each_other() {
    let own = r#"[ { "label": "run", "command": "run $relativeFile", "cwd": "$root/x", "reveal": "never", "env": { "L": "$line" } },
        { "label": "both", "command": "own" } ]"#;
    let zed = r#"[ { "label": "both", "command": "zed", "args": ["$ZED_STEM", "a b"], "hide": "never" } ]"#;
    let set = read(
        &[(".burin/tasks.jsonc", own), (".zed/tasks.json", zed)],
        Platform::Linux,
    );
    assert_eq!(problems(&set), [] as [String; 0]);
    let labels: Vec<&str> = set.tasks.iter().map(|task| task.label.as_str()).collect();
    assert_eq!(labels, ["run", "both", "both (.zed/tasks.json)"]);
    let run = launch(&set, "run", Some("/p/it's.rs")).expect("a launch");
    assert_eq!(run.arguments, ["-c", "run 'it'\\''s.rs'"]);
    assert_eq!(run.folder, root().join("x"));
    assert_eq!(run.variables, [("L".to_owned(), "12".to_owned())]);
    assert_eq!(task(&set, "run").reveal, TaskReveal::Never);
    let zed = launch(&set, "both (.zed/tasks.json)", Some("/p/a.rs")).expect("a launch");
    assert_eq!(zed.arguments, ["-c", "zed a 'a b'"]);
    let allowed = set.commands_of(&set.files[0]);
    assert_eq!(
        allowed,
        "run: L=$line run $relativeFile (in $root/x)\nboth: own"
    );
}

#[test]
fn invalid_parts_are_reported_with_their_lines() {
    for (tasks, expected) in [
        ("\n1", "2:1: a task is an object"),
        ("{}", "the task has no \"label\""),
        (
            "{ \"label\": \"a\" }",
            "the task has neither a \"command\" nor \"dependsOn\"",
        ),
        (
            "{ \"label\": 1, \"command\": \"x\" }",
            "\"label\" is not a string",
        ),
        (
            "{ \"label\": \"a\",\n \"command\": \"x\",\n\"args\": [\"a\",\n\"${nonsense}\"] }",
            "4:1: unknown variable ${nonsense}",
        ),
        (
            "{ \"label\": \"a\", \"command\": \"${input:x}\" }",
            "\"inputs\" has no entry",
        ),
        (
            "{ \"label\": \"a\", \"command\": \"${config:x}\" }",
            "Burin has no settings",
        ),
        (
            "{ \"label\": \"a\", \"type\": \"gulp\" }",
            "tasks of the type \"gulp\" come from an extension",
        ),
        (
            "{ \"label\": \"a\", \"command\": \"x\", \"dependsOrder\": \"no\" }",
            "\"dependsOrder\" is",
        ),
        (
            "{ \"label\": \"a\", \"command\": \"x\", \"problemMatcher\": \"$no\" }",
            "\"$no\" is not known; known are $clang, $cmake",
        ),
        (
            "{ \"label\": \"a\", \"command\": \"x\", \"problemMatcher\": {} }",
            "the matcher has no \"pattern\"",
        ),
        (
            "{ \"label\": \"a\", \"command\": \"x\", \"problemMatcher\": { \"pattern\": { \"regexp\": \"(?=a)\" } } }",
            "the regular expression cannot be used: look-around",
        ),
        (
            "{ \"label\": \"a\", \"command\": \"x\", \"problemMatcher\": { \"pattern\": { \"regexp\": \"(a)\", \"file\": 7 } } }",
            "\"file\" is not the number of a group",
        ),
        (
            "{ \"label\": \"a\", \"command\": \"x\" }, { \"label\": \"a\", \"command\": \"y\" }",
            "another task of this file is named \"a\"",
        ),
    ] {
        let found = problems(&vscode(tasks)).join("\n");
        assert!(found.contains(expected), "{tasks}: {found}");
        assert!(found.starts_with(".vscode/tasks.json:"), "{found}");
    }
    let broken = read(&[(".burin/tasks.json", "[\n{")], Platform::Linux);
    assert_eq!(broken.problems.len(), 1);
    assert!(problems(&broken)[0].starts_with(".burin/tasks.json:"));
    let old = read(
        &[(".vscode/tasks.json", "{ \"version\": \"0.1.0\" }")],
        Platform::Linux,
    );
    assert!(problems(&old)[0].ends_with("only version \"2.0.0\" is known"));
}

#[test]
fn a_value_that_is_missing_names_file_and_line() {
    let set = vscode("\n{ \"label\": \"a\", \"command\": \"cat\", \"args\": [\"${file}\"] }");
    let failure = launch(&set, "a", None).expect_err("no file");
    let expected = ".vscode/tasks.json:2: \"a\": ${file} needs an open file";
    assert_eq!(failure.to_string(), expected);
}

#[test]
fn matchers_of_files_are_read() {
    let set = vscode(
        r#"{ "label": "a", "command": "x", "problemMatcher": {
            "owner": "mine", "severity": "warning", "fileLocation": ["relative", "${workspaceFolder}/src"],
            "pattern": [
                { "regexp": "^file (.*)$", "file": 1 },
                { "regexp": "^(?<line>\\d+): (?<message>[^[]*)$", "loop": true }
            ],
            "background": { "activeOnStart": true, "beginsPattern": "^begin", "endsPattern": { "regexp": "^end" } } } }"#,
    );
    assert_eq!(problems(&set), [] as [String; 0]);
    let matcher = &task(&set, "a").matchers[0];
    assert_eq!(matcher.source.as_deref(), Some("mine"));
    let base = Some("${workspaceFolder}/src".to_owned());
    assert_eq!(matcher.location, FileLocation::Relative(base));
    let background = matcher.background.as_ref().expect("rounds");
    assert!(background.begins.is_some() && background.ends.is_some());
    let MatcherSyntax::Lines(patterns) = &matcher.syntax else {
        panic!("{matcher:?}");
    };
    assert_eq!(
        (patterns[0].groups.file, patterns[1].groups.line),
        (Some(1), Some(1))
    );
    assert!(patterns[1].repeats && !patterns[0].repeats);
    let derived = vscode(
        r#"{ "label": "a", "command": "x", "problemMatcher": { "base": "$gcc", "severity": "info" } }"#,
    );
    assert_eq!(task(&derived, "a").matchers.len(), 1);
}

#[test]
fn too_large_and_odd_files_are_reported() {
    let disk = FakeFiles::new();
    disk.write(&root().join(".zed/tasks.json"), vec![b' '; 300 << 10]);
    disk.write(&root().join(".burin/tasks.json"), [0xff_u8, 0xfe]);
    let set = TaskSet::read(&disk, &root(), Platform::Linux);
    let found = problems(&set);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].ends_with("the file is not valid UTF-8"),
        "{found:?}"
    );
    let many = (0..600).map(|ix| format!("{{\"label\":\"{ix}\",\"command\":\"x\"}}"));
    let set = vscode(&many.collect::<Vec<_>>().join(","));
    assert_eq!(set.tasks.len(), 500);
    assert_eq!(set.problems.len(), 1);
}

#[test]
fn expressions_and_problems_of_a_file_are_bounded() {
    let matcher = r#"{ "pattern": { "regexp": "^(a{500}):(\\d+)$", "file": 1, "line": 2 } }"#;
    let many = [matcher; 6].join(",");
    let tasks: Vec<String> = (0..100)
        .map(|ix| format!(r#"{{ "label": "t{ix}", "command": "x", "problemMatcher": [{many}] }}"#))
        .collect();
    let set = vscode(&tasks.join(","));
    assert_eq!(set.tasks.len(), 100);
    let compiled: usize = set.tasks.iter().map(|task| task.matchers.len()).sum();
    assert_eq!(compiled, 64);
    let problems = problems(&set);
    assert_eq!(problems.len(), 200);
    assert!(
        problems[0].contains("only 64 regular expressions"),
        "{}",
        problems[0]
    );
    let matchers = ["\"$tsc\""; 2_000].join(",");
    let set = vscode(&format!(
        r#"{{ "label": "t", "command": "x", "problemMatcher": [{matchers}] }}"#
    ));
    assert_eq!(set.tasks[0].matchers.len(), 8);
}
