(rule_set (selectors) @name) @item.class
(media_statement "@media" @detail . (_) @name) @item.module
(keyframes_statement (keyframes_name) @name) @item.function
(at_rule (at_keyword) @name) @item.other
(supports_statement "@supports" @name) @item.module
