"""Metadata of a benchmark's folder in Croissant 1.0, which catalogues of data sets read [Croissant]."""

from collections.abc import Mapping
from typing import Any

from fathom import __version__
from fathom.io.contracts.benchmark import PAIRS

_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet",
    "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
    "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField",
    "transform",
)  # fmt: skip
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS},
}
"""The context that the specification demands word for word."""

_FORMATS = {"pairs.parquet": "application/x-parquet", "pairs.jsonl": "application/jsonlines"}
_TYPES = {"string": "sc:Text", "double": "sc:Float", "bool": "sc:Boolean"}


def describe_files(title: str, columns: list[str], hashes: Mapping[str, str]) -> dict[str, Any]:
    """Return the metadata, ready for :func:`fathom.io.files.write_json`: of equal pairs, equal bytes.

    Parameters
    ----------
    hashes : mapping of str to str
        sha256 of pairs.parquet and pairs.jsonl, by name; others are left out.
    """
    known = {column.name: column for column in PAIRS}
    title = " ".join(title.split())
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": title,
        "description": "Prompts from running text that end before a term of the field, and the term.",
        "creator": {"@type": "sc:Organization", "name": f"Fathom {__version__}"},
        "license": "The sentences are under the licences of the documents that they were taken from.",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": kind,
                "sha256": hashes[name],
            }
            for name, kind in _FORMATS.items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "pairs",
                "name": "pairs",
                "key": {"@id": "pairs/pair_id"},
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"pairs/{name}",
                        "name": name,
                        "description": known[name].about,
                        "dataType": _TYPES[str(known[name].type)],
                        "source": {
                            "fileObject": {"@id": "pairs.parquet"},
                            "extract": {"column": name},
                        },
                    }
                    for name in columns
                ],
            }
        ],
    }
