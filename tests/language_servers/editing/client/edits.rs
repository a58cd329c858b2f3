//! Edits that servers return: renames, fixes, source actions, formatting.

use base::{ByteOffset, Span};
use futures::FutureExt as _;
use lsp::{
    CodeAction, FormatOptions, LanguageServer, ServerCommand, WorkspaceEdit, WorkspaceOperation,
};
use text::{Buffer, Edit, EditOrigin, Snapshot, Timestamp};

use super::super::super::PATIENCE;
use super::Client;

const FORMAT: FormatOptions = FormatOptions {
    tab_size: 4,
    inserts_spaces: true,
};

impl Client {
    /// Renames the symbol at the first `place`.
    pub(crate) fn rename(&mut self, name: &str, place: &str, new: &str) {
        let at = ByteOffset(self.find(name, place));
        let edit = self.ask(
            name,
            "the rename",
            |server, path| server.rename(path, at, new),
            |_, edit| (!edit.operations.is_empty()).then_some(edit),
        );
        self.apply(&edit);
    }

    /// Applies the first fix at the first `place` whose title contains `title`.
    pub(crate) fn fix(&mut self, name: &str, place: &str, title: &str) {
        let at = self.find(name, place);
        self.act(name, Span::from(at..at + place.len()), &[], |action| {
            action
                .kind
                .as_deref()
                .is_some_and(|kind| kind.starts_with("quickfix"))
                && action.title.contains(title)
        });
    }

    /// Applies the first action of a kind for a whole text.
    pub(crate) fn source_action(&mut self, name: &str, kind: &str) {
        let span = self.snapshot(name).full_span();
        self.act(name, span, &[kind], |action| {
            action
                .kind
                .as_deref()
                .is_some_and(|it| it.starts_with(kind))
        });
    }

    /// Formats a text. Asks again until it contains `expected` then: a server that is loading returns no edits.
    pub(crate) fn format(&mut self, name: &str, expected: &str) {
        let before = self.text(name);
        let edits = self.ask(
            name,
            "the formatting",
            |server, path| server.format(path, FORMAT),
            |_, formatted| {
                let edits = formatted.edits.into_iter();
                let edits: Vec<Edit> = edits.map(|(span, text)| Edit::new(span, text)).collect();
                let mut after = Buffer::new(&before);
                after.edit(&edits, &EditOrigin::user(Timestamp(0)));
                let after = after.snapshot().to_string();
                after.contains(expected).then_some(edits)
            },
        );
        self.edit(name, &edits);
    }

    fn act(
        &mut self,
        name: &str,
        span: Span,
        only: &[&str],
        is_wanted: impl Fn(&CodeAction) -> bool,
    ) {
        let (server, action) = self.ask(
            name,
            "the action",
            |server, path| server.code_actions(path, span, only),
            |server, actions| {
                let action = actions.into_iter().find(&is_wanted)?;
                let resolved = match server.resolve_code_action(&action) {
                    Some(request) if action.needs_resolve() => request.wait(PATIENCE).ok()?,
                    _ => action,
                };
                // A server that is loading resolves to nothing.
                let has_effect = resolved.edit.is_some() || resolved.command.is_some();
                has_effect.then(|| (server.clone(), resolved))
            },
        );
        if let Some(edit) = &action.edit {
            self.apply(edit);
        }
        if let Some(command) = &action.command {
            self.execute(&server, command);
        }
    }

    /// Executes a command, if it is one of the server's, and applies the edits that the server asks for meanwhile.
    fn execute(&mut self, server: &LanguageServer, command: &ServerCommand) {
        let Some(mut request) = server.execute_command(command) else {
            return;
        };
        loop {
            let (edits, answer) = self.until("the end of the command", || {
                let answer = (&mut request).now_or_never();
                let edits = self.servers.take_changes().edits;
                (!edits.is_empty() || answer.is_some()).then_some((edits, answer))
            });
            for edit in edits {
                self.apply(edit.edit());
                edit.accept();
            }
            if let Some(answer) = answer {
                return answer.expect("executed");
            }
        }
    }

    fn apply(&mut self, edit: &WorkspaceEdit) {
        for operation in &edit.operations {
            let WorkspaceOperation::Edit(edit) = operation else {
                panic!("an operation on files");
            };
            let name = self.name_of(&edit.path);
            let text = Snapshot::new(&self.text(&name));
            let edits = edit.spans(&text).expect("edits").edits.into_iter();
            let edits: Vec<Edit> = edits.map(|(span, new)| Edit::new(span, new)).collect();
            if self.buffers.contains_key(&name) {
                self.edit(&name, &edits);
                continue;
            }
            let mut buffer = Buffer::from_snapshot(text);
            buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
            self.write(&name, &buffer.snapshot().to_string());
        }
    }
}
