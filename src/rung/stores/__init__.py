"""Files far away: reading one as if it were here, and putting files where others can fetch them.

A name with `://` in it is an address. `https://` needs nothing but Python; `hf://`, `s3://`, `gs://` and `az://`
go through the library of each, which is imported when an address asks for it.
"""

from __future__ import annotations

from rung.stores.address import is_remote as is_remote
from rung.stores.address import last_name as last_name
from rung.stores.address import shown as shown
from rung.stores.fetching import near as near

__all__ = ["is_remote", "last_name", "near", "shown"]
