//! The shapes of answers that annotate a text: tokens, links, colours, lenses, folds, and reports about all files.

use super::Shape;
use super::Shape::{Any, List, Null, Number, Object, Or, Range, Text, Tokens, Uri};
use super::protocol::{COMMAND, DIAGNOSTIC};

const DATA: Shape = Object(&[("data", Tokens)], &[("resultId", Text)]);
const TOKEN_EDIT: Shape = Object(
    &[("start", Number), ("deleteCount", Number)],
    &[("data", Tokens)],
);
/// A range with up to three enclosing ranges.
const SELECTION: Shape = Object(
    &[("range", Range)],
    &[(
        "parent",
        Object(
            &[("range", Range)],
            &[(
                "parent",
                Object(
                    &[("range", Range)],
                    &[("parent", Object(&[("range", Range)], &[]))],
                ),
            )],
        ),
    )],
);
const LINK: Shape = Object(
    &[("range", Range)],
    &[
        ("target", Or(&[Uri, Text])),
        ("tooltip", Text),
        ("data", Any),
    ],
);
const LENS: Shape = Object(&[("range", Range)], &[("command", COMMAND), ("data", Any)]);
const COLOR: Shape = Object(
    &[("red", Number), ("green", Number), ("blue", Number)],
    &[("alpha", Number)],
);
const FOLD: Shape = Object(
    &[("startLine", Number), ("endLine", Number)],
    &[
        ("startCharacter", Number),
        ("endCharacter", Number),
        ("kind", Text),
        ("collapsedText", Text),
    ],
);
const WORKSPACE_REPORT: Shape = Object(
    &[("kind", Text), ("uri", Uri)],
    &[
        ("items", List(&DIAGNOSTIC)),
        ("resultId", Text),
        ("version", Or(&[Number, Null])),
    ],
);

/// The requests for annotations with the shapes of their answers.
pub(in crate::server::tests) const ANNOTATIONS: &[(&str, Shape)] = &[
    ("textDocument/semanticTokens/full", Or(&[Null, DATA])),
    ("textDocument/semanticTokens/range", Or(&[Null, DATA])),
    (
        "textDocument/semanticTokens/full/delta",
        Or(&[
            Null,
            DATA,
            Object(&[("edits", List(&TOKEN_EDIT))], &[("resultId", Text)]),
        ]),
    ),
    ("textDocument/documentLink", Or(&[Null, List(&LINK)])),
    ("documentLink/resolve", Or(&[Null, LINK])),
    ("textDocument/codeLens", Or(&[Null, List(&LENS)])),
    ("codeLens/resolve", Or(&[Null, LENS])),
    (
        "textDocument/documentColor",
        Or(&[
            Null,
            List(&Object(&[("range", Range), ("color", COLOR)], &[])),
        ]),
    ),
    ("textDocument/foldingRange", Or(&[Null, List(&FOLD)])),
    ("textDocument/selectionRange", Or(&[Null, List(&SELECTION)])),
    (
        "textDocument/linkedEditingRange",
        Or(&[
            Null,
            Object(&[("ranges", List(&Range))], &[("wordPattern", Text)]),
        ]),
    ),
    (
        "workspace/diagnostic",
        Or(&[Null, Object(&[("items", List(&WORKSPACE_REPORT))], &[])]),
    ),
];
