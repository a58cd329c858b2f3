//! The way of a key: recording, mappings, macros, and the mode that takes it.
//!
//! Start at `Vim::press`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::exec::Exec;
use super::{State, Vim, inserting, normal, prompt, visual};
use crate::command::{Parse, ParseContext, parse};
use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::globals::{Recording, VimGlobals};
use crate::hint::{self, KeyHint};
use crate::host::VimHost;
use crate::key::Key;
use crate::mapping::{MapMode, Mapping, Resolution};
use crate::register::{RegisterShape, RegisterText};

/// Keys carried out for one pressed key at most, so that an endless macro ends.
const MAX_KEYS: usize = 4_000_000;

/// Mappings expanded for one pressed key at most.
const MAX_EXPANSIONS: usize = 10_000;

/// Deepest nesting of `:normal` commands and repeats.
pub(super) const MAX_DEPTH: u32 = 50;

/// Keys that wait to be carried out.
#[derive(Clone, Debug, Default)]
pub(super) struct Typeahead {
    queue: VecDeque<Queued>,
    /// Keys of an unfinished mapping.
    mapping: Vec<Key>,
}

#[derive(Clone, Debug)]
enum Queued {
    Key {
        key: Key,
        is_mappable: bool,
    },
    /// The rest of a macro, which runs some times more.
    Macro {
        keys: Arc<[Key]>,
        ix: usize,
        times: u32,
    },
}

impl Typeahead {
    pub(super) fn has_mapping(&self) -> bool {
        !self.mapping.is_empty()
    }

    pub(super) fn mapping_keys(&self) -> impl Iterator<Item = &Key> {
        self.mapping.iter()
    }

    /// Takes the next key, and whether mappings apply to it.
    fn next(&mut self) -> Option<(Key, bool)> {
        match self.queue.front_mut()? {
            Queued::Key { key, is_mappable } => {
                let next = (*key, *is_mappable);
                self.queue.pop_front();
                Some(next)
            }
            Queued::Macro { keys, ix, times } => {
                let key = keys[*ix];
                *ix += 1;
                if *ix == keys.len() {
                    *ix = 0;
                    *times -= 1;
                }
                if *times == 0 {
                    self.queue.pop_front();
                }
                Some((key, true))
            }
        }
    }

    fn push_front(&mut self, keys: &[Key], is_mappable: bool) {
        for key in keys.iter().rev() {
            self.queue.push_front(Queued::Key {
                key: *key,
                is_mappable,
            });
        }
    }

    fn clear(&mut self) {
        self.queue.clear();
        self.mapping.clear();
    }
}

impl Vim {
    /// Ends the undo step of an insertion that goes on: what is edited elsewhere does not belong to it.
    pub fn break_step(&mut self, globals: &mut VimGlobals, host: &mut dyn VimHost) -> Vec<Effect> {
        let mut exec = Exec::new(self, globals, host);
        exec.close_step();
        exec.effects
    }

    /// Carries out a pressed key, and returns the effects for the host, in order.
    pub fn press(
        &mut self,
        key: Key,
        globals: &mut VimGlobals,
        host: &mut dyn VimHost,
    ) -> Vec<Effect> {
        if let Some(recording) = &mut globals.recording {
            recording.text.push(key.to_char());
        }
        self.typeahead.queue.push_back(Queued::Key {
            key,
            is_mappable: true,
        });
        let mut exec = Exec::new(self, globals, host);
        exec.run_queue();
        exec.finish_press();
        exec.effects
    }

    /// Ends the wait for the rest of a mapping: the keys typed so far take effect.
    pub fn time_out(&mut self, globals: &mut VimGlobals, host: &mut dyn VimHost) -> Vec<Effect> {
        let mut exec = Exec::new(self, globals, host);
        let keys = std::mem::take(&mut exec.vim.typeahead.mapping);
        let mode = exec.vim.map_mode();
        let resolution = mode.map(|mode| exec.globals.mappings.resolve(mode, &keys));
        match resolution {
            Some(Resolution::Pending(Some(mapping)) | Resolution::Mapped(mapping)) => {
                exec.expand(&mapping);
            }
            _ => exec.vim.typeahead.push_front(&keys, false),
        }
        exec.run_queue();
        exec.finish_press();
        exec.effects
    }

