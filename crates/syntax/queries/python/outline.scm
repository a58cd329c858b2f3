(class_definition "class" @detail name: (identifier) @name) @item.class
(function_definition "async"? @detail "def" @detail name: (identifier) @name) @item.function
((expression_statement (assignment left: (identifier) @name)) @item.variable
  (#has-parents? @item.variable "module"))
((expression_statement (assignment left: (identifier) @name)) @item.field
  (#has-parents? @item.field "block" "class_definition"))
