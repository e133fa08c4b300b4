"""Training that was killed goes on with the same command."""

from __future__ import annotations

import pytest
from outcomes import error_line

import sapwood as sw
from sapwood.cli.model_kinds import KINDS
from sapwood.estimators import checkpoint, model_file

pytestmark = pytest.mark.filterwarnings("ignore:.*in the bag of every tree")

MANY = [name for name, model in KINDS.items() if not model.is_one_tree]


@pytest.fixture
def writes(monkeypatch):
    """A list that grows with each checkpoint; once it is as long as its `most`, training is killed."""
    write = model_file.write_model

    class Writes(list):
        most = 1000

    seen = Writes()

    def spy(path, model, extensions, *form):
        write(path, model, extensions, *form)
        if checkpoint.EXTENSION in extensions:
            seen.append(extensions[checkpoint.EXTENSION]["finished"])
            if len(seen) >= seen.most:
                raise KeyboardInterrupt

    monkeypatch.setattr(model_file, "write_model", spy)
    return seen


@pytest.mark.parametrize("model", MANY)
def test_a_killed_training_goes_on(run, flowers, tmp_path, writes, model):
    path, out, whole = (tmp_path / name for name in ("way.sapwood", "model.sapwood", "whole.sapwood"))
    arguments = ["train", flowers, "--target", "kind", "--model", model, "--set", "n_estimators=10"]
    assert run(*arguments, "--out", whole).exit_code == 0
    kept = [*arguments, "--out", out, "--checkpoint", path, "--checkpoint-every", 4]
    writes.most = 1
    assert run(*kept).exit_code != 0
    assert writes == [False]
    assert not out.exists()
    assert "This is a checkpoint" in run("inspect", path).output
    writes.most = 1000
    result = run(*kept)
    assert result.exit_code == 0, result.output
    assert writes == [False, False, True]  # after 4 trees, after 8, and at the end
    assert sw.fingerprint(sw.load(out)) == sw.fingerprint(sw.load(whole))
    assert "This is a checkpoint" not in run("inspect", path).output


def test_a_checkpoint_predicts_like_any_model(run, flowers, tmp_path, writes):
    path = tmp_path / "way.sapwood"
    writes.most = 1
    arguments = ["train", flowers, "--target", "kind", "--model", "boosting", "--set", "n_estimators=9"]
    run(*arguments, "--checkpoint", path, "--checkpoint-every", 2)
    result = run("predict", "--model", path, "--input", flowers, "--out", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    assert "2 rounds" in result.output


def test_other_parameters_or_data_are_refused(run, flowers, houses, tmp_path):
    path = tmp_path / "way.sapwood"
    arguments = ["--model", "boosting", "--set", "n_estimators=3", "--checkpoint", path]
    assert run("train", flowers, "--target", "kind", *arguments).exit_code == 0
    message = error_line(run("train", flowers, "--target", "kind", *arguments, "--set", "max_depth=2"))
    assert "max_depth" in message
    message = error_line(run("train", flowers, "--target", "kind", *arguments, "--test-size", 0.5))
    assert "was made with another" in message
    message = error_line(run("train", houses, "--target", "price", *arguments))
    assert "NewtonBoostingClassifier" in message
    assert run("train", flowers, "--target", "kind", *arguments).exit_code == 0


def test_how_often_to_write(run, flowers, tmp_path, writes):
    arguments = ["train", flowers, "--target", "kind", "--model", "boosting", "--set", "n_estimators=51"]
    assert run(*arguments, "--checkpoint", tmp_path / "a").exit_code == 0
    assert writes == [False, True]  # after 50 rounds, and at the end
    writes.clear()
    assert run(*arguments, "--checkpoint", tmp_path / "b", "--checkpoint-every", 10).exit_code == 0
    assert writes == [False] * 5 + [True]


def test_checkpoints_that_cannot_be(run, flowers, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("trained")

    monkeypatch.setattr("sapwood.cli.train.fit", fail)
    path = tmp_path / "way.sapwood"
    arguments = ["train", flowers, "--target", "kind"]
    message = error_line(run(*arguments, "--model", "tree", "--checkpoint", path))
    assert "--model tree has no checkpoints" in message
    assert "boosting" in message
    arguments += ["--model", "boosting"]
    assert "--checkpoint and --out are the same file" in error_line(
        run(*arguments, "--checkpoint", path, "--out", path)
    )
    assert "is one of the input files" in error_line(run(*arguments, "--checkpoint", flowers))
    assert "There is no folder" in error_line(run(*arguments, "--checkpoint", tmp_path / "no" / "way.sapwood"))
    assert "is not a regular file" in error_line(run(*arguments, "--checkpoint", tmp_path))
    result = run(*arguments, "--checkpoint-every", 5)
    assert result.exit_code == 2
    assert "--checkpoint-every needs a file" in " ".join(result.stderr.split())
    assert run(*arguments, "--checkpoint", path, "--checkpoint-every", 0).exit_code == 2


def test_a_model_that_is_no_checkpoint_is_not_overwritten(run, flowers, tmp_path):
    path = tmp_path / "model.sapwood"
    arguments = ["train", flowers, "--target", "kind", "--model", "boosting", "--set", "n_estimators=3"]
    assert run(*arguments, "--out", path).exit_code == 0
    before = path.read_bytes()
    assert "is not overwritten" in error_line(run(*arguments, "--checkpoint", path))
    path.write_text("something else")
    assert "This is not a model file" in error_line(run(*arguments, "--checkpoint", path))
    assert path.read_text() == "something else"
    path.write_bytes(before)