    /// Returns the keys that can follow those of an unfinished command or mapping.
    pub fn hints(&self, globals: &VimGlobals) -> Vec<KeyHint> {
        let typed: Vec<Key> = self.typeahead.mapping_keys().copied().collect();
        if typed.is_empty() {
            return hint::after(&self.pending, matches!(self.state, State::Visual(_)));
        }
        let notation = |keys: &[Key]| keys.iter().map(Key::to_string).collect::<String>();
        let mode = self.map_mode();
        let known = mode.into_iter().flat_map(|mode| globals.mappings.of(mode));
        let longer = known.filter(|it| it.from.len() > typed.len() && it.from.starts_with(&typed));
        let hint = |mapping: &Mapping| KeyHint {
            keys: notation(&mapping.from[typed.len()..]),
            label: notation(&mapping.to),
        };
        longer.map(hint).collect()
    }

    /// The mode whose mappings apply to the next key; `None` for the argument of a command.
    pub(super) fn map_mode(&self) -> Option<MapMode> {
        if self.prompt.is_some() {
            return Some(MapMode::Prompt);
        }
        match self.state {
            State::Insert | State::Replace { .. } => {
                let is_waiting = self.insert.as_ref().is_some_and(|it| it.is_waiting());
                (!is_waiting).then_some(MapMode::Insert)
            }
            _ if self.waits_for_motion() => Some(MapMode::Pending),
            _ if !self
                .pending
                .iter()
                .all(|key| matches!(key, Key::Char('1'..='9'))) =>
            {
                None
            }
            State::Normal => Some(MapMode::Normal),
            State::Visual(_) | State::Select(_) => Some(MapMode::Visual),
        }
    }

    /// Whether the pending keys end with an operator.
    fn waits_for_motion(&self) -> bool {
        let is_operator = |key: &Key| {
            let Key::Char(char) = key else {
                return false;
            };
            "dcy<>=!~uU?qw".contains(*char)
        };
        self.has_operator() && self.pending.last().is_some_and(is_operator)
    }
}

