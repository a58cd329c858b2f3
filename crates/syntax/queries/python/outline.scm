(class_definition "class" @detail name: (identifier) @name) @item.class
(function_definition "async"? @detail "def" @detail name: (identifier) @name) @item.function
(module (expression_statement (assignment left: (identifier) @name)) @item.variable)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @item.field))
