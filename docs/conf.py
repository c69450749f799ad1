"""Sphinx settings: the pages are MyST Markdown, and every example in them is run by `nox -s docs`."""

project = "AutoFuse"
author = "AutoFuse developers"
project_copyright = "AutoFuse developers"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "adr/template.md"]
html_theme = "furo"
html_title = "AutoFuse"
