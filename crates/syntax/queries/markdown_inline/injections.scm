((html_tag) @injection.content (#set! injection.language "html"))
