"""Settings of the tables of examples: what they show by name [RawCorpora, Tables 1-5, 7, 8]."""

from pydantic import Field

from fathom.config.section import Name, Section, Text


class Examples(Section):
    """What tables of examples show by name; what a run does not have is left out, the first ones fill up."""

    keywords: dict[Name, list[Text]] = Field(
        {}, description="keywords that come first in the list of a domain, by domain; it has ten or more"
    )
    detailed: dict[Name, list[Text]] = Field(
        {},
        description="keywords whose terms, tokens and pairs are shown, by domain: three or more; default: the"
        " first of the list",
    )
    categories: dict[Name, dict[Name, list[Text]]] = Field(
        {}, description="categories whose pairs are shown, by domain and name of a reference: three or more"
    )

    @property
    def domains(self) -> list[str]:
        """Domains of which something is named."""
        return [*dict.fromkeys([*self.keywords, *self.detailed, *self.categories])]
