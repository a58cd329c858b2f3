//! What a word of the code is: its kind of node, the part it plays, and the definition it is bound to.
//!
//! Told from the shape of the tree alone, by what grammars have in common in naming nodes and fields; no types are
//! known. Limitations: names that a macro makes, and what an import brings under another name, are not seen.

use base::{ByteOffset, Span};
use text::Snapshot;
use tree_sitter::{Node, TreeCursor};

use crate::grammar::Roles;
use crate::snapshot::{SyntaxSnapshot, View};

/// The part that a word or sign plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenRole {
    /// A name that is made known here: a variable, a parameter.
    Binding,
    /// A value that is used: an operand, an argument, a receiver.
    Variable,
    /// The name of a function, where it is defined or called.
    Function,
    /// The name of a field or method behind a receiver, a key, a keyword argument.
    Member,
    /// The name of a type.
    Type,
    /// A name in an import.
    Import,
    /// A number, a boolean, a null.
    Literal,
    /// Text in a string.
    String,
    /// Text in a comment.
    Comment,
    /// A word of the language, or a sign.
    Fixed,
    /// Anything else.
    Other,
}

/// A leaf of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxToken {
    /// Its bytes.
    pub span: Span,
    /// The number of its kind in its grammar.
    pub kind: u16,
    /// The part it plays.
    pub role: TokenRole,
}

/// A node with a name in the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxNode {
    /// Its bytes.
    pub span: Span,
    /// The number of its kind in its grammar.
    pub kind: u16,
    /// The name of its kind in its grammar.
    pub name: &'static str,
}

/// What a name is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameBinding {
    /// The function, block or loop that the name is known in.
    pub scope: Span,
    /// Where it is defined; the start of the scope in languages where a scope has one variable of a name.
    pub definition: ByteOffset,
}

/// The most nodes that are looked at for the definitions of one scope.
const MOST_NODES: usize = 4000;

impl SyntaxSnapshot {
    /// The leaf that holds the byte at `offset`. `None` between leaves and without a tree.
    pub fn token_at(&self, text: &Snapshot, offset: ByteOffset) -> Option<SyntaxToken> {
        let views = self.views_at(text, offset);
        let view = views.last()?;
        let path = Path::to(view, offset.0.checked_sub(view.shift)?);
        let leaf = path.steps.last()?.node;
        let role = path.role(view);
        // Comments are not cut further, though they may have a first token of their own.
        let is_text = matches!(role, TokenRole::Comment | TokenRole::String);
        if leaf.child_count() > 0 && !is_text {
            return None;
        }
        let token = SyntaxToken {
            span: view.span(leaf),
            kind: leaf.kind_id(),
            role,
        };
        (token.span.end <= text.len()).then_some(token)
    }

    /// The named nodes that hold all of a span, the smallest first, at most so many.
    pub fn nodes_around(&self, text: &Snapshot, span: Span, most: usize) -> Vec<SyntaxNode> {
        let views = self.views_at(text, span.start);
        let Some(view) = views.last() else {
            return Vec::new();
        };
        let (Some(start), Some(end)) = (
            span.start.0.checked_sub(view.shift),
            span.end.0.checked_sub(view.shift),
        ) else {
            return Vec::new();
        };
        let path = crate::nodes::path_around(view.root(), start, end.max(start + 1));
        let named = path.into_iter().rev().filter(|node| node.is_named());
        named
            .map(|node| SyntaxNode {
                span: view.span(node),
                kind: node.kind_id(),
                name: node.kind(),
            })
            .filter(|node| node.span.end <= text.len() && node.span.covers(span))
            .take(most)
            .collect()
    }

