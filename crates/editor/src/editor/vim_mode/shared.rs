//! State that all views share: registers, mappings, options, the last search.

use std::cell::RefCell;
use std::rc::Rc;

use gpui_kit::{App, Global};
use settings::VimSettings;
use vim::{VimGlobals, VimrcProblem};

/// The shared state, kept by each view so that a key does not look it up.
pub(super) type SharedGlobals = Rc<RefCell<VimGlobals>>;

#[derive(Default)]
struct VimState(SharedGlobals);

impl Global for VimState {}

/// Returns the shared state; creates it for the first view.
pub(super) fn globals(cx: &mut App) -> SharedGlobals {
    cx.default_global::<VimState>().0.clone()
}

/// Applies settings, then the mappings and options of a `.vimrc`. Returns the lines of the latter
/// that have no effect.
pub fn configure_vim(
    settings: &VimSettings,
    vimrc: Option<&str>,
    cx: &mut App,
) -> Vec<VimrcProblem> {
    let shared = globals(cx);
    let mut globals = shared.borrow_mut();
    let options = &mut globals.options;
    options.unnamed_clipboard = settings.clipboard;
    options.ignore_case = settings.ignore_case;
    options.smart_case = settings.smart_case;
    options.yank_to_end = settings.yank_to_end;
    options.replace_with_register = settings.replace_with_register;
    options.timeout = settings.timeout;
    vimrc.map_or_else(Vec::new, |text| globals.read_vimrc(text))
}
