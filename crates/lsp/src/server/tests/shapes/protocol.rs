//! The shapes of the messages that a client understands.

use super::Shape;
use super::Shape::{
    Any, ByUri, Flag, List, Method, Null, Number, Object, Or, Position, Range, Text, Uri,
};

const MARKUP: Shape = Or(&[
    Text,
    Object(&[("kind", Text), ("value", Text)], &[]),
    Object(&[("language", Text), ("value", Text)], &[]),
]);
const LOCATION: Shape = Object(&[("uri", Uri), ("range", Range)], &[]);
pub(super) const COMMAND: Shape = Object(
    &[("title", Text), ("command", Text)],
    &[("arguments", List(&Any)), ("tooltip", Text)],
);
const EDIT: Shape = Object(
    &[("range", Range), ("newText", Text)],
    &[("annotationId", Text)],
);
const ITEM_EDIT: Shape = Or(&[
    EDIT,
    Object(
        &[("insert", Range), ("replace", Range), ("newText", Text)],
        &[],
    ),
]);
const DOCUMENT_CHANGE: Shape = Or(&[
    Object(
        &[
            (
                "textDocument",
                Object(&[("uri", Uri)], &[("version", Or(&[Number, Null]))]),
            ),
            ("edits", List(&EDIT)),
        ],
        &[],
    ),
    Object(
        &[("kind", Text)],
        &[
            ("uri", Uri),
            ("oldUri", Uri),
            ("newUri", Uri),
            ("annotationId", Text),
            (
                "options",
                Object(
                    &[],
                    &[
                        ("overwrite", Flag),
                        ("recursive", Flag),
                        ("ignoreIfExists", Flag),
                    ],
                ),
            ),
        ],
    ),
]);
const WORKSPACE_EDIT: Shape = Object(
    &[],
    &[
        ("changes", ByUri(&List(&EDIT))),
        ("documentChanges", List(&DOCUMENT_CHANGE)),
        (
            "changeAnnotations",
            ByUri(&Object(&[("label", Text)], &[("needsConfirmation", Flag)])),
        ),
    ],
);
pub(super) const DIAGNOSTIC: Shape = Object(
    &[("range", Range), ("message", MARKUP)],
    &[
        ("severity", Number),
        ("code", Or(&[Number, Text])),
        ("codeDescription", Object(&[("href", Uri)], &[])),
        ("source", Text),
        ("tags", List(&Number)),
        (
            "relatedInformation",
            List(&Object(&[("location", LOCATION), ("message", Text)], &[])),
        ),
        ("data", Any),
    ],
);
const REPORT: Shape = Object(
    &[("kind", Text)],
    &[("items", List(&DIAGNOSTIC)), ("resultId", Text)],
);
const COMPLETION_ITEM: Shape = Object(
    &[("label", Text)],
    &[
        (
            "labelDetails",
            Object(&[], &[("detail", Text), ("description", Text)]),
        ),
        ("kind", Number),
        ("tags", List(&Number)),
        ("detail", Text),
        ("documentation", MARKUP),
        ("preselect", Flag),
        ("sortText", Text),
        ("filterText", Text),
        ("insertText", Text),
        ("insertTextFormat", Number),
        ("insertTextMode", Number),
        ("textEdit", ITEM_EDIT),
        ("textEditText", Text),
        ("additionalTextEdits", List(&EDIT)),
        ("commitCharacters", List(&Text)),
        ("command", COMMAND),
        ("data", Any),
    ],
);
const SYMBOL: Shape = Object(
    &[
        ("name", Text),
        ("kind", Number),
        ("range", Range),
        ("selectionRange", Range),
    ],
    &[
        ("detail", Text),
        ("tags", List(&Number)),
        (
            "children",
            List(&Object(
                &[
                    ("name", Text),
                    ("kind", Number),
                    ("range", Range),
                    ("selectionRange", Range),
                ],
                &[],
            )),
        ),
    ],
);
const FLAT_SYMBOL: Shape = Object(
    &[
        ("name", Text),
        ("kind", Number),
        ("location", Or(&[LOCATION, Object(&[("uri", Uri)], &[])])),
    ],
    &[
        ("containerName", Text),
        ("tags", List(&Number)),
        ("data", Any),
    ],
);
const WATCHER: Shape = Object(
    &[(
        "globPattern",
        Or(&[
            Text,
            Object(
                &[
                    (
                        "baseUri",
                        Or(&[Uri, Object(&[("uri", Uri), ("name", Text)], &[])]),
                    ),
                    ("pattern", Text),
                ],
                &[],
            ),
        ]),
    )],
    &[("kind", Number)],
);
const SELECTOR: Shape = Or(&[
    Null,
    List(&Or(&[
        Text,
        Object(
            &[],
            &[("language", Text), ("scheme", Text), ("pattern", Text)],
        ),
    ])),
]);
const REGISTRATION: Shape = Object(
    &[("id", Text), ("method", Method)],
    &[(
        "registerOptions",
        Object(
            &[],
            &[
                ("documentSelector", SELECTOR),
                ("watchers", List(&WATCHER)),
                ("syncKind", Number),
                ("triggerCharacters", List(&Text)),
                ("commands", List(&Text)),
            ],
        ),
    )],
);
const TOKEN: Shape = Or(&[Number, Text]);

