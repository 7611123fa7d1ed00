from __future__ import annotations

import unittest
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from enum import Enum
from typing import Any, Literal, TypedDict
from uuid import UUID

from pydantic import BaseModel, Field

from caudal.errors import NonRetryableError
from caudal.typed import DecodeError, decode, encode, encode_variables


class Colour(Enum):
    RED = "red"


class Point(TypedDict):
    x: int


class Order(BaseModel):
    customer: str
    amount: int = Field(gt=0)


@dataclass
class Inner:
    n: int


@dataclass
class Outer:
    inner: Inner
    many: list[Inner]
    by_name: dict[str, Inner] = field(default_factory=dict)
    maybe: Inner | None = None
    colour: Colour = Colour.RED


class Typed(unittest.TestCase):
    def test_models_of_pydantic(self) -> None:
        order = decode(Order, {"customer": "ann", "amount": 5, "other": True})
        self.assertEqual(order, Order(customer="ann", amount=5))
        self.assertEqual(encode_variables(order), {"customer": "ann", "amount": 5})
        with self.assertRaisesRegex(NonRetryableError, "(?s)variables.*amount.*greater than 0"):
            decode(Order, {"customer": "ann", "amount": 0})

    def test_values_become_types_and_values_again(self) -> None:
        value = {"inner": {"n": 1}, "many": [{"n": 2}], "by_name": {"a": {"n": 3}}, "maybe": None, "colour": "red"}
        outer = decode(Outer, {**value, "of another step": True})
        self.assertEqual(outer, Outer(Inner(1), [Inner(2)], {"a": Inner(3)}, None, Colour.RED))
        self.assertEqual(encode(outer), value)

    def test_each_kind(self) -> None:
        moment = datetime(2026, 1, 2, tzinfo=timezone.utc)
        identity = UUID(int=5)
        for kind, value, expected in (
            (float, 1, 1.0),
            (Any, [1], [1]),
            (int | str, "a", "a"),
            (Literal["a", "b"], "b", "b"),
            (datetime, "2026-01-02T00:00:00Z", moment),
            (date, "2026-01-02", moment.date()),
            (UUID, str(identity), identity),
            (tuple[int, ...], [1, 2], (1, 2)),
            (Point, {"x": 1}, {"x": 1}),
        ):
            self.assertEqual(decode(kind, value), expected, kind)

    def test_what_does_not_fit_is_named(self) -> None:
        for kind, value, words in (
            (Outer, {"inner": {"n": "1"}, "many": []}, "variables.inner.n is a str, but must be int"),
            (Outer, {"inner": {}, "many": []}, "variables.inner.n is missing"),
            (Outer, {"inner": {"n": 1}, "many": [{"n": True}]}, "variables.many[0].n is a bool, but must be int"),
            (
                Outer,
                {"inner": {"n": 1}, "many": [], "colour": "blue"},
                "variables.colour is 'blue', which is no Colour",
            ),
            (datetime, 5, "variables is a int, but must be str"),
            (Literal["a"], "b", "variables is 'b', but must be one of 'a'"),
        ):
            with self.assertRaisesRegex(DecodeError, words.replace("[", r"\[").replace(".", r"\.")):
                decode(kind, value)

    def test_results_are_objects(self) -> None:
        self.assertEqual(encode_variables(None), {})
        for value in (5, [1], {"a": object()}, {"a": float("nan")}, {"a": [float("inf")]}):
            with self.assertRaises(NonRetryableError):
                encode_variables(value)
