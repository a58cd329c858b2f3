//! The capabilities that this client declares.

use gen_lsp_types::{
    CallHierarchyClientCapabilities, ChangeAnnotationsSupportOptions, ClientCapabilities,
    ClientCodeActionKindOptions, ClientCodeActionLiteralOptions, ClientCodeActionResolveOptions,
    ClientCodeLensResolveOptions, ClientCompletionItemInsertTextModeOptions,
    ClientCompletionItemOptions, ClientCompletionItemOptionsKind,
    ClientCompletionItemResolveOptions, ClientDiagnosticsTagOptions,
    ClientSemanticTokensRequestFullDelta, ClientSemanticTokensRequestOptions,
    ClientSignatureInformationOptions, ClientSignatureParameterInformationOptions,
    ClientSymbolKindOptions, ClientSymbolTagOptions, CodeActionClientCapabilities, CodeActionKind,
    CodeLensClientCapabilities, CodeLensWorkspaceClientCapabilities, CompletionClientCapabilities,
    CompletionItemKind, CompletionItemTag, CompletionItemTagOptions, CompletionListCapabilities,
    DeclarationClientCapabilities, DefinitionClientCapabilities, DiagnosticClientCapabilities,
    DiagnosticTag, DiagnosticWorkspaceClientCapabilities, DiagnosticsCapabilities,
    DidChangeWatchedFilesClientCapabilities, DocumentColorClientCapabilities,
    DocumentFormattingClientCapabilities, DocumentHighlightClientCapabilities,
    DocumentLinkClientCapabilities, DocumentOnTypeFormattingClientCapabilities,
    DocumentRangeFormattingClientCapabilities, DocumentSymbolClientCapabilities,
    ExecuteCommandClientCapabilities, FailureHandlingKind, FileOperationClientCapabilities,
    FoldingRangeClientCapabilities, GeneralClientCapabilities, HoverClientCapabilities,
    ImplementationClientCapabilities, InlayHintClientCapabilities,
    InlayHintWorkspaceClientCapabilities, InsertTextMode, LinkedEditingRangeClientCapabilities,
    MarkupKind, PositionEncodingKind, PrepareSupportDefaultBehavior,
    PublishDiagnosticsClientCapabilities, ReferenceClientCapabilities, RenameClientCapabilities,
    ResourceOperationKind, SelectionRangeClientCapabilities, SemanticTokensClientCapabilities,
    SemanticTokensWorkspaceClientCapabilities, SignatureHelpClientCapabilities,
    StaleRequestSupportOptions, SymbolKind, SymbolTag, TextDocumentClientCapabilities,
    TextDocumentSyncClientCapabilities, TokenFormat, TypeDefinitionClientCapabilities,
    TypeHierarchyClientCapabilities, WindowClientCapabilities, WorkspaceClientCapabilities,
    WorkspaceEditClientCapabilities, WorkspaceSymbolClientCapabilities,
};

use serde_json::json;

use crate::declared_names::{CLIENT_COMMANDS, TOKEN_MODIFIERS, TOKEN_TYPES};
use crate::retry::REPEATABLE;

/// Returns the capabilities of this client.
pub(crate) fn client_capabilities() -> ClientCapabilities {
    ClientCapabilities {
        general: Some(general_capabilities()),
        window: Some(WindowClientCapabilities {
            work_done_progress: Some(true),
            ..Default::default()
        }),
        workspace: Some(WorkspaceClientCapabilities {
            configuration: Some(true),
            apply_edit: Some(true),
            workspace_edit: Some(workspace_edit()),
            did_change_watched_files: Some(DidChangeWatchedFilesClientCapabilities {
                dynamic_registration: Some(true),
                relative_pattern_support: Some(true),
            }),
            execute_command: Some(ExecuteCommandClientCapabilities {
                dynamic_registration: Some(true),
            }),
            symbol: Some(WorkspaceSymbolClientCapabilities {
                dynamic_registration: Some(true),
                symbol_kind: Some(symbol_kinds()),
                tag_support: None,
                resolve_support: None,
            }),
            workspace_folders: Some(true),
            file_operations: Some(FileOperationClientCapabilities {
                dynamic_registration: Some(true),
                will_rename: Some(true),
                did_rename: Some(true),
                ..Default::default()
            }),
            diagnostics: Some(DiagnosticWorkspaceClientCapabilities {
                refresh_support: Some(true),
            }),
            inlay_hint: Some(InlayHintWorkspaceClientCapabilities {
                refresh_support: Some(true),
            }),
            semantic_tokens: Some(SemanticTokensWorkspaceClientCapabilities {
                refresh_support: Some(true),
            }),
            code_lens: Some(CodeLensWorkspaceClientCapabilities {
                refresh_support: Some(true),
            }),
            ..Default::default()
        }),
        text_document: Some(TextDocumentClientCapabilities {
            synchronization: Some(TextDocumentSyncClientCapabilities {
                dynamic_registration: Some(true),
                did_save: Some(true),
                ..Default::default()
            }),
            publish_diagnostics: Some(PublishDiagnosticsClientCapabilities {
                version_support: Some(true),
                diagnostics_capabilities: diagnostic_details(),
            }),
            diagnostic: Some(DiagnosticClientCapabilities {
                dynamic_registration: Some(true),
                related_document_support: Some(true),
                diagnostics_capabilities: diagnostic_details(),
                ..Default::default()
            }),
            ..answered_features()
        }),
        // Without it, rust-analyzer offers no lens whose command a client executes.
        experimental: Some(json!({ "commands": { "commands": CLIENT_COMMANDS } })),
        ..Default::default()
    }
}

