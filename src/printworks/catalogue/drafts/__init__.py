"""Drafts: the files of a catalogue, changed one block at a time with their comments and order kept."""