    /// What a use of one of `names` at `offset` is bound to. `None` when nothing around defines it: it is then a name
    /// of the whole file or of another one.
    ///
    /// Several names are asked for together while a name is being changed: some places have the old, some the new.
    pub fn binding(
        &self,
        text: &Snapshot,
        offset: ByteOffset,
        names: &[&str],
    ) -> Option<NameBinding> {
        let views = self.views_at(text, offset);
        let view = views.last()?;
        let at = offset.0.checked_sub(view.shift)?;
        let path = Path::to(view, at);
        let is_name = |node: Node<'_>| {
            let span = view.span(node);
            span.end <= text.len() && names.iter().any(|name| text.text(span) == **name)
        };
        let shadows = matches!(view.language.name(), "Rust");
        // The name of a function is known outside of it.
        let inner = path.steps.len() - usize::from(path.names_its_parent());
        for step in path.steps[..inner].iter().rev() {
            if !is_scope(view, step.node.kind()) {
                continue;
            }
            let found = definitions(view, step.node, &is_name);
            let definition = match shadows {
                true => found.iter().rfind(|it| it.holds_at(at)).map(|it| it.start),
                false => found.first().map(|_| step.node.start_byte()),
            };
            if let Some(definition) = definition {
                return Some(NameBinding {
                    scope: view.span(step.node),
                    definition: ByteOffset(definition + view.shift),
                });
            }
        }
        None
    }

    /// The names of the parameters of the function that is defined in `span`, in order.
    pub fn parameters(&self, text: &Snapshot, span: Span) -> Vec<String> {
        let views = self.views_at(text, span.start);
        let Some(view) = views.last() else {
            return Vec::new();
        };
        let Some(start) = span.start.0.checked_sub(view.shift) else {
            return Vec::new();
        };
        let path = crate::nodes::path_around(view.root(), start, start + span.len());
        let list = path
            .into_iter()
            .rev()
            .find_map(|node| node.child_by_field_name("parameters"));
        let Some(list) = list else {
            return Vec::new();
        };
        let mut cursor = list.walk();
        let names = list
            .named_children(&mut cursor)
            .take(64)
            .filter_map(|child| parameter_name(child))
            .map(|node| text.text(view.span(node)).into_owned());
        names.collect()
    }
}

/// The first name in a parameter.
fn parameter_name(parameter: Node<'_>) -> Option<Node<'_>> {
    if parameter.kind() == "identifier" {
        return Some(parameter);
    }
    let field = ["name", "pattern", "left"]
        .iter()
        .find_map(|field| parameter.child_by_field_name(field));
    let first = field.or_else(|| parameter.named_child(0))?;
    (first.kind() == "identifier").then_some(first)
}

impl View<'_> {
    pub(crate) fn span(&self, node: Node<'_>) -> Span {
        Span::from(node.start_byte() + self.shift..node.end_byte() + self.shift)
    }
}

/// The way from the root to a leaf, with the field that each node is in its parent.
struct Path<'t> {
    steps: Vec<Step<'t>>,
}

#[derive(Clone, Copy)]
struct Step<'t> {
    node: Node<'t>,
    field: &'static str,
}

impl<'t> Path<'t> {
    fn to(view: &'t View<'_>, offset: usize) -> Self {
        let mut cursor = view.root().walk();
        let mut steps = vec![Step {
            node: cursor.node(),
            field: "",
        }];
        while cursor.goto_first_child_for_byte(offset).is_some() {
            let node = cursor.node();
            if node.start_byte() > offset || node.end_byte() <= offset {
                break;
            }
            steps.push(Step {
                node,
                field: cursor.field_name().unwrap_or(""),
            });
        }
        Self { steps }
    }

    /// Whether the leaf is the name of the function that it stands in.
    fn names_its_parent(&self) -> bool {
        let [.., parent, leaf] = self.steps.as_slice() else {
            return false;
        };
        leaf.field == "name" && is_function(parent.node.kind())
    }

    fn role(&self, view: &View<'_>) -> TokenRole {
        let grammar = view.language.grammar();
        for step in self.steps.iter().rev() {
            let roles = grammar.roles(step.node);
            if roles.has(Roles::EMBEDDED) {
                break;
            }
            if roles.has(Roles::COMMENT) {
                return TokenRole::Comment;
            }
            if roles.has(Roles::STRING) {
                return TokenRole::String;
            }
        }
        let at = |back: usize| {
            let ix = self.steps.len().checked_sub(back + 1)?;
            self.steps.get(ix).copied()
        };
        let Some(leaf) = at(0) else {
            return TokenRole::Other;
        };
        let is_import = self.steps.iter().any(|step| is_import(step.node.kind()));
        match leaf.node.is_named() {
            false => TokenRole::Fixed,
            true if is_import => TokenRole::Import,
            true => role_of(leaf, at(1), at(2)),
        }
    }
}

