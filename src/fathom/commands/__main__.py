"""`python -m fathom.commands` is `fathom`."""

from fathom.commands.main import main

if __name__ == "__main__":
    main()
