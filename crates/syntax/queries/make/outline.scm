(rule (targets) @name) @item.function
(variable_assignment name: (word) @name) @item.variable
(define_directive name: (word) @name) @item.variable
