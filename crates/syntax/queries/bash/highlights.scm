; Later patterns win over earlier ones.

(word) @none
(variable_name) @variable
(special_variable_name) @variable.builtin
(command_name) @function
((command_name) @function.builtin
  (#any-of? @function.builtin "." ":" "alias" "bg" "bind" "builtin" "cd" "command" "compgen" "complete"
    "dirs" "disown" "echo" "enable" "eval" "exec" "exit" "false" "fc" "fg" "getopts" "hash" "help"
    "jobs" "kill" "let" "logout" "mapfile" "popd" "printf" "pushd" "pwd" "read" "readarray" "return"
    "set" "shift" "shopt" "source" "suspend" "test" "times" "trap" "true" "type" "ulimit" "umask"
    "unalias" "wait"))
((command_name) @keyword.control (#any-of? @keyword.control "return" "exit" "break" "continue"))
((command_name) @keyword.import (#any-of? @keyword.import "." "source"))
(function_definition name: (word) @function.definition)
((command argument: (word) @variable.parameter) (#match? @variable.parameter "^-"))

["case" "do" "done" "elif" "else" "esac" "fi" "for" "if" "in" "select" "then" "until" "while"]
  @keyword.control
["declare" "export" "function" "local" "readonly" "typeset" "unset" "unsetenv"] @keyword

[(string) (raw_string) (ansi_c_string) (heredoc_body) (heredoc_start) (heredoc_end)] @string
(translated_string) @string
(regex) @string.regex
(extglob_pattern) @string.regex
(number) @number
(file_descriptor) @number
[(command_substitution) (process_substitution)] @embedded
(command_substitution ["$(" ")" "`"] @punctuation.special)
(expansion ["${" "}"] @punctuation.special)
(simple_expansion "$" @punctuation.special)
(simple_expansion (variable_name) @variable)
(expansion (variable_name) @variable)
(test_operator) @keyword.operator

["&&" "||" "|" "|&" "&" ">" ">>" "<" "<<" "<<-" "<<<" ">&" "<&" "=" "==" "!=" "+=" "=~" "!" ";;"]
  @operator
["(" ")" "{" "}" "[" "]" "[[" "]]" "((" "))"] @punctuation.bracket
[";"] @punctuation.delimiter
(comment) @comment
((program . (comment) @keyword.directive) (#match? @keyword.directive "^#!"))
