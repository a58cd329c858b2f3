(function_declaration "function" @detail name: (_) @name) @item.function
(assignment_statement (variable_list name: (_) @name) (expression_list value: (function_definition))) @item.function
(field name: (identifier) @name value: (function_definition)) @item.function
((variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @item.variable
  (#has-parents? @item.variable "chunk"))