fn general_capabilities() -> GeneralClientCapabilities {
    GeneralClientCapabilities {
        stale_request_support: Some(StaleRequestSupportOptions {
            cancel: true,
            retry_on_content_modified: names(REPEATABLE),
        }),
        position_encodings: Some(vec![
            PositionEncodingKind::UTF8,
            PositionEncodingKind::UTF16,
            PositionEncodingKind::UTF32,
        ]),
        ..Default::default()
    }
}

fn diagnostic_details() -> DiagnosticsCapabilities {
    DiagnosticsCapabilities {
        related_information: Some(true),
        tag_support: Some(ClientDiagnosticsTagOptions {
            value_set: vec![DiagnosticTag::Unnecessary, DiagnosticTag::Deprecated],
        }),
        code_description_support: Some(true),
        // Sent back with requests for code actions.
        data_support: Some(true),
    }
}

/// Returns the capabilities of the requests whose answers are plain values.
fn answered_features() -> TextDocumentClientCapabilities {
    let dynamic_registration = Some(true);
    let link_support = Some(true);
    TextDocumentClientCapabilities {
        hover: Some(HoverClientCapabilities {
            dynamic_registration,
            content_format: Some(markup_kinds()),
        }),
        definition: Some(DefinitionClientCapabilities {
            dynamic_registration,
            link_support,
        }),
        declaration: Some(DeclarationClientCapabilities {
            dynamic_registration,
            link_support,
        }),
        type_definition: Some(TypeDefinitionClientCapabilities {
            dynamic_registration,
            link_support,
        }),
        implementation: Some(ImplementationClientCapabilities {
            dynamic_registration,
            link_support,
        }),
        references: Some(ReferenceClientCapabilities {
            dynamic_registration,
        }),
        document_symbol: Some(DocumentSymbolClientCapabilities {
            dynamic_registration,
            symbol_kind: Some(symbol_kinds()),
            hierarchical_document_symbol_support: Some(true),
            tag_support: Some(symbol_tags()),
            label_support: None,
        }),
        completion: Some(completion()),
        signature_help: Some(signature_help()),
        code_action: Some(code_action()),
        rename: Some(RenameClientCapabilities {
            dynamic_registration,
            prepare_support: Some(true),
            prepare_support_default_behavior: Some(PrepareSupportDefaultBehavior::Identifier),
            honors_change_annotations: Some(true),
        }),
        formatting: Some(DocumentFormattingClientCapabilities {
            dynamic_registration,
        }),
        range_formatting: Some(DocumentRangeFormattingClientCapabilities {
            dynamic_registration,
            ranges_support: None,
        }),
        on_type_formatting: Some(DocumentOnTypeFormattingClientCapabilities {
            dynamic_registration,
        }),
        selection_range: Some(SelectionRangeClientCapabilities {
            dynamic_registration,
        }),
        folding_range: Some(FoldingRangeClientCapabilities {
            dynamic_registration,
            range_limit: u32::try_from(super::MAX_FOLDS).ok(),
            line_folding_only: Some(true),
            ..Default::default()
        }),
        inlay_hint: Some(InlayHintClientCapabilities {
            dynamic_registration,
            resolve_support: None,
        }),
        document_highlight: Some(DocumentHighlightClientCapabilities {
            dynamic_registration,
        }),
        linked_editing_range: Some(LinkedEditingRangeClientCapabilities {
            dynamic_registration,
        }),
        semantic_tokens: Some(semantic_tokens()),
        document_link: Some(DocumentLinkClientCapabilities {
            dynamic_registration,
            tooltip_support: None,
        }),
        color_provider: Some(DocumentColorClientCapabilities {
            dynamic_registration,
        }),
        code_lens: Some(CodeLensClientCapabilities {
            dynamic_registration,
            resolve_support: Some(ClientCodeLensResolveOptions {
                properties: names(&["command"]),
            }),
        }),
        call_hierarchy: Some(CallHierarchyClientCapabilities {
            dynamic_registration,
        }),
        type_hierarchy: Some(TypeHierarchyClientCapabilities {
            dynamic_registration,
        }),
        ..Default::default()
    }
}

