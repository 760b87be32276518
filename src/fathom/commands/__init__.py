"""The command `fathom`: what people do by hand. Each verb is a thin module; the work is the library's."""
