//! `:set`: options of commands, and those that the host owns.
//!
//! Start at `run`.

use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::options::VimOptions;
use crate::vim::exec::Exec;

/// An option with its names.
struct OptionEntry {
    names: &'static [&'static str],
    access: OptionAccess,
}

enum OptionAccess {
    Flag(fn(&mut VimOptions) -> &mut bool),
    Number(fn(&mut VimOptions) -> &mut u32),
    /// A flag that the embedding editor stores; `:set` requests its change with `Effect::SetOption`.
    HostFlag,
    /// A value that the embedding editor stores; `:set` requests its change with `Effect::SetOption`.
    HostValue,
    Clipboard,
    NumberFormats,
    Backspace,
}

const fn flag(
    names: &'static [&'static str],
    access: fn(&mut VimOptions) -> &mut bool,
) -> OptionEntry {
    OptionEntry {
        names,
        access: OptionAccess::Flag(access),
    }
}

const fn number(
    names: &'static [&'static str],
    access: fn(&mut VimOptions) -> &mut u32,
) -> OptionEntry {
    OptionEntry {
        names,
        access: OptionAccess::Number(access),
    }
}

const fn other(names: &'static [&'static str], access: OptionAccess) -> OptionEntry {
    OptionEntry { names, access }
}

// tidy: table
const OPTIONS: &[OptionEntry] = &[
    number(&["tabstop", "ts"], |options| &mut options.tab_width),
    number(&["shiftwidth", "sw"], |options| &mut options.shift_width),
    flag(&["expandtab", "et"], |options| &mut options.expand_tab),
    flag(&["shiftround", "sr"], |options| &mut options.shift_round),
    flag(&["autoindent", "ai"], |options| &mut options.auto_indent),
    number(&["textwidth", "tw"], |options| &mut options.text_width),
    flag(&["ignorecase", "ic"], |options| &mut options.ignore_case),
    flag(&["smartcase", "scs"], |options| &mut options.smart_case),
    flag(&["wrapscan", "ws"], |options| &mut options.wrap_scan),
    flag(&["hlsearch", "hls"], |options| {
        &mut options.highlight_search
    }),
    flag(&["incsearch", "is"], |options| {
        &mut options.incremental_search
    }),
    flag(&["gdefault", "gd"], |options| &mut options.global_default),
    flag(&["tildeop", "top"], |options| &mut options.tilde_operator),
    flag(&["startofline", "sol"], |options| {
        &mut options.start_of_line
    }),
    number(&["scrolloff", "so"], |options| &mut options.scroll_offset),
    number(&["timeoutlen", "tm"], |options| &mut options.timeout),
    flag(&["yanktoend"], |options| &mut options.yank_to_end),
    flag(&["replacewithregister"], |options| {
        &mut options.replace_with_register
    }),
    other(&["clipboard", "cb"], OptionAccess::Clipboard),
    other(&["nrformats", "nf"], OptionAccess::NumberFormats),
    other(&["backspace", "bs"], OptionAccess::Backspace),
    other(&["number", "nu"], OptionAccess::HostFlag),
    other(&["relativenumber", "rnu"], OptionAccess::HostFlag),
    other(&["wrap"], OptionAccess::HostFlag),
    other(&["list"], OptionAccess::HostFlag),
    other(&["cursorline", "cul"], OptionAccess::HostFlag),
    other(&["spell"], OptionAccess::HostFlag),
    other(&["foldenable", "fen"], OptionAccess::HostFlag),
    other(&["filetype", "ft"], OptionAccess::HostValue),
    other(&["fileformat", "ff"], OptionAccess::HostValue),
    other(&["fileencoding", "fenc"], OptionAccess::HostValue),
    other(&["colorcolumn", "cc"], OptionAccess::HostValue),
];

fn find(name: &str) -> Option<&'static OptionEntry> {
    OPTIONS.iter().find(|option| option.names.contains(&name))
}

/// Sets or shows options.
pub(super) fn run(exec: &mut Exec, arguments: &str) -> Done {
    for argument in arguments.split_whitespace() {
        set(exec, argument)?;
    }
    Ok(())
}

