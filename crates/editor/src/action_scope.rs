//! The handlers of the actions, and an element that registers them around its child without one
//! closure per action in the element tree.
//!
//! There are two tables: `EDITOR_ACTIONS` apply while the text has the focus, `FIND_ACTIONS` while
//! the text or the find bar has it.

use std::any::TypeId;

use gpui_kit::{
    AnyElement, App, Bounds, Context, DispatchPhase, Element, ElementId, Entity, GlobalElementId,
    InspectorElementId, IntoElement, LayoutId, Pixels, Window,
};

use crate::actions::{
    AcceptCompletion, AcceptCompletionReplacing, AcceptSuggestion, AcceptSuggestionLine,
    AcceptSuggestionWord, Cancel, CenterCaret, CloseFind, CloseHover, CloseSignatureHelp, Copy,
    Cut, DismissSuggestion, ExpandWord, ExpandWordBack, Find, FindNext, FindPrevious,
    FindSelection, Fold, FoldAll, HideCompletions, LeaveSnippet, NextCompletion,
    NextCompletionPage, NextDiagnostic, NextHunk, NextSignature, NextSuggestion, NextTabStop,
    Paste, PasteAsIs, PressVimKeys, PreviousCompletion, PreviousCompletionPage, PreviousDiagnostic,
    PreviousHunk, PreviousSignature, PreviousSuggestion, PreviousTabStop, Redo, RedoCaret, Replace,
    ReplaceAll, ReplaceNext, RequestSuggestion, RevertHunk, RunCodeLens, ScrollLineDown,
    ScrollLineUp, ScrollPageDown, ScrollPageUp, ScrollToBottom, ScrollToTop, SelectAllMatches,
    SelectMenu, ShowCompletions, ShowHover, ShowSignatureHelp, ToggleFindCase,
    ToggleFindInSelection, ToggleFindRegex, ToggleFindWholeWord, ToggleFold, ToggleInlayHints,
    ToggleReplaceCase, ToggleSoftWrap, ToggleWhitespace, Undo, UndoCaret, Unfold, UnfoldAll,
};
use crate::caret_actions::CARET_ACTIONS;
use crate::editor::{
    Editor, accepting, clipboard, commands, completing, diagnostics, expanding, finding, folding,
    hover, hunks, inlay_hints, lenses, menu, options, scrolling, signature, snippets, suggesting,
    vim_mode,
};
use crate::mouse;

/// Key context of a block that takes the focus.
const BLOCK_CONTEXT: &str = "EditorBlock";

/// An action and its handler.
struct EditorAction {
    id: fn() -> TypeId,
    run: fn(&mut Editor, &mut Window, &mut Context<Editor>),
}

/// Declares a table that maps actions to functions.
macro_rules! handlers {
    ($($name:ident => $run:path;)*) => {
        &[$(EditorAction { id: TypeId::of::<$name>, run: $run },)*]
    };
}

/// Actions that apply while the text has the focus.
static EDITOR_ACTIONS: &[EditorAction] = handlers! {
    Undo => commands::undo;
    Redo => commands::redo;
    UndoCaret => commands::undo_caret;
    RedoCaret => commands::redo_caret;
    Copy => clipboard::copy;
    Cut => clipboard::cut;
    Paste => clipboard::paste;
    PasteAsIs => clipboard::paste_as_is;
    Cancel => cancel;
    Fold => folding::fold;
    Unfold => folding::unfold;
    ToggleFold => folding::toggle_fold;
    FoldAll => folding::fold_all;
    UnfoldAll => folding::unfold_all;
    ToggleSoftWrap => options::toggle_soft_wrap;
    ToggleWhitespace => options::toggle_whitespace;
    ToggleInlayHints => inlay_hints::toggle_inlay_hints;
    RunCodeLens => lenses::run_code_lens;
    ScrollLineUp => scrolling::scroll_line_up;
    ScrollLineDown => scrolling::scroll_line_down;
    ScrollPageUp => scrolling::scroll_page_up;
    ScrollPageDown => scrolling::scroll_page_down;
    ScrollToTop => scrolling::scroll_to_top;
    ScrollToBottom => scrolling::scroll_to_bottom;
    CenterCaret => scrolling::center_caret;
    NextHunk => hunks::next_hunk;
    PreviousHunk => hunks::previous_hunk;
    NextDiagnostic => diagnostics::next_diagnostic;
    PreviousDiagnostic => diagnostics::previous_diagnostic;
    ShowHover => hover::show_hover;
    CloseHover => hover::close_hover;
    ShowSignatureHelp => signature::show_signature;
    CloseSignatureHelp => signature::close_signature;
    NextSignature => signature::next_signature;
    PreviousSignature => signature::previous_signature;
    AcceptSuggestion => accepting::accept_suggestion;
    AcceptSuggestionWord => accepting::accept_suggestion_word;
    AcceptSuggestionLine => accepting::accept_suggestion_line;
    DismissSuggestion => suggesting::dismiss_suggestion;
    NextSuggestion => suggesting::next_suggestion;
    PreviousSuggestion => suggesting::previous_suggestion;
    RequestSuggestion => suggesting::request_suggestion;
    ExpandWord => expanding::expand_word;
    ExpandWordBack => expanding::expand_word_back;
    ShowCompletions => completing::opening::show_completions;
    HideCompletions => completing::moving::hide_completions;
    NextCompletion => completing::moving::next_completion;
    PreviousCompletion => completing::moving::previous_completion;
    NextCompletionPage => completing::moving::next_completion_page;
    PreviousCompletionPage => completing::moving::previous_completion_page;
    AcceptCompletion => completing::accepting::accept_completion;
    AcceptCompletionReplacing => completing::accepting::accept_completion_replacing;
    NextTabStop => snippets::next_tab_stop;
    PreviousTabStop => snippets::previous_tab_stop;
    LeaveSnippet => snippets::leave_snippet;
    RevertHunk => hunks::revert_hunk;
    SelectMenu => menu::open_menu;
};