fn semantic_tokens() -> SemanticTokensClientCapabilities {
    let full = ClientSemanticTokensRequestFullDelta { delta: Some(true) };
    SemanticTokensClientCapabilities {
        dynamic_registration: Some(true),
        requests: ClientSemanticTokensRequestOptions {
            range: Some(true.into()),
            full: Some(full.into()),
        },
        token_types: names(TOKEN_TYPES),
        token_modifiers: names(TOKEN_MODIFIERS),
        formats: vec![TokenFormat::Relative],
        overlapping_token_support: Some(false),
        multiline_token_support: Some(false),
        server_cancel_support: Some(true),
        augments_syntax_tokens: Some(true),
    }
}

fn completion() -> CompletionClientCapabilities {
    let kinds = (1..=25).map(CompletionItemKind::from);
    CompletionClientCapabilities {
        dynamic_registration: Some(true),
        completion_item: Some(completion_item()),
        completion_item_kind: Some(ClientCompletionItemOptionsKind {
            value_set: Some(kinds.collect()),
        }),
        insert_text_mode: Some(InsertTextMode::AdjustIndentation),
        context_support: Some(true),
        completion_list: Some(CompletionListCapabilities {
            item_defaults: Some(names(&[
                "commitCharacters",
                "editRange",
                "insertTextFormat",
                "insertTextMode",
                "data",
            ])),
            apply_kind_support: Some(true),
        }),
    }
}

fn completion_item() -> ClientCompletionItemOptions {
    ClientCompletionItemOptions {
        snippet_support: Some(true),
        commit_characters_support: Some(true),
        documentation_format: Some(markup_kinds()),
        deprecated_support: Some(true),
        preselect_support: Some(true),
        tag_support: Some(CompletionItemTagOptions {
            value_set: vec![CompletionItemTag::Deprecated],
        }),
        insert_replace_support: Some(true),
        resolve_support: Some(ClientCompletionItemResolveOptions {
            properties: names(&["documentation", "detail", "additionalTextEdits"]),
        }),
        insert_text_mode_support: Some(ClientCompletionItemInsertTextModeOptions {
            value_set: vec![InsertTextMode::AsIs, InsertTextMode::AdjustIndentation],
        }),
        label_details_support: Some(true),
    }
}

fn signature_help() -> SignatureHelpClientCapabilities {
    SignatureHelpClientCapabilities {
        dynamic_registration: Some(true),
        signature_information: Some(ClientSignatureInformationOptions {
            documentation_format: Some(markup_kinds()),
            parameter_information: Some(ClientSignatureParameterInformationOptions {
                label_offset_support: Some(true),
            }),
            active_parameter_support: Some(true),
            no_active_parameter_support: Some(true),
        }),
        context_support: Some(true),
    }
}

fn code_action() -> CodeActionClientCapabilities {
    CodeActionClientCapabilities {
        dynamic_registration: Some(true),
        code_action_literal_support: Some(ClientCodeActionLiteralOptions {
            code_action_kind: ClientCodeActionKindOptions {
                value_set: vec![
                    CodeActionKind::Empty,
                    CodeActionKind::QuickFix,
                    CodeActionKind::Refactor,
                    CodeActionKind::RefactorExtract,
                    CodeActionKind::RefactorInline,
                    CodeActionKind::RefactorRewrite,
                    CodeActionKind::Source,
                    CodeActionKind::SourceOrganizeImports,
                    CodeActionKind::SourceFixAll,
                ],
            },
        }),
        is_preferred_support: Some(true),
        disabled_support: Some(true),
        data_support: Some(true),
        resolve_support: Some(ClientCodeActionResolveOptions {
            properties: names(&["edit", "command"]),
        }),
        honors_change_annotations: Some(true),
        ..Default::default()
    }
}

fn workspace_edit() -> WorkspaceEditClientCapabilities {
    WorkspaceEditClientCapabilities {
        document_changes: Some(true),
        resource_operations: Some(vec![
            ResourceOperationKind::Create,
            ResourceOperationKind::Rename,
            ResourceOperationKind::Delete,
        ]),
        failure_handling: Some(FailureHandlingKind::Transactional),
        change_annotation_support: Some(ChangeAnnotationsSupportOptions {
            groups_on_label: None,
        }),
        ..Default::default()
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the markup kinds that this client accepts, the preferred one first.
fn markup_kinds() -> Vec<MarkupKind> {
    vec![MarkupKind::Markdown, MarkupKind::PlainText]
}

/// Returns the kinds of symbols: all 26 of the protocol.
fn symbol_kinds() -> ClientSymbolKindOptions {
    let kinds = (1..=26).map(SymbolKind::from);
    ClientSymbolKindOptions {
        value_set: Some(kinds.collect()),
    }
}

fn symbol_tags() -> ClientSymbolTagOptions {
    ClientSymbolTagOptions {
        value_set: vec![SymbolTag::Deprecated],
    }
}
