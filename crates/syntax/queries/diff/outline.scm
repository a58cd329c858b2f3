(block (command (filename) @name)) @item.module
(block (new_file (filename) @name)) @item.module
(hunk (location) @name) @item.other
