//! Delegates of the window's pickers; the picker itself is `ui::picker`.

pub(crate) mod access_page;
pub(crate) mod branch_name;
pub(crate) mod choices;
pub(crate) mod code_actions;
pub(crate) mod commands;
pub(crate) mod commit_name;
pub(crate) mod commits;
pub(crate) mod edit_preview;
pub(crate) mod everything;
pub(crate) mod files;
pub(crate) mod go_to_line;
pub(crate) mod guide;
pub(crate) mod hierarchy;
pub(crate) mod index_menu;
pub(crate) mod paths;
pub(crate) mod problems;
pub(crate) mod recent;
pub(crate) mod rename_symbol;
pub(crate) mod server_menu;
pub(crate) mod snippets;
pub(crate) mod suggestion_log;
pub(crate) mod suggestion_menu;
pub(crate) mod symbols;
pub(crate) mod tabs;
pub(crate) mod task_input;
pub(crate) mod tasks;
pub(crate) mod terminal_name;
pub(crate) mod themes;

use gpui_kit::{Context, Entity, Subscription, Window};
use ui::picker::{Picker, PickerDelegate};

use crate::folder::{FolderEvent, OpenFolder};

/// Runs the picker's search again when the folder's file list changes, after `doubt` marks the old
/// results as stale.
fn follow_files<D: PickerDelegate>(
    folder: &Entity<OpenFolder>,
    doubt: fn(&mut D),
    window: &Window,
    cx: &mut Context<Picker<D>>,
) -> Subscription {
    cx.subscribe_in(
        folder,
        window,
        move |picker, _, event: &FolderEvent, window, cx| {
            if matches!(event, FolderEvent::Files) {
                doubt(picker.delegate_mut());
                picker.refresh(window, cx);
            }
        },
    )
}

/// Converts char indices in `text` into byte offsets.
pub(crate) fn byte_offsets(text: &str, chars: &[u32]) -> Vec<usize> {
    let mut wanted = chars.iter().peekable();
    let mut offsets = Vec::with_capacity(chars.len());
    for (place, (offset, _)) in text.char_indices().enumerate() {
        if wanted.peek().is_some_and(|char| **char as usize == place) {
            offsets.push(offset);
            wanted.next();
        }
    }
    offsets
}
