//! Installs keymap files as key bindings.
//!
//! Invariant: after `install_keymaps`, exactly the kit's own keys and the given keymaps are bound;
//! later keymaps take precedence. On macOS, bindings that change no key come before them, for the
//! native menus.

use std::rc::Rc;

use base::Platform;
use gpui_kit::{
    Action, App, Global, KeyBinding, KeyBindingContextPredicate, KeyContext, NoAction,
    OperatingSystem, SharedString,
};
use settings::{BoundAction, ConfigProblem, Keymap, KeymapBinding, KeymapBlock};

use crate::platform::ActivePlatform as _;

/// Bindings of the kit for its fields and menus.
struct KitKeys(Vec<KeyBinding>);

impl Global for KitKeys {}

/// Records the current bindings as the kit's. Called by `init`.
pub fn remember_kit_keys(cx: &mut App) {
    if !cx.has_global::<KitKeys>() {
        let bindings = cx.key_bindings().borrow().bindings().cloned().collect();
        cx.set_global(KitKeys(bindings));
    }
}

/// Replaces all key bindings by those of the kit and of these keymaps. Later keymaps take
/// precedence. Returns a problem for each context or binding that failed. All other bindings apply.
pub fn install_keymaps(keymaps: &[Keymap], cx: &mut App) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut bindings = cx
        .try_global::<KitKeys>()
        .map_or_else(Vec::new, |kit| kit.0.clone());
    for keymap in keymaps {
        for block in &keymap.blocks {
            let context = match block
                .context
                .as_deref()
                .map(KeyBindingContextPredicate::parse)
                .transpose()
            {
                Ok(context) => context.map(Rc::new),
                Err(error) => {
                    let message = format!("this context cannot be read: {error}");
                    problems.push(problem(keymap, block.context_place, message));
                    continue;
                }
            };
            for binding in &block.bindings {
                match load(binding, block, context.clone(), cx) {
                    Ok(loaded) => bindings.extend(loaded),
                    Err(error) => problems.push(problem(keymap, binding.place, error.to_string())),
                }
            }
        }
    }
    cx.clear_key_bindings();
    if cx.platform() == Platform::MacOs {
        let first = for_menus(&bindings, cx);
        cx.bind_keys(first);
    }
    cx.bind_keys(bindings);
    cx.refresh_windows();
    problems
}

/// Returns bindings to be bound before all others, so that native menus show the right keys.
///
/// Beside an item, the toolkit shows the first binding of its action that holds in a text, or else
/// the first one of all, unless it has several strokes. Everywhere else the last binding is
/// preferred, so the last binding of one stroke for every action and context comes first here. An
/// action without a key in a text, such as `l` of the board, shows none: the menu would take the key
/// everywhere. Bound first, these bindings change no key, because any later one of the same keys
/// wins.
fn for_menus(bindings: &[KeyBinding], cx: &App) -> Vec<KeyBinding> {
    let context = menu_context();
    let holds_in_text = |binding: &KeyBinding| {
        let predicate = binding.predicate();
        predicate.is_none_or(|predicate| predicate.eval(std::slice::from_ref(&context)))
    };
    let preferred = preferred(bindings);
    let is_elsewhere = |shown: &&KeyBinding| {
        let mut same = bindings
            .iter()
            .filter(|binding| binding.action().partial_eq(shown.action()));
        !same.any(holds_in_text)
    };
    let elsewhere = preferred.iter().filter(is_elsewhere);
    let mut first: Vec<KeyBinding> = elsewhere
        .filter_map(|binding| unreachable_binding(binding.action(), cx))
        .collect();
    first.extend(preferred);
    first
}

/// Returns the last binding of one stroke for every action and context.
fn preferred(bindings: &[KeyBinding]) -> Vec<KeyBinding> {
    let mut preferred: Vec<KeyBinding> = Vec::new();
    for binding in bindings {
        let is_shown = binding.keystrokes().len() == 1 && !binding.action().partial_eq(&NoAction);
        if !is_shown {
            continue;
        }
        let same = preferred.iter_mut().find(|known| {
            known.action().partial_eq(binding.action()) && known.predicate() == binding.predicate()
        });
        match same {
            Some(known) => *known = binding.clone(),
            None => preferred.push(binding.clone()),
        }
    }
    preferred
}

/// Returns the context in which the toolkit looks for the key of a menu item.
fn menu_context() -> KeyContext {
    let mut context = KeyContext::new_with_defaults(OperatingSystem::Mac);
    for name in ["Workspace", "Pane", "Editor"] {
        context.add(name);
    }
    context
}

