//! From keymap files to bindings in force.
//!
//! Invariant: after `install_keymaps` exactly the kit's own keys and the given keymaps are bound; later
//! keymaps win over earlier ones.

use std::rc::Rc;

use gpui_kit::{
    Action, App, Global, KeyBinding, KeyBindingContextPredicate, NoAction, SharedString,
};
use settings::{BoundAction, Keymap, KeymapBinding, Problem};

/// The keys that the kit bound for its fields and menus.
struct KitKeys(Vec<KeyBinding>);

impl Global for KitKeys {}

/// Remembers what is bound now as the kit's. `init` calls it.
pub fn remember_kit_keys(cx: &mut App) {
    if !cx.has_global::<KitKeys>() {
        let bindings = cx.key_bindings().borrow().bindings().cloned().collect();
        cx.set_global(KitKeys(bindings));
    }
}

/// Binds these keymaps in place of whatever was bound, and says what could not be bound and why.
pub fn install_keymaps(keymaps: &[Keymap], cx: &mut App) -> Vec<Problem> {
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
                match load(binding, context.clone(), cx) {
                    Ok(loaded) => bindings.extend(loaded),
                    Err(message) => problems.push(problem(keymap, binding.place, message)),
                }
            }
        }
    }
    cx.clear_key_bindings();
    cx.bind_keys(bindings);
    cx.refresh_windows();
    problems
}

/// The binding, preceded by the same keys as the platform reports them where that differs.
fn load(
    binding: &KeymapBinding,
    context: Option<Rc<KeyBindingContextPredicate>>,
    cx: &App,
) -> Result<Vec<KeyBinding>, String> {
    let (action, input): (Box<dyn Action>, Option<SharedString>) = match &binding.action {
        BoundAction::Nothing => (Box::new(NoAction), None),
        BoundAction::Run { name, argument } => {
            let action = cx.build_action(name, argument.clone()).map_err(|error| {
                if cx.all_action_names().contains(&name.as_str()) {
                    format!("\"{name}\" does not take this argument: {error}")
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
            false,
            input.clone(),
            cx,
        )
        .map_err(|error| format!("\"{}\" is not a key: {error}", binding.keys))
    };
    let mut loaded = Vec::new();
    if cfg!(target_os = "linux")
        && let Some(keys) = as_reported(&binding.keys)
    {
        loaded.push(load(&keys)?);
    }
    // Last, so that hints show the keys as they were written.
    loaded.push(load(&binding.keys)?);
    Ok(loaded)
}

/// The keys as X11 and Wayland report them: Shift and a sign on its key arrive as the sign it makes,
/// without Shift. `None` when that changes nothing.
///
/// Limitation: goes by the American layout; on others write the sign itself.
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

fn shifted(stroke: &str) -> Option<String> {
    const PLAIN: &str = "`1234567890-=[]\\;',./";
    const SHIFTED: &str = "~!@#$%^&*()_+{}|:\"<>?";
    let key = stroke.chars().next_back()?;
    let sign = PLAIN
        .find(key)
        .and_then(|at| SHIFTED[at..].chars().next())?;
    let modifiers = stroke.strip_suffix(key)?;
    let held = modifiers.starts_with("shift-") || modifiers.contains("-shift-");
    // `shift-f1` ends in a digit too, but that is part of the key's name.
    if !held || !modifiers.ends_with('-') {
        return None;
    }
    Some(format!("{}{sign}", modifiers.replace("shift-", "")))
}

fn unknown_action(name: &str, cx: &App) -> String {
    match settings::nearest(name, cx.all_action_names().iter().copied()) {
        Some(near) => format!("there is no action \"{name}\"; did you mean \"{near}\"?"),
        None => format!("there is no action \"{name}\""),
    }
}

fn problem(keymap: &Keymap, place: (u32, u32), message: String) -> Problem {
    Problem {
        source: keymap.source.clone(),
        line: place.0,
        column: place.1,
        message,
    }
}

#[cfg(test)]
mod tests;
