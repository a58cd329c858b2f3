//! Definitions in a text: enumerations with variants, structures with fields, functions with
//! parameters.

use base::Revision;
use syntax::{DefinedField, Definition, Outline, OutlineKind};

use crate::EditorState;

/// The enums, structs and functions defined in a text, with their members. A name that is defined
/// twice is ambiguous and left out. Looked up in the outline of the document.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileDefinitions {
    pub(crate) revision: Revision,
    /// `None` without a syntax tree.
    outline: Option<Outline>,
}

impl FileDefinitions {
    /// Reads the definitions of a text from its syntax tree. Without a tree, the result is empty.
    /// The first time for a text, takes time proportional to the text.
    pub(crate) fn of(state: &EditorState) -> Self {
        let syntax = state.syntax.as_ref();
        Self {
            revision: state.snapshot.revision(),
            outline: syntax.map(|syntax| syntax.shared_outline(&state.snapshot)),
        }
    }

    /// Returns the variants of the enum `name`. Returns `None` if the name is unknown or ambiguous.
    pub(crate) fn variants(&self, name: &str) -> Option<&[DefinedField]> {
        let definition = self.definition(name)?;
        (definition.kind == OutlineKind::Enum).then_some(definition.fields.as_slice())
    }

    /// Returns the fields of the struct `name`. Returns `None` if the name is unknown or ambiguous.
    pub(crate) fn fields(&self, name: &str) -> Option<&[DefinedField]> {
        let definition = self.definition(name)?;
        (definition.kind == OutlineKind::Struct).then_some(definition.fields.as_slice())
    }

    /// Returns the names of the parameters of the function `name`. Returns `None` if the name is
    /// unknown or ambiguous.
    pub(crate) fn parameters(&self, name: &str) -> Option<&[String]> {
        let definition = self.definition(name)?;
        let is_function = matches!(definition.kind, OutlineKind::Function | OutlineKind::Method);
        is_function.then_some(definition.parameters.as_slice())
    }

    fn definition(&self, name: &str) -> Option<&Definition> {
        self.outline.as_ref()?.definition(name)
    }
}
