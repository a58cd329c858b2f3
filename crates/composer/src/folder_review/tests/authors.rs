//! Changes of formatters and of Git, beside those of agents, and the comments on mended changes.

use agent::comments::{CommentState, CommentThread, ReviewComment};

use super::*;

/// The authors of all changes of a file, oldest first.
fn authors(folder: &Folder, path: &str) -> Vec<ChangeAuthor> {
    let history = lock_of(&folder.review().history);
    let changes = history.changes().iter().filter(|it| it.path == path);
    changes.map(|it| it.author.clone()).collect()
}

fn rejected(folder: &Folder, path: &str) -> String {
    folder
        .run("s", &FolderAction::Reject(ReviewTarget::All))
        .unwrap();
    folder.text(path)
}

#[test]
fn a_checkout_is_gits_and_its_return_the_agents() {
    let base = numbered(9);
    let folder = Folder::in_git(&[("a.txt", &base), ("b.txt", "b\n")]);
    folder.call("s", 1, "c1", |it| {
        it.write("a.txt", with(&base, &[(3, "three\nand more\n")]));
    });
    let hunks = folder.changes("s").hunks;
    folder.git(&["commit", "-q", "-a", "-m", "work"]);
    folder.observe(&ChangeAuthor::Disk);
    assert_eq!(folder.changes("s").hunks, hunks, "a commit changes nothing");
    folder.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    folder.observe(&ChangeAuthor::Disk);
    assert_eq!(authors(&folder, "a.txt").last(), Some(&ChangeAuthor::Git));
    assert_eq!(folder.changes("s").hunks, []);
    folder.git(&["checkout", "-q", "main"]);
    assert_eq!(folder.changes("s").hunks, hunks);
    assert_eq!(rejected(&folder, "a.txt"), base);
}

