"""Files of runs with a storage (`--default-storage-provider`), whose jobs may see no file of this machine."""

from snakemake.io import flag, local
from snakemake.settings.types import SharedFSUsage

from fathom.planning.apart import Findings, check_stored, require_git, require_sent

# results lie in a storage; jobs get copies of what they read
STORED = workflow.storage_settings.default_storage_provider is not None


def send(path):
    """Have a file sent to jobs with the sources; Snakemake does so with what configures a run."""
    if workflow.is_main_process and str(path) not in map(str, workflow.configfiles):
        workflow.configfiles.append(str(path))


def require_code():
    """Stop if jobs elsewhere would lack this clone, which Snakemake asks Git for; a package is in their image."""
    sent = SharedFSUsage.SOURCES not in workflow.storage_settings.shared_fs_usage
    if workflow.is_main_process and sent and ROOT.is_relative_to(Path.cwd()):
        try:
            require_git(Path.cwd())
        except InputError as error:
            stop(error)


def ship(path):
    """Return a small file as an input that jobs have beside the code, not in the storage."""
    if not STORED:
        return outside(path)
    if workflow.is_main_process:
        try:
            require_sent(path, [Path.cwd(), ROOT, LIBRARY])
        except InputError as error:
            stop(error)
    place = Path(path).absolute()
    if place.is_relative_to(Path.cwd()) and not place.is_relative_to(LIBRARY):
        send(path)
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
