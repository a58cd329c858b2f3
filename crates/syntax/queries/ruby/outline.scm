(module "module" @detail name: (_) @name) @item.module
(class "class" @detail name: (_) @name) @item.class
(singleton_class "class" @detail value: (_) @name) @item.class
(method "def" @detail name: (_) @name) @item.function
(singleton_method "def" @detail object: (_) @name "." @name name: (_) @name) @item.method
((assignment left: (constant) @name) @item.constant
  (#has-parents? @item.constant "program"))
((assignment left: (constant) @name) @item.constant
  (#has-parents? @item.constant "body_statement"))
((call !receiver method: (identifier) @detail arguments: (argument_list . (_) @name) block: (_)) @item.other
  (#any-of? @detail "describe" "context" "it" "namespace" "task"))
