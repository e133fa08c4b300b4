"""Trees as text: indented rules, graphviz, and the way of one row in words."""

from sapwood.show.condition import condition
from sapwood.show.graphviz import export_graphviz
from sapwood.show.text import export_text
from sapwood.show.words import Step, decision_steps, explain_row

__all__ = ["Step", "condition", "decision_steps", "explain_row", "export_graphviz", "export_text"]
