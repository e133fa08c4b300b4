"""The kernels of boosting train on a mapped block as on codes in memory."""

import pytest
from source_cases import OTHERS, cut, messy_frame

import sapwood as sw
from sapwood.boosting import fitting
from sapwood.sources.encode import encode
from sapwood.sources.open import open_source
from sapwood.sources.rows import Roles
from sapwood.sources.survey import survey

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")


def test_a_mapped_block_gives_the_model_of_memory(tmp_path, monkeypatch):
    frame = messy_frame(6000)
    model = sw.NewtonBoostingClassifier(n_estimators=3, max_depth=4, random_state=0)
    expected = sw.fingerprint(model.fit(frame.drop(columns=OTHERS), frame["kind"]))
    roles = Roles(target="kind", drop=("price", "weight", "query"))
    file = encode(survey(open_source(cut(frame, [10, 4000])), roles), tmp_path / "x.codes")
    used = []
    for table in (file.block(0).table, file.table()):
        monkeypatch.setattr(fitting, "code", lambda *_, own=table: (used.append(own) or own, None))
        assert sw.fingerprint(model.fit(frame.drop(columns=OTHERS), frame["kind"])) == expected
    assert len(used) == 2
    file.verify()  # groups of levels were written to memory only
