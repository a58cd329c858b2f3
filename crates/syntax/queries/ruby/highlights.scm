; Later patterns win over earlier ones.

(identifier) @variable
(constant) @type
((constant) @constant (#match? @constant "^[A-Z][A-Z0-9_]+$"))
(scope_resolution scope: (constant) @module)
[(class_variable) (instance_variable) (global_variable)] @property
[(self) (super)] @variable.builtin
((identifier) @constant.builtin (#match? @constant.builtin "^__(FILE|LINE|ENCODING|method)__$"))
[(file) (line) (encoding)] @constant.builtin

(call method: [(identifier) (constant)] @function.method)
(call !receiver method: (identifier) @function)
((call !receiver method: (identifier) @keyword.import)
  (#any-of? @keyword.import "require" "require_relative" "load" "autoload"))
((call !receiver method: (identifier) @keyword)
  (#any-of? @keyword "include" "extend" "prepend" "attr_accessor" "attr_reader" "attr_writer"
    "private_constant" "module_function" "define_method" "using" "refine"))
((call !receiver method: (identifier) @keyword.control)
  (#any-of? @keyword.control "raise" "loop" "catch" "throw" "fail"))
((identifier) @keyword (#any-of? @keyword "private" "protected" "public" "private_class_method"))
((identifier) @function.builtin (#any-of? @function.builtin "puts" "print" "p" "pp" "lambda" "proc"
  "format" "sprintf" "rand" "sleep" "gets" "exit" "abort" "block_given?"))

(method name: [(identifier) (constant)] @function.definition)
(singleton_method name: [(identifier) (constant)] @function.definition)
(method name: (setter (identifier) @function.definition))
(alias (identifier) @function.method)
(class name: (constant) @type)
(class name: (scope_resolution name: (constant) @type))
(module name: (constant) @module)
(superclass (constant) @type)

(block_parameters (identifier) @variable.parameter)
(destructured_parameter (identifier) @variable.parameter)
(hash_splat_parameter (identifier) @variable.parameter)
(lambda_parameters (identifier) @variable.parameter)
(method_parameters (identifier) @variable.parameter)
(splat_parameter (identifier) @variable.parameter)
(block_parameter (identifier) @variable.parameter)
(keyword_parameter name: (identifier) @variable.parameter)
(optional_parameter name: (identifier) @variable.parameter)

["alias" "class" "def" "do" "end" "module" "undef" "BEGIN" "END"] @keyword
[
  "begin" "break" "case" "else" "elsif" "ensure" "for" "if" "in" "next" "redo" "rescue" "retry"
  "return" "then" "unless" "until" "when" "while" "yield"
] @keyword.control
["and" "or" "not" "defined?"] @keyword.operator
(if "end" @keyword.control)
(unless "end" @keyword.control)
(case "end" @keyword.control)
(while (do "end" @keyword.control))
(begin "end" @keyword.control)

[(string) (bare_string) (subshell) (heredoc_body) (heredoc_beginning) (character)] @string
(heredoc_end) @string
[(simple_symbol) (delimited_symbol) (hash_key_symbol) (bare_symbol)] @string.special
(pair key: (hash_key_symbol) @property)
(regex) @string.regex
(escape_sequence) @string.escape
[(integer) (float) (complex) (rational)] @number
[(true) (false)] @boolean
(nil) @constant.builtin
(interpolation) @embedded
(interpolation ["#{" "}"] @punctuation.special)
(comment) @comment
((program . (comment) @keyword.directive) (#match? @keyword.directive "^#!"))
(uninterpreted) @comment

[
  "=" "=>" "->" "+" "-" "*" "/" "%" "**" "==" "!=" "===" "=~" "!~" "<" ">" "<=" ">=" "<=>" "&&"
  "||" "!" "&" "|" "^" "~" "<<" ">>" "+=" "-=" "*=" "/=" "%=" "**=" "||=" "&&=" "|=" "&=" "^="
  "<<=" ">>=" ".." "..." "?"
] @operator
["," ";" "." "&." "::" ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}" "%w(" "%i("] @punctuation.bracket
(block_parameters "|" @punctuation.bracket)
(interpolation ["#{" "}"] @punctuation.special)