fn is_import(kind: &str) -> bool {
    kind.contains("import") || matches!(kind, "use_declaration" | "preproc_include")
}

fn is_function(kind: &str) -> bool {
    ["function", "method", "constructor", "closure", "lambda"]
        .iter()
        .any(|part| kind.contains(part))
        && !kind.ends_with("_type")
        && !kind.ends_with("parameters")
        && !kind.ends_with("declarator")
        && !kind.ends_with("invocation")
        && !kind.ends_with("modifiers")
}

fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "call"
            | "call_expression"
            | "method_invocation"
            | "macro_invocation"
            | "new_expression"
            | "generic_function"
            | "function_call"
            | "command"
    )
}

fn role_of(leaf: Step<'_>, parent: Option<Step<'_>>, grand: Option<Step<'_>>) -> TokenRole {
    let kind = leaf.node.kind();
    if kind.contains("type_identifier") || matches!(kind, "primitive_type" | "predefined_type") {
        return TokenRole::Type;
    }
    if kind == "shorthand_property_identifier_pattern" {
        return TokenRole::Binding;
    }
    if ["field_identifier", "property_identifier"]
        .iter()
        .any(|part| kind.contains(part))
    {
        return TokenRole::Member;
    }
    const LITERALS: [&str; 9] = [
        "integer", "float", "number", "true", "false", "null", "none", "nil", "boolean",
    ];
    if LITERALS.iter().any(|part| kind.contains(part)) {
        return TokenRole::Literal;
    }
    if !kind.contains("identifier")
        && !matches!(kind, "constant" | "name" | "word" | "variable_name")
    {
        return TokenRole::Other;
    }
    let Some(parent) = parent else {
        return TokenRole::Other;
    };
    let grand_kind = grand.map_or("", |grand| grand.node.kind());
    name_role(leaf.field, parent, grand_kind)
}

/// The role of an identifier by the node that it stands in.
fn name_role(field: &str, parent: Step<'_>, grand: &str) -> TokenRole {
    let kind = parent.node.kind();
    if is_call(kind)
        && matches!(
            field,
            "function" | "name" | "macro" | "method" | "constructor"
        )
    {
        let is_method =
            kind == "method_invocation" && parent.node.child_by_field_name("object").is_some();
        return if is_method {
            TokenRole::Member
        } else {
            TokenRole::Function
        };
    }
    if kind.starts_with("scoped") || kind.contains("qualified") {
        let is_called = is_call(grand) && parent.field == "function";
        return match (field, is_called) {
            ("name", true) => TokenRole::Function,
            ("name", false) => TokenRole::Variable,
            _ => TokenRole::Type,
        };
    }
    if kind == "function_declarator" || field == "name" && is_function(kind) {
        return TokenRole::Function;
    }
    if matches!(
        kind,
        "attribute" | "field_access" | "member_expression" | "dot_index_expression"
    ) {
        let is_member = matches!(field, "attribute" | "field" | "property");
        return if is_member {
            TokenRole::Member
        } else {
            TokenRole::Variable
        };
    }
    if kind == "keyword_argument" && field == "name" || field == "key" {
        return TokenRole::Member;
    }
    if is_binding(field, parent, grand) {
        return TokenRole::Binding;
    }
    match field {
        "type" | "superclass" => TokenRole::Type,
        "name" if kind.contains("class") || kind.contains("interface") || kind.contains("enum") => {
            TokenRole::Type
        }
        _ => TokenRole::Variable,
    }
}

