"""Catalogue of all names in scenarios, results and pages, with their meanings.

==============  ====================================================================
module          entries and their origin
==============  ====================================================================
`reference`     keys of scenarios, from the schema of the core
`mechanisms`    mechanisms with sources and examples, from the catalogue of the core
`generators`    shapes of fabrics, from the catalogue of the core
`meanings`      numbers, columns and verdicts, from the types that hold them
`glossary`      words, from `glossary.toml`
`elsewhere`     keys by their names in other simulators
`old_names`     names of earlier versions, from the core
==============  ====================================================================

`lookup` finds an entry by any of its names. No module repeats a list that the core or another table
declares.
"""
