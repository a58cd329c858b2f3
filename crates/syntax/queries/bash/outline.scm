(function_definition name: (word) @name) @item.function
(program (variable_assignment name: (variable_name) @name) @item.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @item.variable)
