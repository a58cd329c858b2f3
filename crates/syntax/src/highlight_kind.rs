//! What a piece of text is, as themes colour it.
//!
//! Knows nothing of grammars: queries name kinds, themes colour kinds, and both use the names here.
//! Invariant: `name` and `named` are inverse for every kind.

/// Declares the kinds with their dotted names, in one place.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal,)+) => {
        /// What a piece of text is. A theme that lacks a kind falls back along the dots of its
        /// name: `function.method` is coloured as `function`.
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
    /// `true` and `false`.
    Boolean = "boolean",
    /// A comment.
    Comment = "comment",
    /// A comment that is documentation.
    CommentDoc = "comment.doc",
    /// A named constant.
    Constant = "constant",
    /// A constant of the language, such as `null`.
    ConstantBuiltin = "constant.builtin",
    /// What makes a value: an enum variant, a class that is called.
    Constructor = "constructor",
    /// A line that a diff adds.
    DiffAdded = "diff.added",
    /// A line that a diff takes away.
    DiffRemoved = "diff.removed",
    /// The head of a file or hunk in a diff.
    DiffHeader = "diff.header",
    /// Code inside a string: an interpolation.
    Embedded = "embedded",
    /// Emphasised prose.
    Emphasis = "emphasis",
    /// Strongly emphasised prose.
    EmphasisStrong = "emphasis.strong",
    /// Prose that is struck through.
    EmphasisStrikethrough = "emphasis.strikethrough",
    /// What the grammar marks as wrong.
    Error = "error",
    /// A function that is called.
    Function = "function",
    /// A function of the language itself.
    FunctionBuiltin = "function.builtin",
    /// The name of a function where it is defined.
    FunctionDefinition = "function.definition",
    /// A macro.
    FunctionMacro = "function.macro",
    /// A method.
    FunctionMethod = "function.method",
    /// A keyword.
    Keyword = "keyword",
    /// A keyword that steers the flow: `if`, `return`, `for`.
    KeywordControl = "keyword.control",
    /// A keyword that names other modules: `import`, `use`.
    KeywordImport = "keyword.import",
    /// A keyword that is an operator: `and`, `in`, `typeof`.
    KeywordOperator = "keyword.operator",
    /// A directive to a preprocessor.
    KeywordDirective = "keyword.directive",
    /// A label, a lifetime, an anchor.
    Label = "label",
    /// The words of a link.
    LinkText = "link.text",
    /// The target of a link.
    LinkUri = "link.uri",
    /// Prose that stands as it is: code in Markdown.
    Literal = "literal",
    /// A module, package or namespace.
    Module = "module",
    /// A number.
    Number = "number",
    /// An operator.
    Operator = "operator",
    /// A field, a key of a mapping.
    Property = "property",
    /// Punctuation of no other kind.
    Punctuation = "punctuation",
    /// A bracket.
    PunctuationBracket = "punctuation.bracket",
    /// A separator.
    PunctuationDelimiter = "punctuation.delimiter",
    /// Punctuation with a meaning of its own: list markers, `${`.
    PunctuationSpecial = "punctuation.special",
    /// A string.
    String = "string",
    /// An escape in a string.
    StringEscape = "string.escape",
    /// A regular expression.
    StringRegex = "string.regex",
    /// A string of a special kind: a colour, a date, a symbol.
    StringSpecial = "string.special",
    /// The name of a tag.
    Tag = "tag",
    /// A heading.
    Title = "title",
    /// A type.
    Type = "type",
    /// A type of the language itself.
    TypeBuiltin = "type.builtin",
    /// A variable.
    Variable = "variable",
    /// A variable of the language itself, such as `self`.
    VariableBuiltin = "variable.builtin",
    /// A parameter.
    VariableParameter = "variable.parameter",
}

impl HighlightKind {
    /// Every kind, in the order of its name.
    pub fn all() -> &'static [HighlightKind] {
        ALL
    }

    /// The kind of exactly this name.
    pub fn named(name: &str) -> Option<HighlightKind> {
        ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The kind that a query's capture stands for: its name, an alias of other query collections,
    /// or the name with its last parts cut off.
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

#[cfg(test)]
mod tests;
