import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_figures_left():
    import matplotlib.pyplot as plt

    plt.close("all")
    yield
    plt.close("all")