impl Exec<'_> {
    /// Carries out all waiting keys.
    fn run_queue(&mut self) {
        let mut expansions = 0;
        while let Some((key, is_mappable)) = self.vim.typeahead.next() {
            if is_mappable && self.resolve_mapping(key, &mut expansions) {
                continue;
            }
            self.keys_run += 1;
            let done = if self.keys_run > MAX_KEYS {
                Err(Error::TooManyKeys(MAX_KEYS))
            } else {
                self.run_key(key)
            };
            if let Err(error) = done {
                self.fail(&error);
            }
        }
    }

    /// Ends everything that waits after a failure, and reports it.
    fn fail(&mut self, error: &Error) {
        self.vim.typeahead.clear();
        self.vim.pending.clear();
        self.report(error);
    }

    pub(super) fn report(&mut self, error: &Error) {
        self.effects.push(match error {
            Error::Beep => Effect::Bell,
            _ => Effect::Message {
                text: error.to_string(),
                is_error: true,
            },
        });
    }

    /// Adds a key to the unfinished mapping, if one can begin or go on with it. Returns whether the
    /// key is taken.
    fn resolve_mapping(&mut self, key: Key, expansions: &mut usize) -> bool {
        if self.globals.mappings.is_empty() {
            return false;
        }
        let Some(mode) = self.vim.map_mode() else {
            return false;
        };
        self.vim.typeahead.mapping.push(key);
        let keys = self.vim.typeahead.mapping.clone();
        match self.globals.mappings.resolve(mode, &keys) {
            Resolution::Pending(_) => true,
            Resolution::Mapped(mapping) if *expansions < MAX_EXPANSIONS => {
                *expansions += 1;
                self.vim.typeahead.mapping.clear();
                self.expand(&mapping);
                true
            }
            _ => {
                self.vim.typeahead.mapping.clear();
                if keys.len() == 1 {
                    return false;
                }
                self.replay_unmapped(mode, &keys);
                true
            }
        }
    }

    /// Carries out keys that began a mapping but do not end it: a shorter mapping that fits, or the
    /// first key as it is.
    fn replay_unmapped(&mut self, mode: MapMode, keys: &[Key]) {
        for length in (1..keys.len()).rev() {
            let resolution = self.globals.mappings.resolve(mode, &keys[..length]);
            if let Resolution::Pending(Some(mapping)) | Resolution::Mapped(mapping) = resolution {
                self.vim.typeahead.push_front(&keys[length..], true);
                self.expand(&mapping);
                return;
            }
        }
        self.vim.typeahead.push_front(&keys[1..], true);
        self.vim.typeahead.push_front(&keys[..1], false);
    }

    fn expand(&mut self, mapping: &Mapping) {
        let to = &mapping.to;
        // A mapping that begins with its own keys would never end.
        let own = if to.starts_with(&mapping.from) {
            mapping.from.len()
        } else {
            0
        };
        let typeahead = &mut self.vim.typeahead;
        typeahead.push_front(&to[own..], mapping.is_recursive);
        typeahead.push_front(&to[..own], false);
    }

    fn run_key(&mut self, key: Key) -> Done {
        let done = if self.vim.prompt.is_some() {
            prompt::key(self, key)
        } else {
            match self.vim.state {
                State::Insert | State::Replace { .. } => self.insert_key(key),
                State::Select(_) => visual::select_key(self, key),
                State::Normal | State::Visual(_) => self.command_key(key),
            }
        };
        self.settle();
        done
    }

    /// Carries out a key while inserting. A key that is not possible does not end a macro.
    fn insert_key(&mut self, key: Key) -> Done {
        match inserting::key(self, key) {
            Err(error @ (Error::Beep | Error::EmptyRegister(_) | Error::NoWord)) => {
                self.report(&error);
                Ok(())
            }
            done => done,
        }
    }

    /// Adds a key to the command of normal or visual mode, and carries it out once it is complete.
    pub(super) fn command_key(&mut self, key: Key) -> Done {
        let is_cancel = matches!(key, Key::Escape | Key::Ctrl('c'));
        if is_cancel && !self.vim.pending.is_empty() {
            self.vim.pending.clear();
            return Ok(());
        }
        self.vim.pending.push(key);
        let context = self.parse_context();
        match parse(&self.vim.pending, context) {
            Parse::Incomplete => Ok(()),
            Parse::Invalid => {
                self.vim.pending.clear();
                Err(Error::Beep)
            }
            Parse::Command(command) => {
                self.vim.pending.clear();
                normal::run(self, &command)
            }
        }
    }

    fn parse_context(&self) -> ParseContext {
        ParseContext {
            visual: self.visual_shape(),
            tilde_operator: self.globals.options.tilde_operator,
            replace_with_register: self.globals.options.replace_with_register,
            is_recording: self.globals.recording.is_some(),
        }
    }

    /// Puts the carets where they may rest after a command, and returns to insert mode after
    /// `Ctrl-O`.
    fn settle(&mut self) {
        if self.vim.prompt.is_some() || !self.vim.pending.is_empty() {
            return;
        }
        if self.vim.is_insert_normal && self.vim.state == State::Normal {
            self.close_step();
            inserting::resume(self);
        }
        if !self.is_inserting() {
            self.clamp_carets();
        }
    }

    /// Ends the undo step of a pressed key, unless an insertion goes on. A macro is one step.
    fn finish_press(&mut self) {
        let is_waiting = self.vim.prompt.is_some() || !self.vim.pending.is_empty();
        if !is_waiting && !self.is_inserting() {
            self.close_step();
        }
    }

    /// Carries out keys as `:normal` does, and ends an unfinished command.
    pub(super) fn run_nested(&mut self, keys: &[Key], is_mappable: bool) -> Done {
        if self.depth >= MAX_DEPTH {
            return Err(Error::TooDeep);
        }
        let outer = std::mem::take(&mut self.vim.typeahead);
        let pending = std::mem::take(&mut self.vim.pending);
        self.vim.typeahead.push_front(keys, is_mappable);
        self.depth += 1;
        self.run_queue();
        self.depth -= 1;
        self.vim.typeahead.clear();
        self.vim.pending.clear();
        if self.vim.prompt.take().is_some() {
            self.settle();
        }
        if self.is_inserting() {
            inserting::key(self, Key::Escape)?;
            self.settle();
        }
        self.vim.typeahead = outer;
        self.vim.pending = pending;
        if self.keys_run > MAX_KEYS {
            return Err(Error::TooManyKeys(MAX_KEYS));
        }
        Ok(())
    }

    /// Queues the keys of a macro.
    pub(super) fn queue_macro(&mut self, text: &str, times: u32) {
        let keys: Arc<[Key]> = Key::from_text(text).into();
        if !keys.is_empty() && times > 0 {
            self.vim
                .typeahead
                .queue
                .push_front(Queued::Macro { keys, ix: 0, times });
        }
    }

    /// Starts to record keys into a register.
    pub(super) fn start_recording(&mut self, register: char) -> Done {
        if !register.is_ascii_alphanumeric() && register != '"' {
            return Err(Error::Beep);
        }
        self.globals.recording = Some(Recording {
            register,
            text: String::new(),
        });
        Ok(())
    }

    /// Ends recording. The key that ends it is not part of the macro.
    pub(super) fn stop_recording(&mut self) {
        let Some(recording) = self.globals.recording.take() else {
            return;
        };
        let mut text = recording.text;
        text.pop();
        let content = RegisterText::new(text, RegisterShape::Chars);
        self.globals.last_recorded = Some(recording.register.to_ascii_lowercase());
        self.globals
            .registers
            .write_aside(recording.register, content);
    }
}
