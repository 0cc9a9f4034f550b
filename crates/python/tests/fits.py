"""Whether a value is what a type says."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import midfold.types


def hints(shape: type) -> dict[str, Any]:
    """The types of a dictionary's keys."""
    # Only a type checker imports it there.
    names = {**vars(midfold.types), "NotRequired": NotRequired}
    return get_type_hints(shape, localns=names, include_extras=True)


def misfits(value: Any, hint: Any, at: str = "") -> list[str]:
    """Where a value is not what the type says, in words."""
    origin, args = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        return of_record(value, hint, at)
    if origin in (Union, types.UnionType):
        each = [misfits(value, one, at) for one in args]
        return [] if any(not found for found in each) else min(each, key=len)
    if origin is Literal:
        return [] if value in args else [f"{at}: {value!r} is none of {args}"]
    if origin in (list, Sequence):
        if not isinstance(value, list):
            return [f"{at}: {value!r} is no list"]
        return [
            wrong for n, one in enumerate(value) for wrong in misfits(one, args[0], f"{at}[{n}]")
        ]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{at}: {value!r} is no dict"]
        return [
            wrong for key, one in value.items() for wrong in misfits(one, args[1], f"{at}.{key}")
        ]
    if hint is Any:
        return []
    if hint is None or hint is type(None):
        return [] if value is None else [f"{at}: {value!r} is not None"]
    fitting = (int, float) if hint is float else (hint,)
    is_it = type(value) in fitting
    return [] if is_it else [f"{at}: {value!r} is no {hint}"]


def of_record(value: Any, shape: type, at: str) -> list[str]:
    name = f"{at}({shape.__name__})"
    if not isinstance(value, dict):
        return [f"{name}: {value!r} is no dict"]
    keys = hints(shape)
    wrong = [f"{name}: no type has {key}" for key in value.keys() - keys.keys()]
    for key, hint in keys.items():
        is_optional = get_origin(hint) is NotRequired or not shape.__total__
        inner = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        if key in value:
            wrong += misfits(value[key], inner, f"{at}.{key}")
        elif not is_optional:
            wrong.append(f"{name}: no {key}")
    return wrong
