"""Searches over populations of machines, one small module per method.

A module has a State, an Info, `init` and `step`; a `Method` says how a run is made of them. It
draws from the generator that it is given and knows no files, no screens and no clocks.
"""
