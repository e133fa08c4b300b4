"""Trees as text: indented rules, graphviz, and the path of one row."""

from sapwood.show.condition import condition
from sapwood.show.graphviz import export_graphviz
from sapwood.show.row_path import Step, decision_steps, explain_row
from sapwood.show.text import export_text

__all__ = ["Step", "condition", "decision_steps", "explain_row", "export_graphviz", "export_text"]