/// Returns a binding of two strokes, which menus do not show, in a context that no view has.
fn unreachable_binding(action: &dyn Action, cx: &App) -> Option<KeyBinding> {
    let nowhere = KeyBindingContextPredicate::Identifier("Nowhere".into());
    let keys = "escape escape";
    let context = Some(Rc::new(nowhere));
    let loaded = KeyBinding::load(keys, action.boxed_clone(), context, false, None, cx);
    // The keys are valid.
    loaded.ok()
}

/// Reason a key binding is left out.
#[derive(Debug, thiserror::Error)]
enum BindingError {
    #[error("\"{action}\" does not take this argument: {cause}")]
    BadArgument { action: String, cause: String },
    #[error("there is no action \"{0}\"")]
    UnknownAction(String),
    #[error("there is no action \"{name}\"; did you mean \"{near}\"?")]
    MisspeltAction { name: String, near: String },
    #[error("\"{keys}\" is not a key: {cause}")]
    BadKeys { keys: String, cause: String },
}

/// Returns the binding, preceded by the same keys as the platform reports them if they differ.
fn load(
    binding: &KeymapBinding,
    block: &KeymapBlock,
    context: Option<Rc<KeyBindingContextPredicate>>,
    cx: &App,
) -> Result<Vec<KeyBinding>, BindingError> {
    let (action, input): (Box<dyn Action>, Option<SharedString>) = match &binding.action {
        BoundAction::Nothing => (Box::new(NoAction), None),
        BoundAction::Run { name, argument } => {
            let action = cx.build_action(name, argument.clone()).map_err(|error| {
                if cx.all_action_names().contains(&name.as_str()) {
                    BindingError::BadArgument {
                        action: name.clone(),
                        cause: error.to_string(),
                    }
                } else {
                    unknown_action(name, cx)
                }
            })?;
            (
                action,
                argument
                    .as_ref()
                    .map(|argument| argument.to_string().into()),
            )
        }
    };
    let load = |keys: &str| {
        KeyBinding::load(
            keys,
            action.boxed_clone(),
            context.clone(),
            block.use_key_equivalents,
            input.clone(),
            cx,
        )
        .map_err(|error| BindingError::BadKeys {
            keys: binding.keys.clone(),
            cause: error.to_string(),
        })
    };
    let mut loaded = Vec::new();
    if cx.platform() == Platform::Linux
        && let Some(keys) = as_reported(&binding.keys)
    {
        loaded.push(load(&keys)?);
    }
    // The written form comes last, so that hints show it.
    loaded.push(load(&binding.keys)?);
    Ok(loaded)
}

/// Returns the keys as X11 and Wayland report them: Shift with another key arrives as the resulting
/// character without Shift. `None` if nothing changes.
///
/// Limitation: assumes the US layout; on others, write the character itself.
fn as_reported(keys: &str) -> Option<String> {
    let mut changed = false;
    let reported: Vec<String> = keys
        .split_whitespace()
        .map(|stroke| match shifted(stroke) {
            Some(stroke) => {
                changed = true;
                stroke
            }
            None => stroke.to_owned(),
        })
        .collect();
    changed.then(|| reported.join(" "))
}

/// Returns `ctrl-!` for `ctrl-shift-1`, by the US layout. Returns `None` if the stroke has no
/// Shift, or if its key has no other character with Shift.
fn shifted(stroke: &str) -> Option<String> {
    const PLAIN: &str = "`1234567890-=[]\\;',./";
    const SHIFTED: &str = "~!@#$%^&*()_+{}|:\"<>?";
    let key = stroke.chars().next_back()?;
    let sign = PLAIN
        .find(key)
        .and_then(|at| SHIFTED[at..].chars().next())?;
    let modifiers = stroke.strip_suffix(key)?;
    let held = modifiers.starts_with("shift-") || modifiers.contains("-shift-");
    // In `shift-f1`, the final digit is part of the key name.
    if !held || !modifiers.ends_with('-') {
        return None;
    }
    Some(format!("{}{sign}", modifiers.replace("shift-", "")))
}

fn unknown_action(name: &str, cx: &App) -> BindingError {
    let name = name.to_owned();
    match settings::nearest(&name, cx.all_action_names().iter().copied()) {
        Some(near) => BindingError::MisspeltAction {
            near: near.to_owned(),
            name,
        },
        None => BindingError::UnknownAction(name),
    }
}

fn problem(keymap: &Keymap, place: (u32, u32), message: String) -> ConfigProblem {
    ConfigProblem {
        source: keymap.source.clone(),
        line: place.0,
        column: place.1,
        message,
    }
}

#[cfg(test)]
mod tests;
