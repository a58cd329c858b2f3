//! Prompt context within its budget.

use std::time::Duration;

use base::{AbsPath, Span};
use text::{Buffer, EditOrigin, Timestamp};

use super::{
    BUDGET, ContextSnippet, ContextSource, Diagnostic, SnippetReason, WindowLimits, gather,
};
use crate::samples::{state, state_of};
use crate::{ChangeCause, DocumentEdit, EditHistory, EditorState};

/// A number of snippets of a number of bytes each, and one of everything else.
struct Much(usize, usize);

fn excerpt(path: &str, text: String, why: SnippetReason) -> ContextSnippet {
    let path = path.to_owned();
    ContextSnippet { path, text, why }
}

impl ContextSource for Much {
    fn definitions(&self, _: &EditorState, names: &[String]) -> Vec<ContextSnippet> {
        let text = format!("fn {}() {{}}\n", names.join("_"));
        vec![excerpt("defs.rs", text, SnippetReason::Definition)]
    }

    fn snippets(&self, _: &EditorState) -> Vec<ContextSnippet> {
        let one = |at| {
            excerpt(
                "like.rs",
                format!("{at}{}", "x".repeat(self.1)),
                SnippetReason::Alike,
            )
        };
        (0..self.0).map(one).collect()
    }

    fn viewed(&self, _: &EditorState) -> Vec<ContextSnippet> {
        vec![excerpt(
            "seen.rs",
            "seen\n".to_owned(),
            SnippetReason::Viewed,
        )]
    }

    fn unmerged(&self, _: &EditorState, _: &[String]) -> Vec<ContextSnippet> {
        vec![excerpt(
            "agent.rs",
            "agent\n".to_owned(),
            SnippetReason::Unmerged,
        )]
    }

    fn diagnostics(&self, _: &EditorState) -> Vec<Diagnostic> {
        let message = "no such name".to_owned();
        vec![Diagnostic {
            row: base::Row(0),
            is_error: true,
            message,
        }]
    }
}

const FRAME: WindowLimits = WindowLimits::Rows {
    above: 2,
    below: 2,
    around: 4,
};

#[test]
fn context_files_are_in_order_of_relevance() {
    let state = state("", "alpha ˇbeta\n");
    let root = AbsPath::new("/p");
    let context = gather(
        &state,
        root.as_ref(),
        FRAME,
        &EditHistory::default(),
        &Much(1, 10),
    );
    let paths: Vec<&str> = context.files.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(
        paths,
        ["diagnostics", "agent.rs", "defs.rs", "like.rs", "seen.rs"]
    );
    assert_eq!(context.files[2].text, "fn alpha_beta() {}\n");
    assert_eq!(
        (context.path.as_str(), context.project.as_str()),
        ("a", "p")
    );
    assert_eq!(
        context.files[0].text,
        "error in line 1: no such name\n> alpha beta\n"
    );
}

#[test]
fn the_budget_prefers_newest_edits_over_other_files() {
    let mut buffer = Buffer::new(&"line\n".repeat(4_000));
    let mut history = EditHistory::default();
    for at in 0..40 {
        let before = buffer.snapshot();
        // From the end to the start, at starts of lines.
        let place = 5_000 + (40 - at) * 250;
        let text = format!("{at} {}\n", "long ".repeat(200));
        let span = Span::from(place..place);
        let change = buffer.replace(span, &text, &EditOrigin::typing(Timestamp(0)));
        let edit = DocumentEdit {
            before,
            state: state_of(&buffer, "", 0.into()),
            change,
            cause: ChangeCause::Typed,
        };
        history.record(&edit, Duration::from_secs(at as u64));
    }
    let state = state_of(&buffer, "", 10.into());
    let root = AbsPath::new("/p");
    let context = gather(&state, root.as_ref(), FRAME, &history, &Much(100, 700));
    let edits: usize = context.edits.iter().map(|it| it.diff.len()).sum();
    let files: usize = context.files.iter().map(|it| it.text.len()).sum();
    let spent = context.window.text.len() + edits + files;
    assert!(spent <= BUDGET * 3, "{spent}");
    assert!(spent > BUDGET * 3 - 2_000, "{spent}");
    assert_eq!(context.edits.len(), 10);
    let newest = context.edits.last().expect("an edit");
    assert!(newest.new.starts_with("39 "), "{}", newest.new);
}

#[test]
fn text_of_the_window_is_not_repeated() {
    struct Here;
    impl ContextSource for Here {
        fn definitions(&self, _: &EditorState, _: &[String]) -> Vec<ContextSnippet> {
            vec![excerpt(
                "a",
                "alpha\n".to_owned(),
                SnippetReason::Definition,
            )]
        }
        fn snippets(&self, _: &EditorState) -> Vec<ContextSnippet> {
            vec![
                excerpt("b", "one\ntwo\n".to_owned(), SnippetReason::Alike),
                excerpt("b", "two\n".to_owned(), SnippetReason::Alike),
            ]
        }
        fn viewed(&self, _: &EditorState) -> Vec<ContextSnippet> {
            vec![excerpt("c", " \n".to_owned(), SnippetReason::Viewed)]
        }
        fn unmerged(&self, _: &EditorState, _: &[String]) -> Vec<ContextSnippet> {
            Vec::new()
        }
        fn diagnostics(&self, _: &EditorState) -> Vec<Diagnostic> {
            Vec::new()
        }
    }
    let state = state("", "alpha\nˇ\n");
    let root = AbsPath::new("/p");
    let context = gather(&state, root.as_ref(), FRAME, &EditHistory::default(), &Here);
    assert_eq!(context.files.len(), 1);
}