/// Actions that also apply while the find bar has the focus.
static FIND_ACTIONS: &[EditorAction] = handlers! {
    Find => finding::open_find;
    Replace => finding::open_replace;
    CloseFind => finding::close_find;
    FindNext => finding::find_next;
    FindPrevious => finding::find_previous;
    FindSelection => finding::find_selection;
    SelectAllMatches => finding::select_all_matches;
    ReplaceNext => finding::replace_next;
    ReplaceAll => finding::replace_all;
    ToggleFindCase => finding::toggle_find_case;
    ToggleFindWholeWord => finding::toggle_find_whole_word;
    ToggleFindRegex => finding::toggle_find_regex;
    ToggleFindInSelection => finding::toggle_find_in_selection;
    ToggleReplaceCase => finding::toggle_replace_case;
};

/// An element that wraps a child and handles the editor's actions while the child has the focus.
pub(crate) struct ActionScope {
    editor: Entity<Editor>,
    scope: ActionArea,
    child: AnyElement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActionArea {
    Text,
    Whole,
}

impl ActionScope {
    /// Wraps `child` in a scope for the actions of the text alone.
    pub(crate) fn of_text(editor: Entity<Editor>, child: impl IntoElement) -> Self {
        Self {
            editor,
            scope: ActionArea::Text,
            child: child.into_any_element(),
        }
    }

    /// Wraps `child` in a scope for the actions of the text and the find bar.
    pub(crate) fn of_whole(editor: Entity<Editor>, child: impl IntoElement) -> Self {
        Self {
            editor,
            scope: ActionArea::Whole,
            child: child.into_any_element(),
        }
    }

    fn listen(&self, actions: &'static [EditorAction], window: &mut Window) {
        let scope = self.scope;
        for action in actions {
            let (editor, run) = (self.editor.downgrade(), action.run);
            window.on_action((action.id)(), move |_, phase, window, cx| {
                if phase != DispatchPhase::Bubble {
                    return;
                }
                if scope == ActionArea::Text && is_block_focused(window) {
                    cx.propagate();
                } else {
                    // A closed view has nothing to do.
                    editor.update(cx, |editor, cx| run(editor, window, cx)).ok();
                }
            });
        }
    }

    fn listen_for_vim(&self, window: &mut Window) {
        let editor = self.editor.downgrade();
        let id = TypeId::of::<PressVimKeys>();
        window.on_action(id, move |action, phase, window, cx| {
            let Some(PressVimKeys(keys)) = action.downcast_ref::<PressVimKeys>() else {
                return;
            };
            if phase != DispatchPhase::Bubble {
                return;
            }
            if is_block_focused(window) {
                cx.propagate();
            } else {
                // A closed view has nothing to do.
                editor
                    .update(cx, |editor, cx| {
                        vim_mode::press_keys(editor, keys, window, cx)
                    })
                    .ok();
            }
        });
    }

    fn listen_for_commands(&self, window: &mut Window) {
        for action in CARET_ACTIONS {
            let (editor, command): (_, fn() -> caret::Command) =
                (self.editor.downgrade(), action.command);
            let id: TypeId = (action.id)();
            window.on_action(id, move |_, phase, window, cx| {
                if phase != DispatchPhase::Bubble {
                    return;
                }
                if is_block_focused(window) {
                    cx.propagate();
                } else {
                    // A closed view has nothing to do.
                    editor
                        .update(cx, |editor, cx| editor.run(&command(), window, cx))
                        .ok();
                }
            });
        }
    }
}

impl IntoElement for ActionScope {
    type Element = Self;

    fn into_element(self) -> Self {
        self
    }
}

impl Element for ActionScope {
    type RequestLayoutState = ();
    type PrepaintState = ();

    fn id(&self) -> Option<ElementId> {
        None
    }

    fn source_location(&self) -> Option<&'static std::panic::Location<'static>> {
        None
    }

    fn request_layout(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        window: &mut Window,
        cx: &mut App,
    ) -> (LayoutId, ()) {
        (self.child.request_layout(window, cx), ())
    }

    fn prepaint(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        _: Bounds<Pixels>,
        _: &mut (),
        window: &mut Window,
        cx: &mut App,
    ) {
        self.child.prepaint(window, cx);
    }

    fn paint(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        _: Bounds<Pixels>,
        _: &mut (),
        _: &mut (),
        window: &mut Window,
        cx: &mut App,
    ) {
        match self.scope {
            ActionArea::Whole => self.listen(FIND_ACTIONS, window),
            ActionArea::Text => {
                self.listen(EDITOR_ACTIONS, window);
                self.listen_for_commands(window);
                self.listen_for_vim(window);
            }
        }
        self.child.paint(window, cx);
    }
}

/// Returns whether a block within a text has the focus: the actions of the text do not apply there.
fn is_block_focused(window: &Window) -> bool {
    let contexts = window.context_stack();
    contexts
        .iter()
        .any(|context| context.contains(BLOCK_CONTEXT))
}

/// Cancels one level: composition, find bar, additional carets, selection.
fn cancel(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    if editor.mouse.drag.is_some() {
        mouse::end_drag(editor, cx);
    } else if editor.find_session.bar.is_some() {
        finding::close_find(editor, window, cx);
    } else if editor.selections.len() > 1 || !editor.selections.primary().is_empty() {
        editor.run(&caret::Command::CollapseCarets, window, cx);
    } else {
        // Nothing to cancel here; a parent view may handle the action.
        cx.propagate();
    }
}
