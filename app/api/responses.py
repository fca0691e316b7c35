"""How does a value become JSON that never fails to be sent?"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from litestar import Response
from litestar.enums import MediaType, OpenAPIMediaType
from litestar.exceptions import ImproperlyConfiguredException


def dumps(value: Any) -> str:
    """Return `value` as ASCII JSON: a lone surrogate cannot break the encoder, NaN becomes null."""
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=str)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=True, separators=(",", ":"), default=str)


class JsonResponse(Response[Any]):
    """The response of every route: text that UTF-8 cannot express is escaped and no error."""

    def render(
        self,
        content: Any,
        media_type: MediaType | OpenAPIMediaType | str,
        enc_hook: Callable[[Any], Any] | None = None,
    ) -> bytes:
        """Encode the content."""
        try:
            return (
                super().render(content, media_type)
                if enc_hook is None
                else super().render(content, media_type, enc_hook)
            )
        except (ImproperlyConfiguredException, UnicodeEncodeError):
            if isinstance(content, str):
                return content.encode("utf-8", "replace")
            return dumps(content).encode("ascii")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
