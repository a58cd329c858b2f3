//! Registers a table of actions around a child element, without one closure per action in the tree.

use std::any::TypeId;

use gpui_kit::{
    AnyElement, App, Bounds, DispatchPhase, Element, ElementId, Entity, GlobalElementId,
    InspectorElementId, IntoElement, LayoutId, Pixels, Window,
};

use crate::actions::{EDITOR_ACTIONS, EditorAction, FIND_ACTIONS};
use crate::caret_actions::CARET_ACTIONS;
use crate::editor::Editor;

/// A child element and the actions available while it has the focus.
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
    /// Creates a scope for the actions of the text.
    pub(crate) fn of_text(editor: Entity<Editor>, child: impl IntoElement) -> Self {
        Self {
            editor,
            scope: ActionArea::Text,
            child: child.into_any_element(),
        }
    }

    /// Creates a scope for the actions of the text and the find bar.
    pub(crate) fn of_whole(editor: Entity<Editor>, child: impl IntoElement) -> Self {
        Self {
            editor,
            scope: ActionArea::Whole,
            child: child.into_any_element(),
        }
    }

    fn listen(&self, actions: &'static [EditorAction], window: &mut Window) {
        for action in actions {
            let (editor, run) = (self.editor.downgrade(), action.run);
            window.on_action((action.id)(), move |_, phase, window, cx| {
                if phase == DispatchPhase::Bubble {
                    // A closed view has nothing to do.
                    editor.update(cx, |editor, cx| run(editor, window, cx)).ok();
                }
            });
        }
    }

    fn listen_for_commands(&self, window: &mut Window) {
        for action in CARET_ACTIONS {
            let (editor, command): (_, fn() -> caret::Command) =
                (self.editor.downgrade(), action.command);
            let id: TypeId = (action.id)();
            window.on_action(id, move |_, phase, window, cx| {
                if phase == DispatchPhase::Bubble {
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
            }
        }
        self.child.paint(window, cx);
    }
}
