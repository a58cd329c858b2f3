//! Reads a command from the keys typed so far.
//!
//! The whole sequence is read again with each key; there is no other state. Start at `parse`.

use super::{Action, NormalCommand, Operator, VisualShape, action, motion, object, surround};
use crate::digraph;
use crate::key::Key;
use crate::register::is_register;

/// The state that decides on the meaning of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParseContext {
    pub(crate) visual: Option<VisualShape>,
    pub(crate) tilde_operator: bool,
    pub(crate) replace_with_register: bool,
    /// Whether a macro is recorded, so that `q` ends it.
    pub(crate) is_recording: bool,
}

/// The result of reading keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parse {
    /// More keys are needed.
    Incomplete,
    /// No command starts with the keys.
    Invalid,
    Command(Box<NormalCommand>),
}

/// Largest count; a larger one is cut off.
const MAX_COUNT: u32 = 99_999_999;

/// Reads a command.
pub(crate) fn parse(keys: &[Key], context: ParseContext) -> Parse {
    let mut reader = KeyReader {
        keys,
        ix: 0,
        context,
    };
    match reader.command() {
        Ok(command) => Parse::Command(Box::new(command)),
        Err(Stop::Incomplete) => Parse::Incomplete,
        Err(Stop::Invalid) => Parse::Invalid,
    }
}

/// The reason for which reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Incomplete,
    Invalid,
}

pub(super) type Read<T> = Result<T, Stop>;

pub(super) struct KeyReader<'a> {
    keys: &'a [Key],
    ix: usize,
    pub(super) context: ParseContext,
}

