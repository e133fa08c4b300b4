import pytest

from sapwood.cli import warmup
from sapwood.estimators import model_file


def test_the_demo_shows_three_trees_and_a_boosted_ensemble_and_draws_one(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    for word in (
        "full",
        "depth 3",
        "pruned",
        "boosted",
        "|---",
        "5/5",
        "200/200",
    ):
        assert word in result.output
    assert "sapwood_demo_tree.png" in result.output
    assert (tmp_path / "sapwood_demo_tree.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_draws_where_it_is_told(run, tmp_path):
    assert run("demo", "--out", tmp_path / "tree.svg").exit_code == 0
    assert (tmp_path / "tree.svg").stat().st_size > 1000
    result = run("demo", "--out", tmp_path / "no" / "tree.svg")
    assert result.exit_code == 1
    assert "There is no folder" in result.output


@pytest.mark.slow
def test_warmup_compiles_everything(run):
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert "All kernels are compiled" in result.output


def test_warmup_reports_the_time(run, monkeypatch):
    every = warmup._variants()
    monkeypatch.setattr(warmup, "_variants", lambda: (every[0][:1], every[1][:1]))
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert "All kernels are compiled (" in result.output
    assert "1/1" in result.output


def test_warmup_saves_and_loads_every_model(run, monkeypatch):
    every, loaded = warmup._variants(), []
    chosen = [every[1].index(name) for name in ("two classes, best splitter, columns of numbers", "AdaBoost")]
    monkeypatch.setattr(warmup, "_variants", lambda: tuple([part[i] for i in chosen] for part in every))
    load = model_file.load
    monkeypatch.setattr(model_file, "load", lambda *given, **named: loaded.append(load(*given, **named)))
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert [type(model).__name__ for model in loaded] == ["DecisionTreeClassifier", "AdaBoostClassifier"]


def test_warmup_is_quiet_about_its_tiny_forests(run, monkeypatch):
    every = warmup._variants()
    at = every[1].index("forest, 2 classes, bins")
    monkeypatch.setattr(warmup, "_variants", lambda: ([every[0][at]], [every[1][at]]))
    result = run("warmup")
    assert result.exit_code == 0, result.output


def test_the_version_is_shown(run):
    assert run("--version").output.startswith("sapwood 0.")
    assert run().exit_code in (0, 2)  # depends on the version of click
    assert "train" in run("--help").output