/// The requests and notifications of a server that a client knows, with their parameters.
pub(in crate::server::tests) const SERVER_MESSAGES: &[(&str, Shape)] = &[
    (
        "workspace/applyEdit",
        Object(&[("edit", WORKSPACE_EDIT)], &[("label", Text)]),
    ),
    (
        "workspace/configuration",
        Object(
            &[(
                "items",
                List(&Object(&[], &[("section", Text), ("scopeUri", Uri)])),
            )],
            &[],
        ),
    ),
    (
        "client/registerCapability",
        Object(&[("registrations", List(&REGISTRATION))], &[]),
    ),
    (
        "client/unregisterCapability",
        Object(&[("unregisterations", List(&REGISTRATION))], &[]),
    ),
    (
        "window/showMessageRequest",
        Object(
            &[("type", Number), ("message", Text)],
            &[("actions", List(&COMMAND))],
        ),
    ),
    ("workspace/workspaceFolders", Null),
    (
        "window/workDoneProgress/create",
        Object(&[("token", TOKEN)], &[]),
    ),
    (
        "window/showDocument",
        Object(&[("uri", Uri)], &[("external", Flag)]),
    ),
    ("workspace/diagnostic/refresh", Null),
    ("workspace/semanticTokens/refresh", Null),
    (
        "textDocument/publishDiagnostics",
        Object(
            &[("uri", Uri), ("diagnostics", List(&DIAGNOSTIC))],
            &[("version", Number)],
        ),
    ),
    (
        "$/progress",
        Object(
            &[
                ("token", TOKEN),
                (
                    "value",
                    Object(
                        &[("kind", Text)],
                        &[
                            ("title", Text),
                            ("message", Text),
                            ("percentage", Number),
                            ("cancellable", Flag),
                        ],
                    ),
                ),
            ],
            &[],
        ),
    ),
    (
        "window/showMessage",
        Object(&[("type", Number), ("message", Text)], &[]),
    ),
    (
        "window/logMessage",
        Object(&[("type", Number), ("message", Text)], &[]),
    ),
    ("$/logTrace", Object(&[("message", Text)], &[])),
    ("telemetry/event", Any),
    ("some/unknown", Any),
];

