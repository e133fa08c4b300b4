"""AdaBoost: learners one after the other, each on the rows that those before it found hard."""