/// Whether an identifier makes a name known.
fn is_binding(field: &str, parent: Step<'_>, grand: &str) -> bool {
    let kind = parent.node.kind();
    if matches!(
        field,
        "type" | "value" | "right" | "default" | "default_value"
    ) {
        return false;
    }
    let is_parameter = kind.contains("parameter") && !kind.starts_with("type_");
    let is_pattern = field == "pattern"
        || kind.ends_with("_pattern") && kind != "match_pattern"
        || matches!(kind, "pattern_list" | "as_pattern_target");
    let is_left = field == "left"
        && matches!(
            kind,
            "assignment" | "for_statement" | "for_in_clause" | "for_in_statement" | "range_clause"
        );
    let is_short = kind == "expression_list"
        && parent.field == "left"
        && matches!(grand, "short_var_declaration" | "range_clause");
    let is_declared = field == "name"
        && [
            "declarator",
            "_spec",
            "const_item",
            "static_item",
            "named_expression",
        ]
        .iter()
        .any(|part| kind.contains(part));
    let is_c = field == "declarator";
    is_parameter
        || is_pattern
        || is_left
        || is_short
        || is_declared
        || is_c
        || field == "parameter"
        || field == "alias"
}

/// Whether names defined in a node of this kind are unknown outside of it.
fn is_scope(view: &View<'_>, kind: &str) -> bool {
    if is_function(kind) || kind.contains("comprehension") || kind == "generator_expression" {
        return true;
    }
    if view.language.name() == "Python" {
        return false;
    }
    matches!(
        kind,
        "block" | "statement_block" | "compound_statement" | "match_arm" | "do_block"
    ) || ["for_", "if_", "while_", "catch_", "switch_", "case"]
        .iter()
        .any(|start| kind.starts_with(start))
}

/// A place that defines a name, in bytes of the tree.
struct DefinedAt {
    start: usize,
    /// From here on it is known: what is assigned to a new variable does not know it yet.
    from: usize,
}

impl DefinedAt {
    fn holds_at(&self, offset: usize) -> bool {
        offset == self.start || offset >= self.from
    }

    fn new(name: Node<'_>, parents: &[Step<'_>]) -> Self {
        let statement = parents
            .iter()
            .rfind(|step| step.node.kind() == "let_declaration");
        Self {
            start: name.start_byte(),
            from: statement.map_or(name.start_byte(), |step| step.node.end_byte()),
        }
    }
}

/// Where a scope defines a name, in text order: definitions in scopes within it are not its own.
fn definitions(
    view: &View<'_>,
    scope: Node<'_>,
    is_name: &dyn Fn(Node<'_>) -> bool,
) -> Vec<DefinedAt> {
    let mut found = Vec::new();
    let mut cursor = scope.walk();
    let own_name = scope.child_by_field_name("name").map(|name| name.id());
    let mut parents: Vec<Step<'_>> = vec![step(&cursor)];
    if !cursor.goto_first_child() {
        return found;
    }
    for _ in 0..MOST_NODES {
        let here = step(&cursor);
        let is_leaf = here.node.child_count() == 0;
        if is_leaf && here.node.is_named() && is_name(here.node) && Some(here.node.id()) != own_name
        {
            let parent = parents.last().copied();
            let grand = parents.len().checked_sub(2).map(|ix| parents[ix]);
            if role_of(here, parent, grand) == TokenRole::Binding {
                found.push(DefinedAt::new(here.node, &parents));
            }
        }
        let is_inner = is_scope(view, here.node.kind());
        if is_inner
            && is_function(here.node.kind())
            && let Some(name) = here.node.child_by_field_name("name")
            && is_name(name)
        {
            found.push(DefinedAt::new(name, &parents));
        }
        if !is_inner && cursor.goto_first_child() {
            parents.push(here);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || parents.pop().is_none() || parents.is_empty() {
                return found;
            }
        }
    }
    found
}

fn step<'t>(cursor: &TreeCursor<'t>) -> Step<'t> {
    Step {
        node: cursor.node(),
        field: cursor.field_name().unwrap_or(""),
    }
}

#[cfg(test)]
mod tests;
