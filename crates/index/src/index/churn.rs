//! Whatever way an index comes to what it holds, it answers as a fresh one does.

use base::AbsPath;
use host::process::{Request, run};
use host::{Files, RealFiles, TempFolder};

use super::tests::write;
use super::{Index, Options};
use crate::{Hit, Means, Query};

const WORDS: [&str; 24] = [
    "retry", "session", "save", "cart", "total", "price", "parse", "line", "token", "buffer",
    "window", "draw", "index", "search", "query", "merge", "branch", "commit", "socket", "request",
    "response", "timer", "cache", "store",
];

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % most
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    /// A file of some functions.
    fn code(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(6) + 1 {
            let (verb, noun) = (self.word(), self.word());
            text.push_str(&format!(
                "/// Does the {} of a {}.\nfn {verb}_{noun}() {{\n",
                self.word(),
                self.word()
            ));
            for _ in 0..self.below(20) {
                text.push_str(&format!(
                    "    let {} = {}({});\n",
                    self.word(),
                    self.word(),
                    self.word()
                ));
            }
            text.push_str("}\n\n");
        }
        text
    }

    fn path(&mut self) -> String {
        let folder = ["src", "src/net", "tests", "lib"][self.below(4)];
        let ending = ["rs", "rs", "rs", "py", "txt"][self.below(5)];
        format!("{folder}/{}_{}.{ending}", self.word(), self.below(3))
    }
}

fn answers(index: &Index) -> Vec<Vec<Hit>> {
    let mut answers = Vec::new();
    for question in [
        "save a session",
        "retry_request",
        "parse",
        "how are tests of the cart done",
        "draw window buffer",
    ] {
        for means in [Means::Fused, Means::Words, Means::Meaning] {
            let query = Query {
                means,
                ..Query::new(question, 8)
            };
            let answer = index.search(&query);
            assert!(answer.is_complete);
            answers.push(answer.hits);
        }
    }
    answers.push(index.symbols("save", 10));
    answers
}

fn assert_fresh(index: &Index, root: &AbsPath, at: &str) {
    let fresh = Index::open(root.clone(), Options::in_memory());
    fresh.settle();
    assert_eq!(index.status().chunks, fresh.status().chunks, "{at}");
    for (ours, theirs) in answers(index).into_iter().zip(answers(&fresh)) {
        assert_eq!(ours, theirs, "{at}");
    }
}

fn place() -> (TempFolder, AbsPath, Options) {
    let folder = TempFolder::new().expect("a folder");
    let base = RealFiles.canonicalize(folder.path()).expect("there");
    let root = base.join("project");
    RealFiles.create_folder(&root).expect("create");
    (folder, root, Options::kept_in(&base.join("cache")))
}

#[test]
fn random_edits_lead_to_what_a_fresh_index_holds() {
    for seed in 1..4 {
        let mut random = Random(seed);
        let (_folder, root, options) = place();
        for _ in 0..15 {
            write(&root, &random.path(), &random.code());
        }
        let mut index = Index::open(root.clone(), options.clone());
        index.settle();
        for step in 0..25 {
            let mut touched = Vec::new();
            for _ in 0..random.below(4) + 1 {
                let name = random.path();
                let path = root.join(&name);
                match random.below(6) {
                    0 => drop(RealFiles.remove(&path)),
                    1 if RealFiles.exists(&path) => {
                        let to = root.join(random.path());
                        if RealFiles.rename(&path, &to).is_ok() {
                            touched.push(to);
                        }
                    }
                    _ => write(&root, &name, &random.code()),
                }
                touched.push(path);
            }
            if random.below(5) == 0 {
                // Closed, changed behind its back, and opened again.
                drop(index);
                index = Index::open(root.clone(), options.clone());
            } else {
                index.touch(touched);
            }
            index.settle();
            assert_fresh(&index, &root, &format!("seed {seed}, step {step}"));
        }
    }
}

#[test]
fn unsaved_texts_come_and_go_without_a_trace() {
    let mut random = Random(9);
    let (_folder, root, options) = place();
    for _ in 0..15 {
        write(&root, &random.path(), &random.code());
    }
    let index = Index::open(root.clone(), options);
    index.settle();
    let before = answers(&index);
    let names: Vec<String> = (0..8).map(|_| random.path()).collect();
    for _ in 0..30 {
        let name = &names[random.below(names.len())];
        let text = text::Buffer::new(&random.code()).snapshot();
        index.set_unsaved(root.join(name), Some(text));
        index.settle();
    }
    assert_ne!(answers(&index), before);
    for name in &names {
        index.set_unsaved(root.join(name), None);
    }
    index.settle();
    assert_eq!(answers(&index), before);
}

fn git(root: &AbsPath, arguments: &[&str]) -> String {
    let mut all = vec![
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        "-c",
        "init.defaultBranch=main",
    ];
    all.extend(arguments);
    let request = Request::new("git", root).with_arguments(all);
    let finished = run(&request).expect("git");
    assert!(finished.is_success(), "{arguments:?}: {}", finished.text());
    finished.text()
}

#[test]
fn fifty_commits_checked_out_are_each_as_fresh_and_nothing_is_embedded_twice() {
    let mut random = Random(50);
    let (_folder, root, options) = place();
    git(&root, &["init", "-q"]);
    for number in 0..50 {
        for _ in 0..random.below(4) + 1 {
            let name = random.path();
            match random.below(5) {
                0 => drop(RealFiles.remove(&root.join(&name))),
                _ => write(&root, &name, &random.code()),
            }
        }
        git(&root, &["add", "-A"]);
        git(
            &root,
            &[
                "commit",
                "-qm",
                &format!("Change {number}"),
                "--allow-empty",
            ],
        );
    }
    let commits = git(&root, &["rev-list", "--reverse", "main"]);
    let commits: Vec<&str> = commits.lines().collect();
    assert_eq!(commits.len(), 50);
    git(&root, &["checkout", "-q", commits[0]]);
    let index = Index::open(root.clone(), options.clone());
    index.settle();
    for commit in &commits {
        git(&root, &["checkout", "-q", commit]);
        index.refresh();
        index.settle();
        assert_fresh(&index, &root, commit);
    }
    let embedded = index.status().embedded;
    for commit in commits.iter().rev() {
        git(&root, &["checkout", "-q", commit]);
        index.refresh();
        index.settle();
    }
    assert_fresh(&index, &root, "back at the first");
    assert_eq!(
        index.status().embedded,
        embedded,
        "every content is known already"
    );
    drop(index);
    let again = Index::open(root.clone(), options);
    again.settle();
    assert_eq!(again.status().embedded, 0);
    assert_fresh(&again, &root, "opened again");
}

#[test]
fn a_second_worktree_reads_nothing_that_the_first_has() {
    let mut random = Random(77);
    let (_folder, root, options) = place();
    git(&root, &["init", "-q"]);
    for _ in 0..30 {
        write(&root, &random.path(), &random.code());
    }
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-qm", "First"]);
    let index = Index::open(root.clone(), options.clone());
    index.settle();
    let second = root.join("../second");
    git(&root, &["worktree", "add", "-q", "../second"]);
    write(&second, "src/only_there.rs", "fn only_there() {}\n");
    let other = Index::open(second.clone(), options);
    other.settle();
    assert_eq!(
        other.status().embedded,
        1,
        "only what the first does not have"
    );
    assert_fresh(&other, &second, "the second");
    assert_fresh(&index, &root, "the first");
    assert!(
        index.symbols("only_there", 3).is_empty(),
        "each sees its own files"
    );
}
