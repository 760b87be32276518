"""Settings of the tables of examples: the names that they show [RawCorpora, Tables 1-5, 7, 8]."""

from pydantic import Field

from fathom.config.section import Name, Section, Text


class Examples(Section):
    """What tables of examples show; names that a run lacks are replaced by its first ones."""

    keywords: dict[Name, list[Text]] = Field(
        {}, description="keywords to put first in a domain's list of ten or more, by domain"
    )
    detailed: dict[Name, list[Text]] = Field(
        {},
        description="keywords whose terms, tokens and pairs to show, three or more, by domain; default: the "
        "first of the list",
    )
    categories: dict[Name, dict[Name, list[Text]]] = Field(
        {}, description="categories whose pairs to show, three or more, by domain and name of a reference"
    )

    @property
    def domains(self) -> list[str]:
        """Domains that are named here."""
        return [*dict.fromkeys([*self.keywords, *self.detailed, *self.categories])]
