import json

import pytest

from infomeans.data.schema import ArraySchema, ImageSchema, Schema, TableSchema

RECIPES = [
    (ImageSchema(28, 20, 1, "uint8"), (28, 20)),
    (ImageSchema(28, 20, 3, "uint16"), (28, 20, 3)),
    (ImageSchema(28, 20, 3, "uint8", "pad"), (28, 20, 3)),
    (TableSchema(("a", "b"), None, None), (2,)),
    (TableSchema(("a", "b", "c"), (1.5, -2.0, 0.0), "name"), (3,)),
    (ArraySchema((28, 28), "images"), (28, 28)),
    (ArraySchema((7,)), (7,)),
]


@pytest.mark.parametrize(("recipe", "shape"), RECIPES)
def test_a_recipe_survives_json_and_knows_the_shape_of_a_sample(recipe, shape):
    plain = json.loads(json.dumps(recipe.to_json()))
    assert plain["kind"] == recipe.kind
    assert Schema.from_json(plain) == recipe
    assert recipe.sample_shape == shape


def test_models_from_before_there_was_a_choice_were_fitted_with_stretched_images():
    plain = {"kind": "images", "height": 28, "width": 20, "channels": 1, "depth": "uint8"}
    assert Schema.from_json(plain) == ImageSchema(28, 20, 1, "uint8", "stretch")
