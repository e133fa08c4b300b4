"""Moved."""

from sapwood.atomic_file import replace_file as replace_file
