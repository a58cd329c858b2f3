(function_definition name: (word) @name) @item.function
((variable_assignment name: (variable_name) @name) @item.variable
  (#has-parents? @item.variable "program"))
((declaration_command (variable_assignment name: (variable_name) @name)) @item.variable
  (#has-parents? @item.variable "program"))
