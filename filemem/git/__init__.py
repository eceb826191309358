"""Memories in git.

Read from the bottom: `command` runs git, `inert` shows it a repository so that nothing
in it runs, `repository` is one with its work tree, `history` says which files of a user
git keeps there. `job_frame` is what a job commits, `commits` the log, `past` a day of
it. `merge` is of two trees, for `sync` and `undo`; `departed` says who left by what
comes in. `setup` begins it all.
"""