impl KeyReader<'_> {
    pub(super) fn next(&mut self) -> Read<Key> {
        let key = self.keys.get(self.ix).ok_or(Stop::Incomplete)?;
        self.ix += 1;
        Ok(*key)
    }

    /// Returns the next key without taking it.
    pub(super) fn peek(&self) -> Read<Key> {
        self.keys.get(self.ix).copied().ok_or(Stop::Incomplete)
    }

    /// Takes a character that is no command: the argument of `f`, `r` and others.
    pub(super) fn char(&mut self) -> Read<char> {
        match self.next()? {
            Key::Char(char) => Ok(char),
            Key::Enter => Ok('\r'),
            Key::Tab => Ok('\t'),
            Key::Ctrl('k') => {
                let first = self.plain_char()?;
                let second = self.plain_char()?;
                Ok(digraph::lookup(first, second))
            }
            Key::Ctrl('v' | 'q') => match self.next()? {
                Key::Escape => Ok('\u{1b}'),
                key => Ok(key.to_char()),
            },
            Key::Escape => Err(Stop::Invalid),
            key => Ok(key.to_char()),
        }
    }

    fn plain_char(&mut self) -> Read<char> {
        match self.next()? {
            Key::Char(char) => Ok(char),
            _ => Err(Stop::Invalid),
        }
    }

    fn command(&mut self) -> Read<NormalCommand> {
        let (mut register, mut count) = (None, None);
        let key = self.prefix(&mut register, &mut count)?;
        let action = self.action(key)?;
        let mut command = NormalCommand {
            register,
            count,
            ..NormalCommand::new(action)
        };
        if let Action::Operate(operator) = &command.action
            && self.context.visual.is_none()
        {
            let operator = operator.clone();
            self.operand(&mut command, operator, key)?;
        }
        Ok(command)
    }

    /// Reads registers and counts, and returns the first key behind them.
    fn prefix(&mut self, register: &mut Option<char>, count: &mut Option<u32>) -> Read<Key> {
        let mut own: Option<u32> = None;
        loop {
            let key = self.next()?;
            match key {
                Key::Char('"') => match self.next()? {
                    Key::Char(name) if is_register(name) => {
                        *register = Some(name);
                        *count = product(*count, own.take());
                    }
                    _ => return Err(Stop::Invalid),
                },
                Key::Char(digit @ '0'..='9') if digit != '0' || own.is_some() => {
                    let digit = digit as u32 - '0' as u32;
                    let sum = u64::from(own.unwrap_or(0)) * 10 + u64::from(digit);
                    own = Some(sum.min(u64::from(MAX_COUNT)) as u32);
                }
                Key::Delete if own.is_some() => {
                    own = own.map(|count| count / 10).filter(|it| *it > 0)
                }
                _ => {
                    *count = product(*count, own);
                    return Ok(key);
                }
            }
        }
    }

    fn action(&mut self, key: Key) -> Read<Action> {
        if self.context.visual.is_some() {
            if let Some(object) = object::read_after(self, key)? {
                return Ok(object);
            }
            if let Some(action) = action::visual(self, key)? {
                return Ok(action);
            }
        }
        if let Some(action) = action::normal(self, key)? {
            return Ok(action);
        }
        let motion = motion::read(self, key)?.ok_or(Stop::Invalid)?;
        Ok(Action::Motion(motion))
    }

    /// Reads the text that an operator takes.
    fn operand(&mut self, command: &mut NormalCommand, operator: Operator, first: Key) -> Read<()> {
        let key = self.forced_prefix(command)?;
        if let Some(action) = self.special_operand(&operator, key)? {
            match action {
                SpecialOperand::Action(action) => command.action = action,
                SpecialOperand::Operator { is_upper } => {
                    return self.surround_operand(command, is_upper);
                }
                SpecialOperand::Exchange => return self.exchange_operand(command),
            }
            return Ok(());
        }
        command.operator = Some(operator.clone());
        command.action = if self.is_doubled(&operator, first, key)? {
            Action::WholeLines
        } else {
            self.target(key)?
        };
        Ok(())
    }

    /// Reads a motion or an object.
    fn target(&mut self, key: Key) -> Read<Action> {
        if let Some(object) = object::read_after(self, key)? {
            return Ok(object);
        }
        match key {
            Key::Char('/') => return Ok(Action::Prompt(super::CommandLineKind::SearchForward)),
            Key::Char('?') => return Ok(Action::Prompt(super::CommandLineKind::SearchBackward)),
            _ => {}
        }
        let motion = motion::read(self, key)?.ok_or(Stop::Invalid)?;
        Ok(Action::Motion(motion))
    }

    /// Reads counts, a register, and the keys that force a shape.
    fn forced_prefix(&mut self, command: &mut NormalCommand) -> Read<Key> {
        loop {
            let key = self.prefix(&mut command.register, &mut command.count)?;
            command.force = Some(match key {
                Key::Char('v') => VisualShape::Chars,
                Key::Char('V') => VisualShape::Lines,
                Key::Ctrl('v' | 'q') => VisualShape::Block,
                _ => return Ok(key),
            });
        }
    }

    /// Whether a key repeats the operator: `dd`, `gUU`, `gUgU`.
    fn is_doubled(&mut self, operator: &Operator, first: Key, key: Key) -> Read<bool> {
        let short = match operator {
            Operator::LowerCase => Key::Char('u'),
            Operator::UpperCase => Key::Char('U'),
            Operator::SwapCase => Key::Char('~'),
            Operator::Rot13 => Key::Char('?'),
            Operator::Format { keeps_caret: false } => Key::Char('q'),
            Operator::Comment => Key::Char('c'),
            Operator::ReplaceWithRegister => Key::Char('r'),
            Operator::Fold => Key::Char('F'),
            _ => first,
        };
        let is_gw = *operator == Operator::Format { keeps_caret: true };
        if key == short && !is_gw {
            return Ok(true);
        }
        // `gc` after `gc` is the object of comment lines.
        let is_prefixed = first == Key::Char('g') && key == first && *operator != Operator::Comment;
        if !is_prefixed {
            return Ok(false);
        }
        match self.keys.get(self.ix) {
            None => Err(Stop::Incomplete),
            Some(next) if *next == short || is_gw && *next == Key::Char('w') => {
                self.ix += 1;
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }

    /// Reads what is no text after some operators: surroundings and exchanges.
    fn special_operand(&mut self, operator: &Operator, key: Key) -> Read<Option<SpecialOperand>> {
        Ok(Some(match (operator, key) {
            (Operator::Yank, Key::Char('s')) => SpecialOperand::Operator { is_upper: false },
            (Operator::Yank, Key::Char('S')) => SpecialOperand::Operator { is_upper: true },
            (Operator::Delete, Key::Char('s')) => {
                SpecialOperand::Action(Action::DeleteSurround(surround::target(self)?))
            }
            (Operator::Change, Key::Char('s')) => {
                let target = surround::target(self)?;
                let pair = surround::pair(self)?;
                SpecialOperand::Action(Action::ChangeSurround(target, pair))
            }
            (Operator::Change, Key::Char('x')) => SpecialOperand::Exchange,
            _ => return Ok(None),
        }))
    }

    /// Reads the text and the pair of `ys`.
    fn surround_operand(&mut self, command: &mut NormalCommand, is_upper: bool) -> Read<()> {
        let key = self.forced_prefix(command)?;
        let doubled = if is_upper {
            Key::Char('S')
        } else {
            Key::Char('s')
        };
        let is_line = key == doubled;
        command.action = if is_line {
            Action::Motion(crate::motion::Motion::LineText)
        } else {
            self.target(key)?
        };
        if is_line && !is_upper {
            command.action = Action::WholeLines;
            command.force = Some(VisualShape::Chars);
        }
        let pair = surround::pair(self)?;
        command.operator = Some(Operator::Surround {
            pair,
            on_lines: is_upper,
        });
        Ok(())
    }

    fn exchange_operand(&mut self, command: &mut NormalCommand) -> Read<()> {
        let key = self.forced_prefix(command)?;
        match key {
            Key::Char('c') => command.action = Action::ClearExchange,
            _ => {
                command.operator = Some(Operator::Exchange);
                command.action = if key == Key::Char('x') {
                    Action::WholeLines
                } else {
                    self.target(key)?
                };
            }
        }
        Ok(())
    }
}

/// Multiplies two counts; a missing one counts as 1.
fn product(first: Option<u32>, second: Option<u32>) -> Option<u32> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first.saturating_mul(second).min(MAX_COUNT)),
        (first, second) => second.or(first),
    }
}

/// The meaning of a key after an operator that takes no text.
enum SpecialOperand {
    Action(Action),
    /// `ys`: a text and a pair follow.
    Operator {
        is_upper: bool,
    },
    /// `cx`: a text follows.
    Exchange,
}
