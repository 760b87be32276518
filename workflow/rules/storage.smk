"""Files of runs with a storage (`--default-storage-provider`), whose jobs may see no file of this machine."""

from snakemake.io import flag, local

from fathom.planning.apart import Findings, check_stored, list_code, require_sent

# results lie in a storage; jobs get copies of what they read
STORED = workflow.storage_settings.default_storage_provider is not None


def send(files):
    """Have files sent to jobs with the sources; Snakemake does so with what configures a run."""
    if STORED and workflow.is_main_process:
        known = set(map(str, workflow.configfiles))
        workflow.configfiles.extend(
            path for path in map(str, files) if path not in known
        )


def send_code():
    """Have this clone sent to jobs; an installed package is that of their image."""
    if ROOT.is_relative_to(Path.cwd()):
        send(list_code(ROOT))


def ship(path):
    """Return a small file as an input that jobs have beside the code, not in the storage."""
    if not STORED:
        return outside(path)
    if workflow.is_main_process:
        try:
            require_sent(path, [Path.cwd(), ROOT, LIBRARY])
        except InputError as error:
            stop(error)
        if Path(path).absolute().is_relative_to(Path.cwd()):
            send([path])
    return flag(outside_name(path), "sourcecache_entry", str(path))


def outside_name(path):
    """Return a file from outside by its name; in a module it is absolute, which `prefix` leaves alone."""
    return str(path if IS_MAIN else Path(path).absolute())


def outside(path):
    """Return a file from outside as an input; with a storage, its job runs where it lies."""
    return local(outside_name(path)) if STORED else outside_name(path)


def here(path):
    """Return a file of the run as programs find it: with a storage, the copy that a job gets."""
    if not STORED:
        return path
    return str(workflow.modifier.path_modifier.apply_default_storage(path))


def is_made(path):
    """Say whether a file of the run is there, or in the storage."""
    return exists(str(path)) if STORED else Path(path).is_file()


def recall(name, kind, find):
    """Return what `find` finds on the machine that plans the run, also in a job that sees none of its files."""
    return FINDINGS.recall(name, kind, find) if STORED else find()
