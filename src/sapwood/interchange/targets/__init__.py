"""How a model is put into the words of other programs."""
