"""The one exception that a user is meant to read."""


class InputError(Exception):
    """Something in the user's input, configuration or machine is wrong.

    Parameters
    ----------
    what : str
        What is wrong, in one sentence.
    where : str, optional
        File, line or key where it stands.
    hint : str, optional
        What to do about it.
    """

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(what)

    def __str__(self) -> str:
        """Return the message as a user sees it: what, where, hint."""
        where = "\\n".join(self.where.splitlines())  # the name of a file may hold any sign
        text = f"{where}: {self.what}" if where else self.what
        return f"{text}\nHint: {self.hint}" if self.hint else text
