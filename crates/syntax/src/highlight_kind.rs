//! Highlight kinds, named by queries and styled by themes.
//!
//! Knows nothing of grammars: queries name kinds, themes style kinds, and both use the names here.
//! Invariant: `name` and `named` are inverse for every kind.

mod tokens;

use base::Span;

/// Declares the kinds with their dotted names, in one place.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal,)+) => {
        /// Kind of a piece of text. A theme without a style for a kind falls back along the dots of
        /// its name: `function.method` uses the style of `function`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum HighlightKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        const ALL: &[HighlightKind] = &[$(HighlightKind::$kind),+];

        impl HighlightKind {
            /// The dotted name that themes and queries use. // tidy: table
            pub fn name(self) -> &'static str {
                match self {
                    $(HighlightKind::$kind => $name,)+
                }
            }
        }
    };
}

kinds! {
    /// An attribute, annotation or decorator; an attribute of a tag.
    Attribute = "attribute",
    /// The literals `true` and `false`.
    Boolean = "boolean",
    /// A line or block comment.
    Comment = "comment",
    /// A comment that holds documentation.
    CommentDoc = "comment.doc",
    /// A constant with a name.
    Constant = "constant",
    /// A constant of the language, such as `null`.
    ConstantBuiltin = "constant.builtin",
    /// A constructor: an enum variant, an instantiated class.
    Constructor = "constructor",
    /// A line that a diff adds.
    DiffAdded = "diff.added",
    /// A line that a diff takes away.
    DiffRemoved = "diff.removed",
    /// The head of a file or hunk in a diff.
    DiffHeader = "diff.header",
    /// Code inside a string: an interpolation.
    Embedded = "embedded",
    /// Emphasised text in prose.
    Emphasis = "emphasis",
    /// Strongly emphasised text in prose.
    EmphasisStrong = "emphasis.strong",
    /// Prose that is struck through.
    EmphasisStrikethrough = "emphasis.strikethrough",
    /// Text that the grammar marks as invalid.
    Error = "error",
    /// A function that is called.
    Function = "function",
    /// A function of the language itself.
    FunctionBuiltin = "function.builtin",
    /// The name of a function where it is defined.
    FunctionDefinition = "function.definition",
    /// A macro invocation or definition.
    FunctionMacro = "function.macro",
    /// A method of a type.
    FunctionMethod = "function.method",
    /// A keyword without a more specific kind.
    Keyword = "keyword",
    /// A control-flow keyword: `if`, `return`, `for`.
    KeywordControl = "keyword.control",
    /// A keyword that names other modules: `import`, `use`.
    KeywordImport = "keyword.import",
    /// A keyword that is an operator: `and`, `in`, `typeof`.
    KeywordOperator = "keyword.operator",
    /// A directive to a preprocessor.
    KeywordDirective = "keyword.directive",
    /// A label, a lifetime, an anchor.
    Label = "label",
    /// The text of a link.
    LinkText = "link.text",
    /// The target of a link.
    LinkUri = "link.uri",
    /// Verbatim text in prose: code in Markdown.
    Literal = "literal",
    /// A module, package or namespace.
    Module = "module",
    /// A number of any base.
    Number = "number",
    /// An operator such as `+`.
    Operator = "operator",
    /// A field, a key of a mapping.
    Property = "property",
    /// Punctuation of no other kind.
    Punctuation = "punctuation",
    /// A bracket of any kind.
    PunctuationBracket = "punctuation.bracket",
    /// A separator such as a comma.
    PunctuationDelimiter = "punctuation.delimiter",
    /// Special punctuation: list markers, `${`.
    PunctuationSpecial = "punctuation.special",
    /// A string or character literal.
    String = "string",
    /// An escape in a string.
    StringEscape = "string.escape",
    /// A regular expression literal.
    StringRegex = "string.regex",
    /// A string of a special kind: a colour, a date, a symbol.
    StringSpecial = "string.special",
    /// The name of a tag.
    Tag = "tag",
    /// A heading in prose.
    Title = "title",
    /// The name of a type.
    Type = "type",
    /// A built-in type of the language.
    TypeBuiltin = "type.builtin",
    /// The name of a variable.
    Variable = "variable",
    /// A built-in variable of the language, such as `self`.
    VariableBuiltin = "variable.builtin",
    /// A parameter of a function.
    VariableParameter = "variable.parameter",
}

impl HighlightKind {
    /// Every kind, in the order of its name.
    pub fn all() -> &'static [HighlightKind] {
        ALL
    }

    /// Returns the kind with exactly this name. Returns `None` if the name is unknown.
    pub fn named(name: &str) -> Option<HighlightKind> {
        ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns the kind of a query's capture: its name, an alias used by other query collections,
    /// or the name without its last parts. Returns `None` if all of these are unknown.
    pub(crate) fn of_capture(capture: &str) -> Option<HighlightKind> {
        let mut name = capture;
        loop {
            if let Some(kind) = HighlightKind::named(name).or_else(|| alias(name)) {
                return Some(kind);
            }
            name = name.rsplit_once('.')?.0;
        }
    }
}

/// Names that the grammars' own queries use for our kinds. // tidy: table
fn alias(name: &str) -> Option<HighlightKind> {
    Some(match name {
        "comment.documentation" => HighlightKind::CommentDoc,
        "conditional"
        | "repeat"
        | "exception"
        | "keyword.return"
        | "keyword.conditional"
        | "keyword.repeat"
        | "keyword.exception"
        | "keyword.coroutine" => HighlightKind::KeywordControl,
        "include" | "import" => HighlightKind::KeywordImport,
        "constant.macro" => HighlightKind::Constant,
        "delimiter" => HighlightKind::PunctuationDelimiter,
        "escape" => HighlightKind::StringEscape,
        "field" | "string.special.key" => HighlightKind::Property,
        "float" => HighlightKind::Number,
        "function.call" => HighlightKind::Function,
        "function.special" => HighlightKind::FunctionMacro,
        "keyframes" | "media" | "supports" | "charset" | "storageclass" | "type.qualifier" => {
            HighlightKind::Keyword
        }
        "method" | "method.call" => HighlightKind::FunctionMethod,
        "namespace" => HighlightKind::Module,
        "parameter" => HighlightKind::VariableParameter,
        "preproc" => HighlightKind::KeywordDirective,
        "string.regexp" | "string.special.regex" => HighlightKind::StringRegex,
        "tag.error" => HighlightKind::Error,
        "text.danger" | "text.warning" | "text.note" => HighlightKind::String,
        "text.literal" => HighlightKind::Literal,
        "text.title" => HighlightKind::Title,
        "text.uri" => HighlightKind::LinkUri,
        "text.reference" => HighlightKind::LinkText,
        "text.emphasis" => HighlightKind::Emphasis,
        "text.strong" => HighlightKind::EmphasisStrong,
        _ => return None,
    })
}

/// A span of text with a highlight kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Bytes of the text.
    pub span: Span,
    /// Highlight of the span.
    pub kind: HighlightKind,
}

#[cfg(test)]
mod tests;
