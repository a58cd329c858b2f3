//! An index gives the same answers as a fresh one, whatever the history of changes.

use base::AbsPath;
use host::process::{ProcessRequest, run};
use host::{Files, RealFiles, TempFolder};

use super::tests::write;
use super::{Index, IndexOptions};
use crate::{IndexQuery, QueryMode, SearchHit};

const WORDS: [&str; 24] = [
    "retry", "session", "save", "cart", "total", "price", "parse", "line", "token", "buffer",
    "window", "draw", "index", "search", "query", "merge", "branch", "commit", "socket", "request",
    "response", "timer", "cache", "store",
];

struct ChurnRng(u64);

impl ChurnRng {
    fn up_to(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % most
    }

    fn random_word(&mut self) -> &'static str {
        WORDS[self.up_to(WORDS.len())]
    }

    /// Returns a file with some functions.
    fn code(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.up_to(6) + 1 {
            let (verb, noun) = (self.random_word(), self.random_word());
            text.push_str(&format!(
                "/// Does the {} of a {}.\nfn {verb}_{noun}() {{\n",
                self.random_word(),
                self.random_word()
            ));
            for _ in 0..self.up_to(20) {
                text.push_str(&format!(
                    "    let {} = {}({});\n",
                    self.random_word(),
                    self.random_word(),
                    self.random_word()
                ));
            }
            text.push_str("}\n\n");
        }
        text
    }

    fn path(&mut self) -> String {
        let folder = ["src", "src/net", "tests", "lib"][self.up_to(4)];
        let ending = ["rs", "rs", "rs", "py", "txt"][self.up_to(5)];
        format!("{folder}/{}_{}.{ending}", self.random_word(), self.up_to(3))
    }
}

fn answers(index: &Index) -> Vec<Vec<SearchHit>> {
    let mut answers = Vec::new();
    for question in [
        "save a session",
        "retry_request",
        "parse",
        "how are tests of the cart done",
        "draw window buffer",
    ] {
        for means in [QueryMode::Fused, QueryMode::Words, QueryMode::Meaning] {
            let query = IndexQuery {
                mode: means,
                ..IndexQuery::new(question, 8)
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
    let fresh = Index::open(root.clone(), IndexOptions::in_memory());
    fresh.wait_until_synced();
    assert_eq!(index.status().chunks, fresh.status().chunks, "{at}");
    for (ours, theirs) in answers(index).into_iter().zip(answers(&fresh)) {
        assert_eq!(ours, theirs, "{at}");
    }
}

fn temp_index() -> (TempFolder, AbsPath, IndexOptions) {
    let folder = TempFolder::new().expect("a folder");
    let base = RealFiles.canonicalize(folder.path()).expect("there");
    let root = base.join("project");
    RealFiles.create_folder(&root).expect("create");
    (folder, root, IndexOptions::kept_in(&base.join("cache")))
}

#[test]
fn random_edits_give_the_same_as_a_fresh_index() {
    for seed in 1..4 {
        let mut random = ChurnRng(seed);
        let (_folder, root, options) = temp_index();
        for _ in 0..15 {
            write(&root, &random.path(), &random.code());
        }
        let mut index = Index::open(root.clone(), options.clone());
        index.wait_until_synced();
        for step in 0..25 {
            let mut touched = Vec::new();
            for _ in 0..random.up_to(4) + 1 {
                let name = random.path();
                let path = root.join(&name);
                match random.up_to(6) {
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
            if random.up_to(5) == 0 {
                // Closed, changed on disk, and reopened.
                drop(index);
                index = Index::open(root.clone(), options.clone());
            } else {
                index.touch(touched);
            }
            index.wait_until_synced();
            assert_fresh(&index, &root, &format!("seed {seed}, step {step}"));
        }
    }
}

#[test]
fn unsaved_texts_come_and_go_without_a_trace() {
    let mut random = ChurnRng(9);
    let (_folder, root, options) = temp_index();
    for _ in 0..15 {
        write(&root, &random.path(), &random.code());
    }
    let index = Index::open(root.clone(), options);
    index.wait_until_synced();
    let before = answers(&index);
    let names: Vec<String> = (0..8).map(|_| random.path()).collect();
    for _ in 0..30 {
        let name = &names[random.up_to(names.len())];
        let text = text::Buffer::new(&random.code()).snapshot();
        index.set_unsaved(root.join(name), Some(text));
        index.wait_until_synced();
    }
    assert_ne!(answers(&index), before);
    for name in &names {
        index.set_unsaved(root.join(name), None);
    }
    index.wait_until_synced();
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
    let request = ProcessRequest::new("git", root).with_arguments(all);
    let finished = run(&request).expect("git");
    assert!(finished.is_success(), "{arguments:?}: {}", finished.text());
    finished.text()
}

#[test]
fn checkouts_match_a_fresh_index_without_embedding_twice() {
    let mut random = ChurnRng(50);
    let (_folder, root, options) = temp_index();
    git(&root, &["init", "-q"]);
    for number in 0..50 {
        for _ in 0..random.up_to(4) + 1 {
            let name = random.path();
            match random.up_to(5) {
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
    index.wait_until_synced();
    for commit in &commits {
        git(&root, &["checkout", "-q", commit]);
        index.refresh();
        index.wait_until_synced();
        assert_fresh(&index, &root, commit);
    }
    let embedded = index.status().embedded;
    for commit in commits.iter().rev() {
        git(&root, &["checkout", "-q", commit]);
        index.refresh();
        index.wait_until_synced();
    }
    assert_fresh(&index, &root, "back at the first");
    assert_eq!(
        index.status().embedded,
        embedded,
        "every content is known already"
    );
    drop(index);
    let again = Index::open(root.clone(), options);
    again.wait_until_synced();
    assert_eq!(again.status().embedded, 0);
    assert_fresh(&again, &root, "opened again");
}

#[test]
fn a_second_worktree_reads_nothing_that_the_first_has() {
    let mut random = ChurnRng(77);
    let (_folder, root, options) = temp_index();
    git(&root, &["init", "-q"]);
    for _ in 0..30 {
        write(&root, &random.path(), &random.code());
    }
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-qm", "First"]);
    let index = Index::open(root.clone(), options.clone());
    index.wait_until_synced();
    let second = root.join("../second");
    git(&root, &["worktree", "add", "-q", "../second"]);
    write(&second, "src/only_there.rs", "fn only_there() {}\n");
    let other = Index::open(second.clone(), options);
    other.wait_until_synced();
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
