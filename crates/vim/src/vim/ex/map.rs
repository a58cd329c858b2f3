//! The `:map` family.

use super::ExCommand;
use super::names::{MapAction, MapCommand};
use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::key::Key;
use crate::mapping::{MapMode, Mapping};
use crate::vim::exec::Exec;

/// Adds, removes or lists mappings.
pub(super) fn run(exec: &mut Exec, command: &ExCommand, map: MapCommand) -> Done {
    let modes = if command.has_bang {
        vec![MapMode::Insert, MapMode::Prompt]
    } else {
        map.modes.to_vec()
    };
    let arguments = without_flags(command.arguments)?;
    let (from, to) = match arguments.split_once([' ', '\t']) {
        Some((from, to)) => (from, to.trim_start_matches([' ', '\t'])),
        None => (arguments, ""),
    };
    let leader = exec.globals.options.leader;
    let from_keys = Key::parse(from, leader);
    match map.action {
        MapAction::Clear => exec.globals.mappings.clear(&modes),
        MapAction::Unmap if from.is_empty() => return Err(Error::ArgumentRequired),
        MapAction::Unmap => {
            if !exec.globals.mappings.remove(&modes, &from_keys) {
                return Err(Error::Unsupported(format!("E31: no such mapping: {from}")));
            }
        }
        MapAction::Map { .. } if to.is_empty() => list(exec, &modes, &from_keys),
        MapAction::Map { is_recursive } => {
            let to = if to.eq_ignore_ascii_case("<nop>") {
                Vec::new()
            } else {
                Key::parse(to, leader)
            };
            exec.globals.mappings.add(Mapping {
                modes,
                from: from_keys,
                to,
                is_recursive,
            });
        }
    }
    Ok(())
}

/// Removes flags such as `<silent>`. Expressions are refused.
fn without_flags(arguments: &str) -> Done<&str> {
    let mut rest = arguments;
    loop {
        rest = rest.trim_start();
        let flags = ["<silent>", "<buffer>", "<nowait>", "<unique>", "<script>"];
        if rest.to_lowercase().starts_with("<expr>") {
            let message = "expressions (<expr>) are not supported in mappings";
            return Err(Error::Unsupported(message.to_owned()));
        }
        let lower = rest.to_lowercase();
        match flags.iter().find(|flag| lower.starts_with(**flag)) {
            Some(flag) => rest = &rest[flag.len()..],
            None => return Ok(rest),
        }
    }
}

fn list(exec: &mut Exec, modes: &[MapMode], from: &[Key]) {
    let shown = |keys: &[Key]| keys.iter().map(Key::to_string).collect::<String>();
    let mut lines = Vec::new();
    for mode in modes {
        for mapping in exec.globals.mappings.of(*mode) {
            if mapping.from.starts_with(from) {
                let sign = if mapping.is_recursive { ' ' } else { '*' };
                lines.push(format!(
                    "{} {sign} {}",
                    shown(&mapping.from),
                    shown(&mapping.to)
                ));
            }
        }
    }
    lines.dedup();
    exec.effect(Effect::Listing(lines));
}
