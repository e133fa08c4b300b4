"""Accuracy of the defaults of tree libraries on real data sets: data, libraries, results and report."""
