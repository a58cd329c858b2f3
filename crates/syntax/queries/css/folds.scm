[(block) (keyframe_block_list) (arguments)] @fold
(comment) @fold.comments
(import_statement) @fold.imports
