; Later patterns win over earlier ones.

["(" ")" "{" "}"] @punctuation.bracket
[":" "&:" "::" "|" ";" "\"" "'" ","] @punctuation.delimiter
["$" "$$"] @punctuation.special
["=" ":=" "::=" "?=" "+=" "!=" "@" "-" "+"] @operator

(word) @string
(text) @string
(string) @string
(targets (word) @function.definition)
(prerequisites (word) @function)
((targets (word) @keyword.directive) (#match? @keyword.directive "^\\.[A-Z_]+$"))
(variable_assignment name: (word) @variable)
(variable_reference (word) @variable)
(substitution_reference (word) @variable)
(automatic_variable) @variable.builtin
((variable_assignment name: (word) @constant) (#match? @constant "^[A-Z][A-Z0-9_]*$"))
((variable_reference (word) @constant) (#match? @constant "^[A-Z][A-Z0-9_]*$"))

["ifeq" "ifneq" "ifdef" "ifndef" "else" "endif" "if" "or" "and" "foreach"] @keyword.control
["define" "endef" "vpath" "undefine" "export" "unexport" "override" "private"] @keyword
["include" "sinclude" "-include"] @keyword.import
[
  "subst" "patsubst" "strip" "findstring" "filter" "filter-out" "sort" "word" "words" "wordlist"
  "firstword" "lastword" "dir" "notdir" "suffix" "basename" "addsuffix" "addprefix" "join"
  "wildcard" "realpath" "abspath" "call" "eval" "file" "value" "shell" "error" "warning" "info"
] @function.builtin
["VPATH" ".RECIPEPREFIX"] @constant.builtin
(shell_text) @none
(comment) @comment
