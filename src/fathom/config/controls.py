"""Which adaptations are compared to tell knowledge from style."""

from fathom.config.models import Models


def find_controls(models: Models) -> dict[tuple[str, str], dict[str, str]]:
    """Return tracks by base and domain whose text is changed, and there by text; other domains by their name.

    All are followed and have one stage. A domain's own text is `as-is`.
    """
    single = [
        (adaptation, path[0])
        for adaptation in models.adapt
        if adaptation.is_followed
        for path in adaptation.paths
        if len(path) == 1
    ]
    changed = {(each.base, domain): dict[str, str]() for each, domain in single if each.text != "as-is"}
    for (base, domain), found in changed.items():
        for adaptation, other in single:
            name = adaptation.name_stages([other], adaptation.list_seeds()[0])[-1]
            is_own, is_plain = other == domain, adaptation.text == "as-is"
            if adaptation.base == base and name in models.tracks and (is_own or is_plain):
                found[adaptation.text if is_own else other] = name
    return changed
