//! Expands a snippet: its text for one caret, and the ranges of its tab stops in that text.
//!
//! Start at `Snippet::expand`.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use crate::syntax::{Snippet, SnippetPart, StopPart, VariablePart};
use crate::transform::Transform;

/// Maximum size of an expanded text, in bytes; tab stops that repeat a default are empty beyond it.
const MAX_EXPANSION_BYTES: usize = 1 << 20;

/// The surroundings for which a snippet is expanded.
pub struct ExpansionOptions<'a> {
    /// Indentation of the row of the caret; each further row starts with it.
    pub indent: &'a str,
    /// One level of indentation; replaces the tabs at the start of a row of the snippet.
    pub indent_unit: &'a str,
    /// The line ending of the text.
    pub line_ending: &'a str,
    /// Returns the value of a variable; `None` for an unknown one.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// The text of a snippet with its tab stops.
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    /// The text.
    pub text: String,
    /// The tab stops in the order in which they are visited, the final one last.
    pub stops: Vec<TabStop>,
}

/// All occurrences of a tab stop.
#[derive(Clone, Debug)]
pub struct TabStop {
    /// Number of the tab stop; 0 is the final one.
    pub number: u32,
    /// The texts to choose from; empty unless the tab stop is a choice.
    pub choices: Vec<String>,
    /// The occurrences, ordered by their start.
    pub occurrences: Vec<StopOccurrence>,
}

/// One occurrence of a tab stop.
#[derive(Clone, Debug)]
pub struct StopOccurrence {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Numbers of the tab stops whose defaults contain it.
    pub(crate) inside: Vec<u32>,
    /// Replaces the typed text when the tab stop is left.
    pub(crate) transform: Option<Transform>,
}

impl Snippet {
    /// Expands the snippet. A text without a final tab stop gets one at its end.
    pub fn expand(&self, options: &ExpansionOptions) -> Expansion {
        let mut defaults = Defaults::default();
        defaults.collect(&self.parts);
        let mut writer = Writer::new(options, &defaults, Vec::new());
        writer.write(&self.parts);
        writer.finish()
    }
}

/// The defaults of the tab stops.
#[derive(Default)]
struct Defaults<'a> {
    /// The occurrence that defines the text of each tab stop.
    parts: HashMap<u32, &'a StopPart>,
    /// The texts known so far. Without them, tab stops that repeat each other would take exponential
    /// time.
    texts: RefCell<HashMap<u32, Rc<str>>>,
}

impl<'a> Defaults<'a> {
    fn collect(&mut self, parts: &'a [SnippetPart]) {
        for part in parts {
            match part {
                SnippetPart::Text(_) => {}
                SnippetPart::Stop(stop) => {
                    if stop.has_default() {
                        self.parts.entry(stop.number).or_insert(stop);
                    }
                    self.collect(&stop.default);
                }
                SnippetPart::Variable(variable) => self.collect(&variable.default),
            }
        }
    }

    /// Returns the text of a tab stop's default, without its tab stops.
    fn text(&self, stop: &'a StopPart, options: &ExpansionOptions, inside: &[u32]) -> Rc<str> {
        if let Some(text) = self.texts.borrow().get(&stop.number) {
            return text.clone();
        }
        let mut writer = Writer::new(options, self, inside.to_vec());
        writer.write_default(stop);
        let text: Rc<str> = writer.text.into();
        self.texts.borrow_mut().insert(stop.number, text.clone());
        text
    }
}

struct Writer<'a, 'b> {
    options: &'b ExpansionOptions<'b>,
    defaults: &'b Defaults<'a>,
    text: String,
    stops: BTreeMap<u32, TabStop>,
    /// Numbers of the tab stops whose default is being written.
    inside: Vec<u32>,
}

impl<'a, 'b> Writer<'a, 'b> {
    fn new(options: &'b ExpansionOptions, defaults: &'b Defaults<'a>, inside: Vec<u32>) -> Self {
        Self {
            options,
            defaults,
            text: String::new(),
            stops: BTreeMap::new(),
            inside,
        }
    }

    fn write(&mut self, parts: &'a [SnippetPart]) {
        for part in parts {
            match part {
                SnippetPart::Text(text) => self.write_text(text),
                SnippetPart::Stop(stop) => self.write_stop(stop),
                SnippetPart::Variable(variable) => self.write_variable(variable),
            }
        }
    }

    /// Writes text with the indentation and the line endings of the caret's row.
    fn write_text(&mut self, text: &str) {
        for (ix, row) in text.split('\n').enumerate() {
            if ix > 0 {
                self.text.push_str(self.options.line_ending);
                self.text.push_str(self.options.indent);
            }
            let row = row.strip_suffix('\r').unwrap_or(row);
            let body = row.trim_start_matches('\t');
            if ix > 0 || self.text.is_empty() {
                let tabs = row.len() - body.len();
                self.text.push_str(&self.options.indent_unit.repeat(tabs));
                self.text.push_str(body);
            } else {
                self.text.push_str(row);
            }
        }
    }

    fn write_stop(&mut self, stop: &'a StopPart) {
        let start = self.text.len();
        let defining = self.defaults.parts.get(&stop.number).copied();
        let is_defining = defining.is_some_and(|defining| std::ptr::eq(defining, stop));
        let inside = self.inside.clone();
        // A tab stop inside of its own default is empty.
        if let Some(defining) = defining.filter(|_| !inside.contains(&stop.number)) {
            self.inside.push(stop.number);
            if is_defining {
                self.write_default(defining);
            } else {
                self.write_repeated(defining, stop.transform.as_ref());
            }
            self.inside.pop();
        }
        let entry = self.stops.entry(stop.number).or_insert_with(|| TabStop {
            number: stop.number,
            choices: Vec::new(),
            occurrences: Vec::new(),
        });
        if is_defining {
            entry.choices.clone_from(&stop.choices);
        }
        entry.occurrences.push(StopOccurrence {
            range: start..self.text.len(),
            inside,
            transform: stop.transform.clone(),
        });
    }

    fn write_default(&mut self, stop: &'a StopPart) {
        match stop.choices.first() {
            Some(choice) => self.write_text(choice),
            None => self.write(&stop.default),
        }
    }

    /// Writes the text that another occurrence of a tab stop defines.
    fn write_repeated(&mut self, defining: &'a StopPart, transform: Option<&Transform>) {
        let text = self.defaults.text(defining, self.options, &self.inside);
        if self.text.len() + text.len() <= MAX_EXPANSION_BYTES {
            match transform {
                Some(transform) => self.text.push_str(&transform.apply(&text)),
                None => self.text.push_str(&text),
            }
        }
    }

    fn write_variable(&mut self, variable: &'a VariablePart) {
        match (self.options.variable)(&variable.name) {
            Some(value) if !value.is_empty() => {
                let transform = variable.transform.as_ref();
                let value = transform.map(|it| it.apply(&value)).unwrap_or(value);
                self.write_text(&value);
            }
            _ => self.write(&variable.default),
        }
    }

    fn finish(mut self) -> Expansion {
        let last = self.stops.remove(&0).unwrap_or_else(|| TabStop {
            number: 0,
            choices: Vec::new(),
            occurrences: vec![StopOccurrence {
                range: self.text.len()..self.text.len(),
                inside: Vec::new(),
                transform: None,
            }],
        });
        let mut stops: Vec<TabStop> = self.stops.into_values().collect();
        stops.push(last);
        for stop in &mut stops {
            stop.occurrences.sort_by_key(|it| it.range.start);
        }
        Expansion {
            text: self.text,
            stops,
        }
    }
}

#[cfg(test)]
mod tests;