#[test]
fn a_checkout_while_no_program_looks_is_gits() {
    let mut folder = Folder::in_git(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    folder.call("s", 1, "c1", |it| it.write("a.txt", "A\n"));
    folder.git(&["commit", "-q", "-a", "-m", "work"]);
    folder.observe(&ChangeAuthor::Disk);
    folder.review = None;
    folder.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    folder.write("b.txt", "by hand\n");
    folder.open();
    assert_eq!(authors(&folder, "a.txt").last(), Some(&ChangeAuthor::Git));
    assert_eq!(authors(&folder, "b.txt"), [ChangeAuthor::Disk]);
}

#[test]
fn a_command_that_edits_and_commits_is_the_agents() {
    let folder = Folder::in_git(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    folder.call("s", 1, "c1", |it| {
        it.write("a.txt", "A\n");
        it.git(&["commit", "-q", "-a", "-m", "work"]);
    });
    let author = authors(&folder, "a.txt").pop();
    assert!(matches!(author, Some(ChangeAuthor::Agent(_))), "{author:?}");
    let command = ChangeAuthor::Command(AgentCall {
        session: "s".to_owned(),
        turn: 1,
        call: "c2".to_owned(),
        tool: "exec_command".to_owned(),
    });
    folder.observe(&ChangeAuthor::Disk);
    folder.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    folder.write("b.txt", "B\n");
    folder.observe(&command);
    assert_eq!(authors(&folder, "a.txt").last(), Some(&ChangeAuthor::Git));
    assert_eq!(authors(&folder, "b.txt"), [command]);
}

#[test]
fn lines_replaced_by_git_are_contested() {
    let folder = Folder::in_git(&[("a.txt", "one\ntwo\nthree\n")]);
    folder.git(&["checkout", "-q", "-b", "other"]);
    folder.write("a.txt", "one\nTWO\nthree\n");
    folder.git(&["commit", "-q", "-a", "-m", "other"]);
    folder.git(&["checkout", "-q", "main"]);
    folder.observe(&ChangeAuthor::Disk);
    folder.call("s", 1, "c1", |it| it.write("a.txt", "one\n2\nthree\n"));
    folder.git(&["commit", "-q", "-a", "-m", "work"]);
    folder.git(&["checkout", "-q", "other"]);
    let hunks = folder.changes("s").hunks;
    let contested: Vec<_> = hunks.iter().map(|it| it.contested.as_deref()).collect();
    assert_eq!(contested, [Some("Git")]);
    let refused = folder.run("s", &FolderAction::Reject(ReviewTarget::All));
    assert!(matches!(refused, Err(Error::UndoConflicts(_))));
    assert_eq!(folder.text("a.txt"), "one\nTWO\nthree\n");
}

#[test]
fn formatted_lines_of_an_agent_stay_the_agents() {
    let base = numbered(9);
    let folder = Folder::new(&[("a.txt", &base)]);
    let written = with(&base, &[(3, "if x {\ny\n}\n"), (7, "line  7\n")]);
    folder.call("s", 1, "c1", |it| {
        it.write("a.txt", with(&base, &[(3, "if x {\ny\n}\n")]));
    });
    // The user edits another line and saves; the formatter indents the agent's.
    let formatted = with(&base, &[(3, "if x {\n    y\n}\n")]);
    folder.write("a.txt", &formatted);
    let path = folder.root.path().join("a.txt");
    assert!(folder.review().note_saved(&path, Some(&written)));
    let cause = Box::new(ChangeAuthor::Person);
    let by_formatter = ChangeAuthor::Formatter { cause };
    let authors = authors(&folder, "a.txt");
    // The first look at a folder without a repository records its files.
    assert_eq!(authors[2..], [ChangeAuthor::Person, by_formatter]);
    let hunks = folder.changes("s").hunks;
    let after: Vec<_> = hunks.iter().map(|it| it.after.clone()).collect();
    assert_eq!(after, [["if x {", "    y", "}"]]);
    assert_eq!(rejected(&folder, "a.txt"), base);
}

#[test]
fn lines_joined_with_the_users_are_listed_as_contested() {
    let folder = Folder::new(&[("a.txt", "a\nz\n")]);
    folder.call("s", 1, "c1", |it| it.write("a.txt", "a\nx(\nz\nlast\n"));
    folder.write("a.txt", "a\nx(y)\nz\nlast\n");
    let path = folder.root.path().join("a.txt");
    let unformatted = "a\nx(\ny)\nz\nlast\n";
    assert!(folder.review().note_saved(&path, Some(unformatted)));
    let outcome = folder.run("s", &FolderAction::Reject(ReviewTarget::All));
    let why: Vec<String> = outcome
        .unwrap()
        .contested
        .iter()
        .map(ToString::to_string)
        .collect();
    let formatter = "a formatter after an edit of the user";
    assert_eq!(
        why,
        [format!(
            "a.txt:2 (the same lines were changed since by {formatter})"
        )]
    );
    assert_eq!(folder.text("a.txt"), "a\nx(y)\nz\n");
    folder
        .run("s", &FolderAction::Keep(ReviewTarget::All))
        .unwrap();
    assert_eq!(folder.changes("s").hunks, []);
}

#[test]
fn text_with_other_line_endings_is_saved_as_the_users() {
    let folder = Folder::new(&[("a.txt", "a\r\n")]);
    folder.write("a.txt", "b\r\n");
    let path = folder.root.path().join("a.txt");
    assert!(folder.review().note_saved(&path, Some("b \n")));
    assert_eq!(authors(&folder, "a.txt")[1..], [ChangeAuthor::Person]);
}

#[test]
fn a_comment_stays_at_its_change_when_that_is_mended() {
    let base = numbered(20);
    let folder = Folder::new(&[("a.txt", &base)]);
    let edited = with(&base, &[(3, "three\n"), (9, "nine\n"), (15, "more\nand\n")]);
    folder.call("s", 1, "c1", |it| it.write("a.txt", &edited));
    let changes = folder.changes("s");
    let threads: Vec<CommentThread> = changes
        .hunks
        .iter()
        .map(|hunk| {
            let quote = (&hunk.before[..], &hunk.after[..]);
            CommentThread {
                comment: ReviewComment::new(&hunk.path, hunk.lines(), quote, "why?"),
                state: CommentState::Waiting,
            }
        })
        .collect();
    let shown = |folder: &Folder| -> Vec<Vec<u32>> {
        let changes = folder.changes("s");
        let of_hunks = changes.threads(&threads).into_iter();
        let lines = |threads: Vec<&CommentThread>| {
            let lines = threads.into_iter().map(|it| it.comment.lines.0);
            lines.collect()
        };
        of_hunks.map(lines).collect()
    };
    assert_eq!(shown(&folder), [[3], [9], [15]]);
    // Lines above move all of them, and the last one is written anew.
    let mended = with(
        &base,
        &[
            (1, "0\nline 1\n"),
            (3, "three\n"),
            (9, "nine\n"),
            (15, "other\n"),
        ],
    );
    folder.call("s", 2, "c2", |it| it.write("a.txt", &mended));
    let none = Vec::<u32>::new();
    assert_eq!(shown(&folder), [none, vec![3], vec![9], vec![15]]);
    let keep = FolderAction::Keep(folder.hunk("s", 2));
    folder.run("s", &keep).unwrap();
    assert_eq!(shown(&folder)[1..], [[3], [15]], "a kept change has none");
}
