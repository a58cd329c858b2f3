//! Kinds of the semantic tokens that language servers report.

use super::HighlightKind;

/// Types of tokens, with the modifiers that a token must have and the kind of its text; the first match counts.
/// A type without a row keeps the colour of the grammar.
const TOKENS: &[(&str, &[&str], HighlightKind)] = &[
    ("attribute", &[], HighlightKind::Attribute),
    ("boolean", &[], HighlightKind::Boolean),
    ("builtinAttribute", &[], HighlightKind::Attribute),
    ("builtinType", &[], HighlightKind::TypeBuiltin),
    ("character", &[], HighlightKind::String),
    ("class", &[], HighlightKind::Type),
    ("clsParameter", &[], HighlightKind::VariableBuiltin),
    ("comment", &["documentation"], HighlightKind::CommentDoc),
    ("comment", &[], HighlightKind::Comment),
    ("concept", &[], HighlightKind::Type),
    ("const", &[], HighlightKind::Constant),
    ("constParameter", &[], HighlightKind::Constant),
    ("decorator", &[], HighlightKind::Attribute),
    ("derive", &[], HighlightKind::Attribute),
    ("deriveHelper", &[], HighlightKind::Attribute),
    ("enum", &[], HighlightKind::Type),
    ("enumMember", &[], HighlightKind::Constructor),
    ("escapeSequence", &[], HighlightKind::StringEscape),
    ("event", &[], HighlightKind::Property),
    ("formatSpecifier", &[], HighlightKind::StringEscape),
    (
        "function",
        &["declaration"],
        HighlightKind::FunctionDefinition,
    ),
    (
        "function",
        &["definition"],
        HighlightKind::FunctionDefinition,
    ),
    ("function", &[], HighlightKind::Function),
    ("generic", &[], HighlightKind::Type),
    ("interface", &[], HighlightKind::Type),
    ("keyword", &[], HighlightKind::Keyword),
    ("label", &[], HighlightKind::Label),
    ("lifetime", &[], HighlightKind::Label),
    ("macro", &[], HighlightKind::FunctionMacro),
    ("macroBang", &[], HighlightKind::FunctionMacro),
    ("member", &[], HighlightKind::FunctionMethod),
    (
        "method",
        &["declaration"],
        HighlightKind::FunctionDefinition,
    ),
    ("method", &["definition"], HighlightKind::FunctionDefinition),
    ("method", &[], HighlightKind::FunctionMethod),
    ("modifier", &[], HighlightKind::Keyword),
    ("module", &[], HighlightKind::Module),
    ("namespace", &[], HighlightKind::Module),
    ("number", &[], HighlightKind::Number),
    ("operator", &[], HighlightKind::Operator),
    ("parameter", &[], HighlightKind::VariableParameter),
    ("procMacro", &[], HighlightKind::FunctionMacro),
    ("property", &["readonly", "static"], HighlightKind::Constant),
    ("property", &[], HighlightKind::Property),
    ("regexp", &[], HighlightKind::StringRegex),
    ("selfKeyword", &[], HighlightKind::VariableBuiltin),
    ("selfParameter", &[], HighlightKind::VariableBuiltin),
    ("selfTypeKeyword", &[], HighlightKind::TypeBuiltin),
    ("static", &[], HighlightKind::Constant),
    ("string", &[], HighlightKind::String),
    ("struct", &[], HighlightKind::Type),
    ("toolModule", &[], HighlightKind::Module),
    ("trait", &[], HighlightKind::Type),
    ("type", &[], HighlightKind::Type),
    ("typeAlias", &[], HighlightKind::Type),
    ("typeParameter", &[], HighlightKind::Type),
    ("union", &[], HighlightKind::Type),
    ("variable", &["readonly", "static"], HighlightKind::Constant),
    ("variable", &[], HighlightKind::Variable),
];

impl HighlightKind {
    /// Returns the kind of a semantic token, given the names of its type and modifiers. Returns `None` if the type
    /// is unknown.
    pub fn of_token(token_type: &str, modifiers: &[&str]) -> Option<HighlightKind> {
        let has = |wanted: &&str| modifiers.contains(wanted);
        let mut rows = TOKENS.iter().filter(|(name, ..)| *name == token_type);
        let row = rows.find(|(_, wanted, _)| wanted.iter().all(has));
        row.map(|(.., kind)| *kind)
    }

    /// Returns the kind of text that has this kind by a semantic token and `grammar` by its tree. The grammar knows
    /// literals and keywords as well as a server does, and often in more detail.
    pub fn over(self, grammar: HighlightKind) -> HighlightKind {
        let is_detail = grammar.name().strip_prefix(self.name());
        let is_detail = is_detail.is_some_and(|rest| rest.starts_with('.'));
        let is_lexical = matches!(
            self,
            HighlightKind::Keyword
                | HighlightKind::String
                | HighlightKind::StringRegex
                | HighlightKind::Number
                | HighlightKind::Boolean
                | HighlightKind::Operator
        );
        if is_detail || is_lexical {
            grammar
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HighlightKind, TOKENS};

    #[test]
    fn a_token_has_the_kind_of_its_type_and_modifiers() {
        let check = |token_type: &str, modifiers: &[&str], expected: Option<HighlightKind>| {
            let kind = HighlightKind::of_token(token_type, modifiers);
            assert_eq!(kind, expected, "{token_type} {modifiers:?}");
        };
        check("function", &["async"], Some(HighlightKind::Function));
        let definition = Some(HighlightKind::FunctionDefinition);
        check("function", &["async", "declaration"], definition);
        check("variable", &["readonly"], Some(HighlightKind::Variable));
        check(
            "variable",
            &["static", "readonly"],
            Some(HighlightKind::Constant),
        );
        check("unresolvedReference", &[], None);
        check("", &["readonly"], None);
    }

    #[test]
    fn every_row_can_match() {
        for (ix, (name, modifiers, kind)) in TOKENS.iter().enumerate() {
            assert_eq!(
                HighlightKind::of_token(name, modifiers),
                Some(*kind),
                "row {ix}"
            );
        }
    }

    #[test]
    fn a_token_replaces_the_grammar_unless_that_knows_more() {
        let check =
            |token: HighlightKind, grammar, expected| assert_eq!(token.over(grammar), expected);
        check(
            HighlightKind::Type,
            HighlightKind::Variable,
            HighlightKind::Type,
        );
        check(
            HighlightKind::Type,
            HighlightKind::TypeBuiltin,
            HighlightKind::TypeBuiltin,
        );
        check(
            HighlightKind::Keyword,
            HighlightKind::KeywordControl,
            HighlightKind::KeywordControl,
        );
        check(
            HighlightKind::String,
            HighlightKind::StringEscape,
            HighlightKind::StringEscape,
        );
        check(
            HighlightKind::Operator,
            HighlightKind::Type,
            HighlightKind::Type,
        );
        check(
            HighlightKind::Comment,
            HighlightKind::Keyword,
            HighlightKind::Comment,
        );
        check(
            HighlightKind::VariableParameter,
            HighlightKind::Variable,
            HighlightKind::VariableParameter,
        );
    }
}