fn set(exec: &mut Exec, argument: &str) -> Done {
    if let Some((name, value)) = argument.split_once(['=', ':']) {
        let (name, operation) = match name.chars().next_back() {
            Some(sign @ ('+' | '-' | '^')) => (&name[..name.len() - 1], Some(sign)),
            _ => (name, None),
        };
        return assign(exec, name, operation, value);
    }
    if let Some(name) = argument.strip_suffix('?') {
        return show(exec, name);
    }
    if let Some(name) = argument.strip_suffix('!').or(argument.strip_prefix("inv")) {
        return switch(exec, name, Switch::Toggle);
    }
    if let Some(name) = argument.strip_suffix('&') {
        return reset(exec, name);
    }
    if find(argument).is_some() {
        return switch(exec, argument, Switch::On);
    }
    match argument.strip_prefix("no") {
        Some(name) => switch(exec, name, Switch::Off),
        None => Err(Error::UnknownOption(argument.to_owned())),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    On,
    Off,
    Toggle,
}

fn switch(exec: &mut Exec, name: &str, switch: Switch) -> Done {
    let option = find(name).ok_or_else(|| Error::UnknownOption(name.to_owned()))?;
    match &option.access {
        OptionAccess::Flag(access) => {
            let flag = access(&mut exec.globals.options);
            *flag = match switch {
                Switch::On => true,
                Switch::Off => false,
                Switch::Toggle => !*flag,
            };
            after_change(exec);
            Ok(())
        }
        OptionAccess::HostFlag => {
            let value = match switch {
                Switch::On => "on",
                Switch::Off => "",
                Switch::Toggle => "toggle",
            };
            exec.effect(Effect::SetOption {
                name: option.names[0],
                value: value.to_owned(),
            });
            Ok(())
        }
        _ if switch == Switch::On => show(exec, name),
        _ => Err(Error::InvalidArgument(name.to_owned())),
    }
}

fn assign(exec: &mut Exec, name: &str, operation: Option<char>, value: &str) -> Done {
    let option = find(name).ok_or_else(|| Error::UnknownOption(name.to_owned()))?;
    let invalid = || Error::InvalidArgument(format!("{name}={value}"));
    match &option.access {
        OptionAccess::Number(access) => {
            let number = value.parse::<u32>().map_err(|_| invalid())?;
            let target = access(&mut exec.globals.options);
            *target = match operation {
                None => number,
                Some('+') => target.saturating_add(number),
                Some('-') => target.saturating_sub(number),
                Some(_) => target.saturating_mul(number),
            };
            limit(&mut exec.globals.options);
            after_change(exec);
        }
        OptionAccess::Clipboard => {
            let has_unnamed = value.split(',').any(|part| part.starts_with("unnamed"));
            let options = &mut exec.globals.options;
            options.unnamed_clipboard = match operation {
                Some('-') => options.unnamed_clipboard && !has_unnamed,
                Some(_) => options.unnamed_clipboard || has_unnamed,
                None => has_unnamed,
            };
        }
        OptionAccess::NumberFormats => {
            let names = |wanted: &str| value.split(',').any(|part| part == wanted);
            let is_added = operation != Some('-');
            let options = &mut exec.globals.options;
            if operation.is_none() || names("octal") {
                options.octal_numbers = is_added && names("octal");
            }
            if operation.is_none() || names("alpha") {
                options.alphabetic_numbers = is_added && names("alpha");
            }
        }
        OptionAccess::Backspace => {
            exec.globals.options.backspace_anywhere = value == "2" || value.contains("start");
        }
        OptionAccess::HostValue => exec.effect(Effect::SetOption {
            name: option.names[0],
            value: value.to_owned(),
        }),
        OptionAccess::Flag(_) | OptionAccess::HostFlag => return Err(invalid()),
    }
    Ok(())
}

/// Keeps numbers in a range that commands can work with.
fn limit(options: &mut VimOptions) {
    options.tab_width = options.tab_width.clamp(1, 1000);
    options.shift_width = options.shift_width.min(1000);
    options.text_width = options.text_width.min(100_000);
    options.scroll_offset = options.scroll_offset.min(1000);
}

/// Applies options that commands keep apart from the options themselves.
fn after_change(exec: &mut Exec) {
    exec.refresh();
    if !exec.globals.options.highlight_search {
        exec.effect(Effect::HighlightSearch(None));
    }
}

fn reset(exec: &mut Exec, name: &str) -> Done {
    let option = find(name).ok_or_else(|| Error::UnknownOption(name.to_owned()))?;
    let mut defaults = VimOptions::new();
    match &option.access {
        OptionAccess::Flag(access) => {
            let value = *access(&mut defaults);
            *access(&mut exec.globals.options) = value;
        }
        OptionAccess::Number(access) => {
            let value = *access(&mut defaults);
            *access(&mut exec.globals.options) = value;
        }
        OptionAccess::Clipboard => exec.globals.options.unnamed_clipboard = false,
        OptionAccess::NumberFormats => {
            exec.globals.options.octal_numbers = false;
            exec.globals.options.alphabetic_numbers = false;
        }
        OptionAccess::Backspace => exec.globals.options.backspace_anywhere = true,
        OptionAccess::HostFlag | OptionAccess::HostValue => {
            return Err(Error::InvalidArgument(name.to_owned()));
        }
    }
    after_change(exec);
    Ok(())
}

fn show(exec: &mut Exec, name: &str) -> Done {
    let option = find(name).ok_or_else(|| Error::UnknownOption(name.to_owned()))?;
    let long = option.names[0];
    let options = &mut exec.globals.options;
    let text = match &option.access {
        OptionAccess::Flag(access) if *access(options) => long.to_owned(),
        OptionAccess::Flag(_) => format!("no{long}"),
        OptionAccess::Number(access) => format!("{long}={}", access(options)),
        OptionAccess::Clipboard if options.unnamed_clipboard => format!("{long}=unnamedplus"),
        OptionAccess::Clipboard => format!("{long}="),
        OptionAccess::NumberFormats => {
            let mut formats = vec!["bin", "hex"];
            formats.extend(options.octal_numbers.then_some("octal"));
            formats.extend(options.alphabetic_numbers.then_some("alpha"));
            format!("{long}={}", formats.join(","))
        }
        OptionAccess::Backspace if options.backspace_anywhere => {
            format!("{long}=indent,eol,start")
        }
        OptionAccess::Backspace => format!("{long}=indent,eol"),
        OptionAccess::HostFlag | OptionAccess::HostValue => {
            exec.effect(Effect::SetOption {
                name: long,
                value: "?".to_owned(),
            });
            return Ok(());
        }
    };
    exec.message(text);
    Ok(())
}
