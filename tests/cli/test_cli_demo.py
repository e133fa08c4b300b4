from sapwood import DecisionTreeClassifier, save
from sapwood.compilation import warm
from sapwood.compilation.uses import uses
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


def test_warmup_reports_the_time(run, monkeypatch):
    done = []
    monkeypatch.setattr(warm, "uses", lambda: {"one": lambda: done.append(1), "two": lambda: done.append(2)})
    result = run("warmup", "--n-jobs", 1)
    assert result.exit_code == 0, result.output
    assert "The kernels are compiled (" in result.output
    assert "2/2" in result.output
    assert done == [1, 2]


def test_warmup_of_a_model_file(run, tmp_path):
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    save(model, tmp_path / "model.sapwood")
    result = run("warmup", "--model", tmp_path / "model.sapwood", "--predict-only")
    assert result.exit_code == 0, result.output
    assert "1/1" in result.output
    result = run("warmup", "--predict-only")
    assert result.exit_code == 1
    assert "--model FILE" in " ".join(result.output.split())


def test_warmup_saves_and_loads_every_model(monkeypatch):
    loaded, load = [], model_file.load
    monkeypatch.setattr(model_file, "load", lambda *given, **named: loaded.append(load(*given, **named)))
    for name in ("two classes, best splitter, columns of numbers", "AdaBoost", "forest, 2 classes, bins"):
        uses()[name]()
    names = ["DecisionTreeClassifier", "AdaBoostClassifier", "RandomForestClassifier"]
    assert [type(model).__name__ for model in loaded] == names


def test_the_version_is_shown(run):
    assert run("--version").output.startswith("sapwood 0.")
    assert run().exit_code in (0, 2)  # depends on the version of click
    assert "train" in run("--help").output