/// The requests of a client with the shapes of their answers.
pub(in crate::server::tests) const ANSWERS: &[(&str, Shape)] = &[
    (
        "textDocument/hover",
        Or(&[
            Null,
            Object(
                &[("contents", Or(&[MARKUP, List(&MARKUP)]))],
                &[("range", Range)],
            ),
        ]),
    ),
    (
        "textDocument/definition",
        Or(&[
            Null,
            LOCATION,
            List(&LOCATION),
            List(&Object(
                &[
                    ("targetUri", Uri),
                    ("targetRange", Range),
                    ("targetSelectionRange", Range),
                ],
                &[("originSelectionRange", Range)],
            )),
        ]),
    ),
    (
        "textDocument/documentHighlight",
        Or(&[
            Null,
            List(&Object(&[("range", Range)], &[("kind", Number)])),
        ]),
    ),
    (
        "textDocument/documentSymbol",
        Or(&[Null, List(&SYMBOL), List(&FLAT_SYMBOL)]),
    ),
    ("workspace/symbol", Or(&[Null, List(&FLAT_SYMBOL)])),
    (
        "textDocument/completion",
        Or(&[
            Null,
            List(&COMPLETION_ITEM),
            Object(
                &[("isIncomplete", Flag), ("items", List(&COMPLETION_ITEM))],
                &[
                    (
                        "itemDefaults",
                        Object(
                            &[],
                            &[
                                ("commitCharacters", List(&Text)),
                                (
                                    "editRange",
                                    Or(&[
                                        Range,
                                        Object(&[("insert", Range), ("replace", Range)], &[]),
                                    ]),
                                ),
                                ("insertTextFormat", Number),
                                ("insertTextMode", Number),
                                ("data", Any),
                            ],
                        ),
                    ),
                    (
                        "applyKind",
                        Object(&[], &[("commitCharacters", Number), ("data", Number)]),
                    ),
                ],
            ),
        ]),
    ),
    ("completionItem/resolve", COMPLETION_ITEM),
    (
        "textDocument/signatureHelp",
        Or(&[
            Null,
            Object(
                &[(
                    "signatures",
                    List(&Object(
                        &[("label", Text)],
                        &[
                            ("documentation", MARKUP),
                            (
                                "parameters",
                                List(&Object(
                                    &[("label", Or(&[Text, List(&Number)]))],
                                    &[("documentation", MARKUP)],
                                )),
                            ),
                            ("activeParameter", Number),
                        ],
                    )),
                )],
                &[
                    ("activeSignature", Number),
                    ("activeParameter", Or(&[Number, Null])),
                ],
            ),
        ]),
    ),
    (
        "textDocument/inlayHint",
        Or(&[
            Null,
            List(&Object(
                &[
                    ("position", Position),
                    (
                        "label",
                        Or(&[
                            Text,
                            List(&Object(
                                &[("value", Text)],
                                &[("tooltip", MARKUP), ("location", LOCATION)],
                            )),
                        ]),
                    ),
                ],
                &[
                    ("kind", Number),
                    ("textEdits", List(&EDIT)),
                    ("paddingLeft", Flag),
                    ("tooltip", MARKUP),
                ],
            )),
        ]),
    ),
    (
        "textDocument/codeAction",
        Or(&[
            Null,
            List(&Or(&[
                COMMAND,
                Object(
                    &[("title", Text)],
                    &[
                        ("kind", Text),
                        ("diagnostics", List(&DIAGNOSTIC)),
                        ("isPreferred", Flag),
                        ("disabled", Object(&[("reason", Text)], &[])),
                        ("edit", WORKSPACE_EDIT),
                        ("command", COMMAND),
                        ("data", Any),
                    ],
                ),
            ])),
        ]),
    ),
    (
        "codeAction/resolve",
        Object(
            &[("title", Text)],
            &[("edit", WORKSPACE_EDIT), ("command", COMMAND)],
        ),
    ),
    ("textDocument/formatting", Or(&[Null, List(&EDIT)])),
    (
        "textDocument/prepareRename",
        Or(&[
            Null,
            Range,
            Object(&[("range", Range), ("placeholder", Text)], &[]),
            Object(&[("defaultBehavior", Flag)], &[]),
        ]),
    ),
    ("textDocument/rename", Or(&[Null, WORKSPACE_EDIT])),
    ("workspace/executeCommand", Any),
    (
        "textDocument/diagnostic",
        Or(&[
            REPORT,
            Object(
                &[("kind", Text)],
                &[
                    ("items", List(&DIAGNOSTIC)),
                    ("resultId", Text),
                    ("relatedDocuments", ByUri(&REPORT)),
                ],
            ),
        ]),
    ),
];
